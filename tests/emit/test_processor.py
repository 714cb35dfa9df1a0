"""What the processor puts on spans, and what it knows of those that are open."""

import subprocess
import sys
import threading
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from analyzer.diagnosis import diagnose
from analyzer.session.model import Session
from critiqor_otel.emit.export_rules import ExportRules
from critiqor_otel.emit.fingerprints import Fingerprints
from critiqor_otel.emit.processor import CritiqorSpanProcessor
from critiqor_otel.emit.stamping_exporter import StampingExporter
from critiqor_otel.emit.watch import Alarm, Watch
from critiqor_otel.testing import MemorySink, traced

AGENT = {"gen_ai.operation.name": "invoke_agent"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}


def loop(provider: TracerProvider, times: int, **attributes: Any) -> None:
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("invoke_agent", attributes=AGENT):
        for number in range(times):
            given = {key: value(number) if callable(value) else value for key, value in attributes.items()}
            with tracer.start_as_current_span("execute_tool search", attributes={**TOOL, **given}):
                pass


def test_agent_spans_get_their_run_and_place() -> None:
    sink = MemorySink()
    loop(traced(sink, CritiqorSpanProcessor(run_id="run-1")), 2)

    stamps = [
        (span.name, span.attributes["critiqor.run_id"], span.attributes["critiqor.sequence"]) for span in sink.spans
    ]
    assert stamps == [
        ("execute_tool search", "run-1", 1),
        ("execute_tool search", "run-1", 2),
        ("invoke_agent", "run-1", 0),
    ]


def test_spans_of_any_convention_and_those_below_them_are_stamped() -> None:
    sink = MemorySink()
    provider = traced(sink, CritiqorSpanProcessor(run_id="run-1"))
    names = {"openinference.instrumentation.langchain": {}, "app": {"openinference.span.kind": "AGENT"}}
    for scope, attributes in names.items():
        with provider.get_tracer(scope).start_as_current_span("work", attributes=attributes):
            provider.get_tracer("http").start_span("GET /").end()

    assert [span.attributes.get("critiqor.run_id") for span in sink.spans] == ["run-1"] * 4


def test_traces_without_an_agent_are_left_alone() -> None:
    sink = MemorySink()
    provider = traced(sink, CritiqorSpanProcessor(run_id="run-1"))
    with provider.get_tracer("http").start_as_current_span("GET /"):
        provider.get_tracer("db").start_span("SELECT").end()

    assert [dict(span.attributes) for span in sink.spans] == [{}, {}]


def test_a_run_that_nobody_names_is_named_after_its_trace_and_joins_its_conversation() -> None:
    sink = MemorySink()
    provider = traced(sink, CritiqorSpanProcessor())
    tracer = provider.get_tracer("agent")
    for _ in range(2):
        with tracer.start_as_current_span("invoke_agent", attributes={**AGENT, "gen_ai.conversation.id": "talk"}):
            pass

    assert [span.attributes["critiqor.run_id"] for span in sink.spans] == [span.trace_id for span in sink.spans]
    assert [session.run_id for session in sink.sessions()] == ["talk"]


def test_open_spans_are_ended_as_unfinished() -> None:
    sink = MemorySink()
    processor = CritiqorSpanProcessor()
    provider = traced(sink, processor)
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("invoke_agent", attributes=AGENT):
        tracer.start_span("execute_tool search", attributes=TOOL)

        assert processor.end_open_spans() == 2

    (session,) = sink.sessions()
    assert [event.event_type for event in session.events] == ["agent_start", "tool_call"]
    assert {note.code for note in session.notes} == {"unended-span"}


def test_the_watch_calls_while_the_agent_runs() -> None:
    alarms: list[Alarm] = []
    provider = traced(MemorySink(), CritiqorSpanProcessor(run_id="run-1", on_failure=alarms.append))
    tracer = provider.get_tracer("agent")
    told: list[int] = []
    with tracer.start_as_current_span("invoke_agent", attributes=AGENT):
        for _ in range(5):
            attributes = {**TOOL, "gen_ai.tool.call.arguments": '{"q": 1}', "gen_ai.tool.call.result": "[]"}
            tracer.start_span("execute_tool search", attributes=attributes).end()
            told.append(len(alarms))

    assert told == [0, 0, 1, 1, 1]
    assert (alarms[0].kind, alarms[0].run_id, alarms[0].tool, alarms[0].count) == (
        "infinite_tool_loop",
        "run-1",
        "search",
        3,
    )


def test_progress_is_no_loop_to_the_watch() -> None:
    alarms: list[Alarm] = []
    provider = traced(MemorySink(), CritiqorSpanProcessor(on_failure=alarms.append))
    given = {"gen_ai.tool.call.arguments": '{"q": 1}', "gen_ai.tool.call.result": str}
    loop(provider, 5, **given)

    assert alarms == []


def test_the_watch_sees_failures_in_a_row_and_a_budget_that_is_spent() -> None:
    alarms: list[Alarm] = []
    watch = Watch(alarms.append, errors_in_a_row=2, token_budget=100)
    provider = traced(MemorySink(), CritiqorSpanProcessor(watch=watch))
    tracer = provider.get_tracer("agent")
    with tracer.start_as_current_span("invoke_agent", attributes=AGENT):
        for _ in range(3):
            tracer.start_span("execute_tool", attributes={**TOOL, "error.type": "timeout"}).end()
            usage = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 60}
            tracer.start_span("chat", attributes=usage).end()

    assert [alarm.kind for alarm in alarms] == ["repeated_errors", "token_budget"]


def test_a_callback_that_fails_does_not_reach_the_agent() -> None:
    def fail(_: Alarm) -> None:
        raise RuntimeError("no")

    loop(traced(MemorySink(), CritiqorSpanProcessor(on_failure=fail)), 5, **{"gen_ai.tool.call.arguments": "{}"})


def test_stamps_come_onto_the_exported_copy() -> None:
    inner = MemorySink()
    provider = traced(StampingExporter(inner), CritiqorSpanProcessor(run_id="run-1"))
    loop(provider, 2, **{"gen_ai.tool.call.arguments": '{"a": 1, "b": 2}', "gen_ai.tool.call.result": "found"})

    tools = [span for span in inner.spans if span.name.startswith("execute_tool")]
    assert [span.attributes["critiqor.event"] for span in inner.spans] == ["tool_call", "tool_call", "state_transition"]
    prints = {span.attributes["critiqor.tool.arguments.fingerprint"] for span in tools}
    assert len(prints) == 1
    assert "critiqor.tool.result.fingerprint" in tools[0].attributes


def test_content_can_stay_inside_and_loops_are_found_all_the_same() -> None:
    inner = MemorySink()
    provider = traced(StampingExporter(inner, ExportRules(keep_content=False)), CritiqorSpanProcessor(run_id="run-1"))
    loop(
        provider, 4, **{"gen_ai.tool.call.arguments": '{"q": "private"}', "gen_ai.tool.call.result": "nothing private"}
    )

    session: Session
    (session,) = inner.sessions()
    assert "private" not in repr(inner.spans)
    assert "infinite_tool_loop" in [cause.type for cause in diagnose(session).failure_causes]


def test_threads_count_one_row_of_places() -> None:
    sink = MemorySink()
    provider = traced(sink, CritiqorSpanProcessor(run_id="run-1"))
    tracer = provider.get_tracer("agent")
    root = tracer.start_span("invoke_agent", attributes=AGENT)
    below = trace.set_span_in_context(root)
    threads = [
        threading.Thread(target=lambda: [tracer.start_span("execute_tool", below).end() for _ in range(100)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    root.end()

    assert sorted(span.attributes["critiqor.sequence"] for span in sink.spans) == list(range(401))


def test_one_process_makes_equal_fingerprints_of_equal_values_and_another_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CRITIQOR_FINGERPRINT_KEY", raising=False)
    value = {"b": ["x"], "a": 1}
    script = f"from critiqor_otel.emit.fingerprints import Fingerprints; print(Fingerprints().of({value!r}))"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()

    assert Fingerprints().of(value) == Fingerprints().of({"a": 1, "b": ["x"]})
    assert Fingerprints().of(value) != other
    assert Fingerprints(b"key").of(value) == Fingerprints(b"key").of(value)
    assert len(set(Fingerprints().parts("word " * 10 + " ".join(f"number{n}" for n in range(200))))) == 64
