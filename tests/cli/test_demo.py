import subprocess
from pathlib import Path

from command import LOOP, Critiqor
from otlp_sink import Answer, Sink


def test_the_demo_tells_verdict_evidence_and_files(critiqor: Critiqor, tmp_path: Path) -> None:
    done = critiqor("demo", "--output", "demo")

    assert done.code == 0
    assert "infinite_tool_loop" in done.out
    assert done.out.count('{"query":') >= 4
    assert sorted(path.name for path in (tmp_path / "demo").rglob("*") if path.is_file()) == [
        "diagnosis.json",
        "receipt.json",
        "report.html",
        "session.json",
        "support_agent.otlp.jsonl",
    ]
    assert "demo/traces/support_agent.otlp.jsonl" in done.out


def test_the_next_command_that_the_demo_names_works(critiqor: Critiqor, tmp_path: Path) -> None:
    hint = critiqor("demo", "--output", "demo").out.rpartition("See it step by step: ")[2]

    done = subprocess.run(hint, shell=True, cwd=tmp_path, capture_output=True, check=False, timeout=60)  # noqa: S602
    assert (done.returncode, done.stdout[:1] != b"") == (0, True)


def test_the_demo_can_be_run_again(critiqor: Critiqor) -> None:
    assert critiqor("demo", "--output", "demo").out == critiqor("demo", "--output", "demo").out


def test_the_trace_of_the_demo_is_a_real_capture(critiqor: Critiqor, tmp_path: Path) -> None:
    critiqor("demo", "--output", "demo")

    assert (tmp_path / "demo" / "traces" / "support_agent.otlp.jsonl").read_bytes() == LOOP.read_bytes()


def test_the_demo_sends_its_run_and_verdict_to_a_jaeger_and_prints_the_link(critiqor: Critiqor) -> None:
    with Sink().running() as sink:
        done = critiqor("demo", "--output", "demo", "--jaeger", "http://jaeger:16686/", "--endpoint", sink.url)

    (trace_id,) = {span.trace_id for span in sink.spans}
    assert done.code == 0
    assert f"See it in Jaeger:    http://jaeger:16686/trace/{trace_id}\n" in done.out
    assert {"invoke_agent support_agent", "critiqor.diagnosis"} <= {span.name for span in sink.spans}


def test_a_jaeger_that_is_not_there_costs_the_link_alone(critiqor: Critiqor) -> None:
    with Sink(rule=lambda _: Answer(404)).running() as sink:
        done = critiqor("demo", "--output", "demo", "--jaeger", "--endpoint", sink.url)

    assert done.code == 2
    assert "infinite_tool_loop" in done.out
    assert "See it in Jaeger" not in done.out
    assert "did not take the run: is Jaeger there?" in done.err


def test_an_endpoint_without_a_jaeger_is_refused(critiqor: Critiqor) -> None:
    done = critiqor("demo", "--output", "demo", "--endpoint", "http://localhost:4318")

    assert done.code == 2
    assert "--endpoint goes with --jaeger." in done.err
