import subprocess
from pathlib import Path

from command import LOOP, Critiqor


def test_the_demo_tells_verdict_evidence_and_files(critiqor: Critiqor, tmp_path: Path) -> None:
    done = critiqor("demo", "--output", "demo")

    assert done.code == 0
    assert "infinite_tool_loop" in done.out
    assert done.out.count('{"query":') >= 4
    assert sorted(path.name for path in (tmp_path / "demo").rglob("*") if path.is_file()) == [
        "diagnosis.json",
        "receipt.json",
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
