"""Verdicts come back into the trace they are about, through the Collector, and nobody takes them for evidence."""

import json
import os
import subprocess
import sys
from pathlib import Path

from command import run_command
from fanned_out import EVER, Held, sealed
from jaeger_trees import lines_of
from real_programs import CONFIG, Collector, Jaeger, Serving, wait_until

SEARCHES = 4
CALLS = [*(line for _ in range(SEARCHES) for line in ("  chat script-1", "  execute_tool search")), "  chat script-1"]


def test_the_verdict_stands_in_jaeger_beside_the_run_and_in_no_session(
    jaeger: Jaeger, collector_binary: Path, tmp_path: Path
) -> None:
    server = Serving(tmp_path / "runs", "--after-root", "0.1", "--annotate", f"http://127.0.0.1:{jaeger.otlp_http}")
    collector = Collector(
        collector_binary,
        CONFIG,
        environment={
            "JAEGER_OTLP_ENDPOINT": f"127.0.0.1:{jaeger.otlp}",
            "CRITIQOR_OTLP_ENDPOINT": server.otlp,
            "CRITIQOR_TRACES": str(tmp_path / "traces"),
        },
    )
    variables = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint, "OTEL_SERVICE_NAME": "sdk-agent"}
    subprocess.run([sys.executable, "-m", "critiqor_otel.cli.demo_agent"], env=variables, check=True, timeout=60)
    wait_until(lambda: jaeger.find("sdk-agent", **{"critiqor.annotation": "failure"}))
    (trace,) = jaeger.find("sdk-agent")
    once = sorted(span["spanID"] for span in trace["spans"])
    before = Held(f"{jaeger.address}?{EVER}").sessions

    # The same verdict again, and this time by the Collector, which hands it to Jaeger, to the receiver and into files.
    done = run_command(tmp_path, "annotate", tmp_path / "runs", "--endpoint", collector.endpoint)
    assert done.code == 0, done.err
    assert collector.stop() == 0
    server.settle()

    (verdict,) = (json.loads(file.read_bytes()) for file in (tmp_path / "runs").glob("*/diagnosis.json"))
    (trace,) = jaeger.find("sdk-agent", **{"critiqor.readiness": verdict["readiness_level"]})
    lines = [line.removesuffix("  !") for line in lines_of(trace)]
    failures = sorted(f"    critiqor.failure {cause['type']}" for cause in verdict["failure_causes"])
    assert "    critiqor.failure infinite_tool_loop" in failures
    assert lines[:2] == ["invoke_agent support", "  critiqor.diagnosis"]
    assert sorted(lines[2 : 2 + len(failures)]) == failures
    assert lines[2 + len(failures) :] == CALLS
    assert sorted(span["spanID"] for span in trace["spans"]) == once
    (session,) = sealed(tmp_path / "runs").values()  # no continuation
    assert list(Held(tmp_path / "traces").sessions.values()) == [session]
    assert Held(f"{jaeger.address}?{EVER}").sessions == before


def test_a_jaeger_is_diagnosed_and_annotated_by_its_address(jaeger: Jaeger, tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{jaeger.otlp_http}"
    demo = run_command(tmp_path, "demo", "--jaeger", f"http://127.0.0.1:{jaeger.query}", "--endpoint", endpoint)
    address = f"{jaeger.address}?service=support-agent&{EVER}"

    verdict = run_command(tmp_path, "diagnose", address, "--format", "jsonl")
    again = run_command(tmp_path, "annotate", address, "--endpoint", endpoint)
    unknown = run_command(tmp_path, "diagnose", f"{jaeger.address}?service=nix")
    wrong_port = run_command(tmp_path, "diagnose", f"jaeger://127.0.0.1:{jaeger.otlp_http}")

    (link,) = [line for line in demo.out.splitlines() if "/trace/" in line]
    (trace,) = jaeger.get(f"/api/traces/{link.rpartition('/')[2]}")
    assert demo.code == 0
    assert (verdict.code, '"readiness_level":"unsafe_for_production"' in verdict.out.replace(": ", ":")) == (1, True)
    assert again.code == 0
    assert len(lines_of(trace)) == 14
    assert "services that are known: support-agent" in unknown.err
    assert "this is not the query port of a Jaeger" in wrong_port.err


def test_more_traces_than_a_search_returns_are_all_read(jaeger: Jaeger, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    for number in range(350):
        file = folder / f"run-{number}" / "session.json"
        file.parent.mkdir(parents=True)
        event = {"event": "decision", "timestamp": f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z"}
        head = (
            '{"schema_version": "critiqor.session.v1", "run_id": "run-%d", "agent": {"name": "many"}, "events": [%s]}'
        )
        file.write_text(head % (number, str(event).replace("'", '"')))
    sent = run_command(tmp_path, "replay", folder, "--endpoint", f"http://127.0.0.1:{jaeger.otlp_http}")
    assert sent.code == 0, sent.err

    assert len(Held(f"{jaeger.address}?service=many&{EVER}").sessions) == 350
