"""What is emitted is named as the OTel GenAI conventions name it, or stands under `critiqor.`."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from drawn_sessions import SESSIONS
from hypothesis import given
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from analyzer.session.codec import read_session
from analyzer.session.model import Event, Session
from critiqor_otel.emit.recorder import EvidenceRecorder, monitor
from critiqor_otel.emit.recording_options import RecordingOptions
from critiqor_otel.emit.session_spans import spans_of
from critiqor_otel.span import Span, SpanKind, StatusCode
from critiqor_otel.testing import MemorySink, traced

# open-telemetry/semantic-conventions-genai 0.1 (model/gen-ai/registry.yaml), and the general conventions.
NAMES = frozenset(
    {
        *(f"gen_ai.agent.{name}" for name in ("id", "name", "description", "version")),
        *(f"gen_ai.conversation.{name}" for name in ("id", "compacted")),
        *(f"gen_ai.evaluation.{name}" for name in ("name", "score.value", "score.label", "explanation")),
        *(f"gen_ai.memory.{name}" for name in ("store.id", "record.id", "record.count", "query.text", "records")),
        *(f"gen_ai.request.{name}" for name in ("model", "max_tokens", "temperature", "top_p", "stop_sequences")),
        *(f"gen_ai.response.{name}" for name in ("id", "model", "finish_reasons")),
        *(f"gen_ai.retrieval.{name}" for name in ("query.text", "documents")),
        *(f"gen_ai.skill.{name}" for name in ("name", "description", "source.uri", "resource.name")),
        *(f"gen_ai.tool.{name}" for name in ("name", "type", "description", "definitions")),
        *(f"gen_ai.tool.call.{name}" for name in ("id", "arguments", "result")),
        *(f"gen_ai.usage.{name}" for name in ("input_tokens", "output_tokens", "reasoning.output_tokens")),
        *(f"gen_ai.usage.{name}.input_tokens" for name in ("cache_read", "cache_creation")),
        *("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.output.type", "gen_ai.data_source.id"),
        *("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"),
        *("error.type", "exception.type", "exception.message", "exception.stacktrace", "exception.escaped"),
        *("process.command_line", "process.exit.code", "process.pid"),
    }
)
OPERATIONS = frozenset(
    {
        *("chat", "execute_tool", "invoke_agent", "retrieval"),
        *("search_memory", "create_memory", "update_memory", "upsert_memory", "delete_memory"),
    }
)
CASES = sorted((Path(__file__).parents[1] / "cases" / "critiqor-v1").glob("*.session.json"))


def check(spans: Iterable[Span]) -> None:
    for span in spans:
        attributes = {*span.attributes, *(key for event in span.events for key in event.attributes)}
        assert {key for key in attributes if key not in NAMES and not key.startswith("critiqor.")} == set()
        operation = span.attributes.get("gen_ai.operation.name")
        assert operation is None or operation in OPERATIONS
        assert span.kind == (SpanKind.CLIENT if operation == "chat" else SpanKind.INTERNAL)
        if operation in {"chat", "execute_tool", "invoke_agent"}:
            assert span.name.startswith(operation)
        assert (span.status is StatusCode.ERROR) == ("error.type" in span.attributes)


@given(session=SESSIONS)
def test_every_name_that_a_replay_writes_is_of_the_conventions(session: Session) -> None:
    check(spans_of(session))


def test_every_name_that_a_recorder_writes_is_of_the_conventions() -> None:
    sink = MemorySink()
    options = RecordingOptions(tracer_provider=traced(sink), capture_content=True)
    with monitor("hello", agent="helper", options=options) as recorder:
        everything(recorder)

    check(sink.spans)


def everything(recorder: EvidenceRecorder) -> None:
    recorder.record_tool_call("search", {"q": 1}, call_id="c")
    recorder.record_tool_output("search", "", call_id="c", error="boom")
    recorder.record_llm_call("gpt", {"prompt_tokens": 3, "completion_tokens": 4})
    for operation in ("search", "get", "create", "upsert", "delete"):
        recorder.record_memory(operation, query="q", store="s", record_count=1, outcome="hit")
    recorder.record_retry("search", attempt=2)
    recorder.record_context(used=1, window=2, action="compaction")
    recorder.record_skill("pdf", resource="a.md")
    recorder.record_decision("why")
    recorder.record_error("timeout", timeout=3)
    recorder.record_event("process_start", command=["agent"], pid=1)
    recorder.record_event("evaluation", name="n", score=0.5, label="good")


def test_a_run_has_the_spans_of_the_table() -> None:
    def event(number: int, name: str, **fields: object) -> dict[str, object]:
        return {"event_type": name, "timestamp": f"2026-01-01T00:00:0{number}Z", **fields}

    events = [
        event(0, "agent_start"),
        event(1, "turn_start"),
        event(2, "before_provider_request", payload={"model": "gpt", "messages": [{"role": "user", "text": "hi"}]}),
        event(3, "after_provider_response", payload={"model": "gpt-1", "usage": {"input_tokens": 3, "total": 5}}),
        event(4, "tool_call", tool_name="search", tool_call_id="c", payload={"input": {"q": 1}}),
        event(5, "tool_result", tool_name="search", tool_call_id="c", status="error", error="boom"),
        event(6, "memory_search", payload={"query": "who"}, status="ok"),
        event(7, "turn_end"),
        event(8, "agent_end", status="ok"),
    ]
    session = read_session(json.dumps({"run_id": "r", "agent": {"name": "a"}, "events": events}).encode())

    spans = {span.name: span for span in spans_of(session)}

    assert sorted(spans) == ["chat gpt", "execute_tool search", "invoke_agent a", "search_memory", "turn 1"]
    tool, chat, turn, root = (spans[name] for name in ("execute_tool search", "chat gpt", "turn 1", "invoke_agent a"))
    assert tool.parent_span_id == chat.parent_span_id == turn.span_id
    assert (turn.parent_span_id, root.parent_span_id) == (root.span_id, None)
    assert (tool.end_ns - tool.start_ns, root.end_ns - root.start_ns) == (10**9, 8 * 10**9)
    assert (tool.status, tool.status_message, tool.attributes["error.type"]) == (StatusCode.ERROR, "boom", "_OTHER")
    assert tool.attributes["gen_ai.tool.call.arguments"] == '{"q":1}'
    assert (chat.attributes["gen_ai.request.model"], chat.attributes["gen_ai.response.model"]) == ("gpt", "gpt-1")
    assert chat.attributes["gen_ai.usage.input_tokens"] == 3
    assert '"content":"hi"' in str(chat.attributes["gen_ai.input.messages"])


def test_a_run_that_carries_on_another_points_to_it() -> None:
    first, second = Session(run_id="a"), Session(run_id="a~2", continues="a")

    (link,) = spans_of(second)[-1].links
    (root,) = spans_of(first)
    assert (link.trace_id, link.span_id) == (root.trace_id, root.span_id)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_recorded_cases_are_named_by_the_conventions(path: Path) -> None:
    check(spans_of(read_session(path.read_bytes())))


def test_nothing_of_a_session_is_lost_on_a_span_that_no_convention_names() -> None:
    odd = Event(event_id="e", event="something_new", event_type="something_new", payload={"x": 1})
    (root,) = spans_of(Session(run_id="r", events=(odd,)))

    assert [event.name for event in root.events] == ["something_new"]


def test_a_provider_that_samples_nothing_records_all_the_same() -> None:
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    with monitor(options=RecordingOptions(tracer_provider=provider)) as recorder:
        everything(recorder)

    assert len(recorder.trace) > 10
