"""An agent in a process of its own: what is recorded of it, and what it inherits."""

import json
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider

from critiqor_otel.emit.process_monitor import ProcessOutcome, monitor_process
from critiqor_otel.emit.recorder import monitor
from critiqor_otel.emit.recording_options import RecordingOptions


def run(script: str, timeout: float | None = 60) -> ProcessOutcome:
    return monitor_process([sys.executable, "-u", "-c", script], timeout=timeout)


def told(outcome: ProcessOutcome) -> list[str]:
    return [event.event for event in outcome.recorder.session().events]


def test_output_is_recorded_line_by_line_and_passed_through(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    outcome = run("import sys; print('one'); print(); print('two', end=''); print('oops', file=sys.stderr)")

    texts = [
        (event.payload["stream"], event.payload["text"])
        for event in outcome.recorder.session().events
        if event.event == "process_output"
    ]
    assert sorted(texts) == [("stderr", "oops"), ("stdout", ""), ("stdout", "one"), ("stdout", "two")]
    assert [text for stream, text in texts if stream == "stdout"] == ["one", "", "two"]
    assert capfdbinary.readouterr() == (b"one\n\ntwo", b"oops\n")


def test_start_and_end_are_recorded() -> None:
    outcome = run("pass")

    start, end = (outcome.recorder.session().events[place] for place in (1, 2))
    assert (start.event, start.payload["command"][0]) == ("process_start", sys.executable)
    assert isinstance(start.payload["pid"], int)
    assert (end.event, end.payload["exit_code"], outcome.exit_code) == ("process_end", 0, 0)
    assert end.payload["latency"] == pytest.approx(outcome.latency)


def test_a_line_that_is_an_event_becomes_that_event() -> None:
    lines = [
        {"event": "tool_call", "tool": "search", "args": {"q": "a"}},
        {"event_type": "tool_result", "tool_name": "search", "payload": {"result": "found"}},
        {"type": "token_usage", "usage": {"total": 12}},
        {"event": "something_new", "x": 1},
        {"no": "event"},
    ]
    outcome = run(f"import json\nfor line in {lines!r}: print(json.dumps(line))")

    events = outcome.recorder.session().events
    assert told(outcome)[2:-2] == ["tool_call", "tool_output", "token_usage", "something_new", "process_output"]
    assert events[2].extra == {"tool": "search", "args": {"q": "a"}}
    evidence = outcome.recorder.finish()
    assert [(call.tool, dict(call.args)) for call in evidence.tool_calls] == [("search", {"q": "a"})]
    assert [output.output for output in evidence.tool_outputs] == ["found"]
    assert evidence.metrics.token_usage == {"total": 12}


def test_a_bad_exit_is_an_error_before_the_end() -> None:
    outcome = run("raise SystemExit(3)")

    assert outcome.exit_code == 3
    assert told(outcome)[-3:] == ["error_event", "process_end", "state_transition"]
    assert outcome.recorder.session().events[-3].payload == {"error_type": "process_exit", "exit_code": 3}
    assert outcome.recorder.errors == ["process_exit"]


def test_a_process_that_takes_too_long_is_ended_and_loses_nothing() -> None:
    outcome = run("import sys, time; print('before'); print('half', end=''); time.sleep(600)", timeout=2)

    assert (outcome.exit_code, outcome.timed_out) == (None, True)
    texts = [event.payload["text"] for event in outcome.recorder.session().events if event.event == "process_output"]
    assert texts == ["before", "half"]
    assert told(outcome)[-3:] == ["error_event", "process_end", "state_transition"]


def test_the_children_of_a_process_that_takes_too_long_end_with_it(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    child = f"import time; time.sleep(6); open({str(alive)!r}, 'w').close()"
    script = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(600)"

    outcome = run(script, timeout=1)

    assert outcome.timed_out
    assert outcome.latency < 6
    assert not alive.exists()


def test_a_command_that_is_not_there_is_told() -> None:
    outcome = monitor_process(["no-such-command-at-all"])

    assert outcome.exit_code == 127
    assert [event.event for event in outcome.recorder.session().events[1:4]] == [
        "process_start",
        "error_event",
        "process_end",
    ]


def test_the_child_inherits_run_and_trace(provider: TracerProvider) -> None:
    script = (
        "import json, os; print(json.dumps({'event': 'env', **{k: os.environ.get(k) for k in"
        " ('TRACEPARENT', 'CRITIQOR_RUN_ID', 'OTEL_RESOURCE_ATTRIBUTES')}}))"
    )
    with monitor(options=RecordingOptions(tracer_provider=provider, run_id="run 7")) as recorder:
        monitor_process([sys.executable, "-c", script])

    (env,) = [event.extra for event in recorder.session().events if event.event == "env"]
    assert env["CRITIQOR_RUN_ID"] == "run 7"
    assert "critiqor.run_id=run%207" in env["OTEL_RESOURCE_ATTRIBUTES"]
    assert env["TRACEPARENT"].startswith("00-")


def test_a_command_can_be_one_text() -> None:
    outcome = monitor_process(f"{sys.executable} -c 'print(42)'")

    texts = [event.payload["text"] for event in outcome.recorder.session().events if event.event == "process_output"]
    assert texts == ["42"]


def test_a_line_without_end_is_told_in_pieces() -> None:
    outcome = run("print('x' * 3_000_000, end='')")

    texts = [event.payload["text"] for event in outcome.recorder.session().events if event.event == "process_output"]
    assert sum(map(len, texts)) == 3_000_000
    assert json.dumps(texts)[2:5] == "xxx"
