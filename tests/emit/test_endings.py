"""However a process ends: what must arrive arrives."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from otlp_sink import Sink

from analyzer.session.codec import read_session

SET_UP = """
import os, sys, signal, threading
from concurrent.futures import ThreadPoolExecutor
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from critiqor_otel import CritiqorSpanProcessor, OTLPSpanExporter, SessionExporter, SpanBatcher
provider = TracerProvider()
trace.set_tracer_provider(provider)
processor = CritiqorSpanProcessor(run_id="run-1")
provider.add_span_processor(processor)
provider.add_span_processor(SpanBatcher(OTLPSpanExporter()))
provider.add_span_processor(SpanBatcher(SessionExporter("runs")))
tracer = trace.get_tracer("agent")
AGENT = {"gen_ai.operation.name": "invoke_agent"}
def agent(): return tracer.start_as_current_span("invoke_agent", attributes=AGENT)
def tool(name): return tracer.start_as_current_span(f"execute_tool {name}", attributes={"gen_ai.tool.name": name})
"""


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink().running() as running:
        yield running


class Child:
    """A program that is observed, in a process of its own."""

    def __init__(self, folder: Path, sink: Sink, program: str, *, before: str = "") -> None:
        bare = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "CRITIQOR_"))}
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", before + SET_UP + program],
            cwd=folder,
            env={**bare, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": sink.url},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ready(self) -> None:
        """Wait until the program says that it has come so far."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def end(self) -> int:
        _, self.errors = self.process.communicate(timeout=60)
        return self.process.returncode

    def session_types(self) -> list[str]:
        (path,) = self.folder.glob("runs/run-1/session.json")
        return [event.event_type for event in read_session(path.read_bytes()).events]


def names(sink: Sink) -> list[str]:
    return sorted(span.name for span in sink.spans)


def unfinished(sink: Sink) -> list[str]:
    return sorted(span.name for span in sink.spans if "critiqor.unfinished" in span.attributes)


def test_a_normal_end(sink: Sink, tmp_path: Path) -> None:
    child = Child(tmp_path, sink, "with agent():\n    with tool('a'): pass")

    assert child.end() == 0
    assert names(sink) == ["execute_tool a", "invoke_agent"]
    assert unfinished(sink) == []
    assert child.session_types() == ["agent_start", "tool_call", "tool_result", "agent_end"]


def test_an_exception(sink: Sink, tmp_path: Path) -> None:
    child = Child(tmp_path, sink, "with agent():\n    with tool('a'): raise ValueError('boom')")

    assert child.end() == 1
    assert names(sink) == ["execute_tool a", "invoke_agent"]
    assert all(span.status == 2 for span in sink.spans)


def test_spans_that_are_open_at_the_end(sink: Sink, tmp_path: Path) -> None:
    child = Child(
        tmp_path,
        sink,
        "with_agent = agent(); with_agent.__enter__(); with_tool = tool('a'); with_tool.__enter__(); sys.exit(3)",
    )

    assert child.end() == 3
    assert unfinished(sink) == ["execute_tool a", "invoke_agent"]
    assert child.session_types() == ["agent_start", "tool_call"]


def test_sigterm(sink: Sink, tmp_path: Path) -> None:
    program = "with agent():\n    with tool('done'): pass\n    with tool('a'):\n        print('ready'); signal.pause()"
    # As every program begins; what measures coverage takes the signal before it.
    child = Child(tmp_path, sink, program, before="import signal; signal.signal(signal.SIGTERM, signal.SIG_DFL)\n")
    child.ready()
    child.process.send_signal(signal.SIGTERM)

    assert child.end() == -signal.SIGTERM
    assert names(sink) == ["execute_tool a", "execute_tool done", "invoke_agent"]
    assert unfinished(sink) == ["execute_tool a", "invoke_agent"]
    assert child.session_types() == ["agent_start", "tool_call", "tool_result", "tool_call"]


def test_sigterm_in_a_program_with_a_handler_of_its_own(sink: Sink, tmp_path: Path) -> None:
    program = (
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "with agent():\n    with tool('a'):\n        print('ready'); signal.pause()"
    )
    child = Child(tmp_path, sink, program)
    child.ready()
    child.process.send_signal(signal.SIGTERM)

    assert child.end() == 7
    assert names(sink) == ["execute_tool a", "invoke_agent"]


def test_a_fork(sink: Sink, tmp_path: Path) -> None:
    program = (
        "with agent():\n"
        "    with tool('before'): pass\n"
        "pid = os.fork()\n"
        "with tracer.start_as_current_span('child' if pid == 0 else 'parent', attributes=AGENT): pass\n"
        "if pid: os.waitpid(pid, 0)\n"
    )
    child = Child(tmp_path, sink, program)

    assert child.end() == 0, child.errors
    assert names(sink) == ["child", "execute_tool before", "invoke_agent", "parent"]


def test_a_worker_of_multiprocessing(sink: Sink, tmp_path: Path) -> None:
    program = (
        "import multiprocessing\n"
        "def work():\n    with agent():\n        with tool('work'): pass\n"
        "process = multiprocessing.get_context('fork').Process(target=work)\n"
        "process.start(); process.join()\n"
    )
    # Who comes first asks to be told of the other's end.
    child = Child(tmp_path, sink, program, before="import multiprocessing.util")

    assert child.end() == 0, child.errors
    assert names(sink) == ["execute_tool work", "invoke_agent"]


def test_a_pool_that_is_still_at_work(sink: Sink, tmp_path: Path) -> None:
    program = (
        "pool = ThreadPoolExecutor(2)\n"
        "go = threading.Event()\n"
        "def work(n):\n    with tool(f'w{n}'): go.wait(0.3)\n"
        "with agent():\n    below = trace.get_current_span()\n"
        "    context = trace.set_span_in_context(below)\n"
        "    for n in range(6): pool.submit(work, n)\n"
    )
    child = Child(tmp_path, sink, program)

    assert child.end() == 0, child.errors
    assert [name for name in names(sink) if "w" in name] == [f"execute_tool w{n}" for n in range(6)]


def test_a_daemon_thread_in_the_middle_of_its_work(sink: Sink, tmp_path: Path) -> None:
    program = (
        "started = threading.Event()\n"
        "def work():\n    with tool('slow'):\n        started.set(); threading.Event().wait(600)\n"
        "threading.Thread(target=work, daemon=True).start(); started.wait(10)\n"
    )
    child = Child(tmp_path, sink, program)

    assert child.end() == 0, child.errors
    assert unfinished(sink) == ["execute_tool slow"]


def test_an_end_without_any_warning_after_a_flush(sink: Sink, tmp_path: Path) -> None:
    program = (
        "with_agent = agent(); with_agent.__enter__()\nwith tool('a'): pass\n"
        "processor.end_open_spans(); provider.force_flush(); os._exit(0)"
    )
    child = Child(tmp_path, sink, program)

    assert child.end() == 0
    assert names(sink) == ["execute_tool a", "invoke_agent"]
