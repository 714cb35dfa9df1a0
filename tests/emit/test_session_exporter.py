"""Session files written in the agent's own process."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from trips import without_spans

from analyzer.session.codec import read_session
from analyzer.session.model import Session
from critiqor_otel.emit.batching import BatchOptions, SpanBatcher
from critiqor_otel.emit.export_rules import ExportRules
from critiqor_otel.emit.recorder import monitor
from critiqor_otel.emit.recording_options import RecordingOptions
from critiqor_otel.emit.session_exporter import SessionExporter
from critiqor_otel.testing import ToldClock

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}


@pytest.fixture
def clock() -> ToldClock:
    return ToldClock()


@pytest.fixture
def exporter(tmp_path: Path, clock: ToldClock) -> Iterator[SessionExporter]:
    made = SessionExporter(tmp_path / "runs", now_ns=clock)
    yield made
    made.shutdown()


@pytest.fixture
def provider(exporter: SessionExporter) -> TracerProvider:
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


def written(folder: Path) -> list[Session]:
    return [read_session(path.read_bytes()) for path in sorted(folder.glob("runs/*/session.json"))]


def run_agent(provider: TracerProvider, run_id: str, **attributes: Any) -> None:
    tracer = provider.get_tracer("agent")
    with (
        tracer.start_as_current_span("invoke_agent helper", attributes={**AGENT, "critiqor.run_id": run_id}),
        tracer.start_as_current_span("execute_tool search", attributes={**TOOL, **attributes}),
    ):
        pass


def test_a_run_is_written_when_it_is_over(
    provider: TracerProvider, exporter: SessionExporter, clock: ToldClock, tmp_path: Path
) -> None:
    run_agent(provider, "run-1")
    assert written(tmp_path) == []

    clock.advance(3)
    exporter.export([])

    (session,) = written(tmp_path)
    assert session.run_id == "run-1"
    assert [event.event for event in session.events] == [
        *("state_transition", "tool_call", "tool_output", "state_transition"),
    ]
    assert not os.access(tmp_path / "runs" / "run-1" / "session.json", os.W_OK) or os.geteuid() == 0


def test_runs_are_kept_apart(provider: TracerProvider, exporter: SessionExporter, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        run_agent(provider, name)

    exporter.force_flush()

    assert [session.run_id for session in written(tmp_path)] == ["a", "b", "c"]


def test_a_flush_leaves_a_run_open_that_goes_on(
    provider: TracerProvider, exporter: SessionExporter, tmp_path: Path
) -> None:
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("invoke_agent helper", attributes={**AGENT, "critiqor.run_id": "long"}):
        with tracer.start_as_current_span("execute_tool search", attributes=TOOL):
            pass
        exporter.force_flush()
        assert written(tmp_path) == []

    exporter.force_flush()
    (session,) = written(tmp_path)
    assert len(session.events) == 4


def test_the_end_writes_what_is_open(provider: TracerProvider, exporter: SessionExporter, tmp_path: Path) -> None:
    run_agent(provider, "a")

    exporter.shutdown()

    assert [session.run_id for session in written(tmp_path)] == ["a"]


def test_a_recorded_run_is_written_with_content_that_its_spans_do_not_carry(
    provider: TracerProvider, exporter: SessionExporter, tmp_path: Path
) -> None:
    options = RecordingOptions(tracer_provider=provider, capture_content=False, run_id="run-1")
    with monitor("a private question", agent="helper", options=options) as recorder:
        recorder.wrap_tool("echo", lambda text: f"answer to {text}")("it")
        recorder.record_decision("because")
    exporter.shutdown()

    (session,) = written(tmp_path)
    assert session.events[0].payload["input"] == "a private question"
    assert session.events[2].payload["result"] == "answer to it"
    assert without_spans(session).replace(b"\n", b"").count(b"because") == 1


def test_secrets_stand_in_no_file(provider: TracerProvider, exporter: SessionExporter, tmp_path: Path) -> None:
    run_agent(provider, "a", **{"gen_ai.tool.call.arguments": '{"password": "hunter2"}', "url": "http://u:hunter2@h/"})
    with monitor(options=RecordingOptions(tracer_provider=provider, run_id="b")) as recorder:
        recorder.record_tool_call("login", {"password": "hunter2"})
    tracer = provider.get_tracer("agent", attributes={"api_key": "hunter2"})
    tracer.start_span("invoke_agent helper", attributes={**AGENT, "critiqor.run_id": "c"}).end()
    exporter.shutdown()

    told = b"".join(path.read_bytes() for path in (tmp_path / "runs").rglob("*.json"))
    assert len(written(tmp_path)) == 3
    assert b"hunter2" not in told


def test_a_folder_that_cannot_be_written_costs_the_session_and_is_counted(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    exporter = SessionExporter(tmp_path / "runs", rules=ExportRules(redaction=None))
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    run_agent(provider, "a")

    exporter.shutdown()

    assert exporter.lost == 2


@pytest.mark.parametrize("helper_after", [None, 0])
def test_what_a_full_queue_turned_away_is_told_in_the_log_and_in_the_next_run(
    helper_after: int | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = SessionExporter(tmp_path / "runs", helper_after=helper_after)
    provider = TracerProvider(shutdown_on_exit=False)
    batcher = SpanBatcher(exporter, BatchOptions(queue=10))
    provider.add_span_processor(batcher)
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("invoke_agent helper", attributes=AGENT):
        for _ in range(5000):
            tracer.start_span("execute_tool search", attributes=TOOL).end()
        provider.force_flush()
        tracer.start_span("execute_tool search", attributes=TOOL).end()
    provider.shutdown()
    tracer.start_span("execute_tool search", attributes=TOOL).end()

    (session,) = written(tmp_path)
    logged = [int(record.args[0]) for record in caplog.records if record.args]
    assert "lost-spans" in {note.code for note in session.notes}
    assert sum(logged) == exporter.lost - 1 > 0
    assert caplog.messages[-1] == "Spans that end after the shutdown are lost"


def test_the_folder_can_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CRITIQOR_RUNS_DIR", str(tmp_path / "runs"))
    exporter = SessionExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    run_agent(provider, "a")
    provider.shutdown()

    assert [session.run_id for session in written(tmp_path)] == ["a"]


def many_runs(provider: TracerProvider, count: int) -> None:
    for number in range(count):
        run_agent(provider, f"run-{number:03}")


def test_many_spans_are_written_by_a_helper(tmp_path: Path) -> None:
    exporter = SessionExporter(tmp_path / "runs", helper_after=20)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    many_runs(provider, 50)

    assert exporter.force_flush()
    assert len(written(tmp_path)) == 50

    with monitor("a private question", options=RecordingOptions(tracer_provider=provider, run_id="x")) as recorder:
        recorder.record_tool_call("login", {"password": "hunter2", "q": "private"})
    provider.shutdown()

    sessions = {session.run_id: session for session in written(tmp_path)}
    assert len(sessions) == 51
    assert [event.event for event in sessions["run-000"].events] == [
        event.event for event in sessions["run-049"].events
    ]
    assert sessions["x"].events[0].payload["input"] == "a private question"
    assert sessions["x"].events[1].payload["input"] == {"password": "[REDACTED]", "q": "private"}


def test_a_helper_that_is_gone_is_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    exporter = SessionExporter(tmp_path / "runs", helper_after=3)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    many_runs(provider, 4)
    exporter.force_flush()
    helper: Any = exporter._helper  # noqa: SLF001  # the process that the test ends
    helper._process.kill()  # noqa: SLF001
    helper._process.wait()  # noqa: SLF001

    many_runs(provider, 8)
    provider.shutdown()

    assert exporter.lost > 0
    assert "by the agent itself" in caplog.text
    assert len(written(tmp_path)) >= 8


def test_a_killed_agent_leaves_its_sessions(tmp_path: Path) -> None:
    program = """
import os, signal
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from critiqor_otel import SessionExporter
exporter = SessionExporter("runs", helper_after=0)
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = provider.get_tracer("agent")
attributes = {"gen_ai.operation.name": "invoke_agent", "critiqor.run_id": "killed"}
with tracer.start_as_current_span("invoke_agent", attributes=attributes):
    tracer.start_span("execute_tool search", attributes={"gen_ai.tool.name": "search"}).end()
    print(exporter._helper._process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == -signal.SIGKILL
    wait_for_end(int(done.stdout))
    (session,) = written(tmp_path)
    assert [event.event for event in session.events] == ["tool_call", "tool_output"]


def wait_for_end(pid: int) -> None:
    """Wait until a process that is not our child is gone."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        threading.Event().wait(0.05)
    raise AssertionError(f"process {pid} goes on")
