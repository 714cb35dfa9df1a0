"""Who used which output is found without content too, by the fingerprints that stand in its place."""

import json
from typing import Any

import msgspec
from flat_sessions import session_of
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Tracer

from analyzer.profile import Profile
from analyzer.session.model import Session
from analyzer.timeline.index import build_timeline
from critiqor_otel.emit.content import Content
from critiqor_otel.emit.export_rules import ExportRules
from critiqor_otel.emit.fingerprints import Fingerprints
from critiqor_otel.emit.stamping_exporter import StampingExporter
from critiqor_otel.testing import MemorySink, traced

SESSION = session_of(
    {"event_type": "agent_start", "payload": {"agent": "helper", "input": "Close the account of Anna Berg"}},
    {"event": "tool_call", "tool_name": "find", "tool_call_id": "c1", "payload": {"input": {"name": "Anna Berg"}}},
    {
        "event": "tool_output",
        "tool_name": "find",
        "tool_call_id": "c1",
        "payload": {"result": {"id": "usr-48213", "city": "Ulm", "note": "prefers calls before lunch on Mondays"}},
    },
    {"event": "tool_call", "tool_name": "close", "tool_call_id": "c2", "payload": {"input": {"user": "usr-48213"}}},
    {"event": "tool_output", "tool_name": "close", "tool_call_id": "c2", "payload": {"result": {"ticket": "T-7751"}}},
    {
        "event": "token_usage",
        "event_type": "after_provider_response",
        "payload": {"messages": [{"role": "assistant", "text": "Done, the ticket is T-7751."}]},
    },
)


def withheld(session: Session) -> Session:
    content = Content(capture=False, redaction=None, fingerprints=Fingerprints(b"key"))
    return msgspec.structs.replace(session, events=tuple(map(content.event, session.events)))


def test_the_same_uses_are_found() -> None:
    with_content, without = (
        {(use.source, use.target, use.rule) for use in build_timeline(session, Profile.STANDARD).uses}
        for session in (SESSION, withheld(SESSION))
    )

    assert with_content == {(2, 3, "value-in-arguments"), (4, 5, "value-in-answer")}
    assert without == with_content


def test_nothing_that_was_said_stands_among_the_values() -> None:
    values = " ".join(value for use in build_timeline(withheld(SESSION), Profile.STANDARD).uses for value in use.values)

    assert "48213" not in values
    assert "7751" not in values


def test_the_same_uses_are_found_in_spans_of_another_library_that_came_without_content() -> None:
    open_, closed = MemorySink(), MemorySink()
    for sink, keeps in ((open_, True), (closed, False)):
        tell(traced(StampingExporter(sink, ExportRules(keep_content=keeps))))

    (with_content,), (without,) = open_.sessions(), closed.sessions()

    assert "T-7751" not in repr(closed.spans)
    assert uses_of(with_content) == {("tool_result", "tool_call", "value-in-arguments"), LAST_USE}
    assert uses_of(without) == uses_of(with_content)


def test_what_was_said_to_a_model_and_told_again_is_said_once() -> None:
    sink = MemorySink()
    tell(traced(StampingExporter(sink, ExportRules(keep_content=False))))

    (session,) = sink.sessions()
    said = [event.payload["message_parts"] for event in session.events if event.event_type == "before_provider_request"]

    assert [bool(parts) for parts in said] == [True, False, False]


LAST_USE = ("tool_result", "after_provider_response", "value-in-answer")


def uses_of(session: Session) -> set[tuple[str, str, str]]:
    """Return each use by the names of the two events, and its rule."""
    events = session.events
    return {
        (events[use.source].event_type, events[use.target].event_type, use.rule)
        for use in build_timeline(session, Profile.STANDARD).uses
    }


def tell(provider: TracerProvider) -> None:
    """Run the agent of SESSION as another library would trace it, with the whole history in each request."""
    tracer = provider.get_tracer("another.library")
    history: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"type": "text", "content": "Close the account of Anna Berg"}]}
    ]
    with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
        for call_id, tool, arguments, result in CALLS:
            request = {"type": "tool_call", "id": call_id, "name": tool, "arguments": arguments}
            chat(tracer, history, {"role": "assistant", "parts": [request]})
            response = {"type": "tool_call_response", "id": call_id, "response": result}
            history.append({"role": "tool", "parts": [response]})
            attributes = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": tool,
                "gen_ai.tool.call.id": call_id,
                "gen_ai.tool.call.arguments": json.dumps(arguments),
                "gen_ai.tool.call.result": json.dumps(result),
            }
            tracer.start_span("execute_tool", attributes=attributes).end()
        text = {"type": "text", "content": "Done, the ticket is T-7751."}
        chat(tracer, history, {"role": "assistant", "parts": [text]})


def chat(tracer: Tracer, history: list[dict[str, Any]], answer: dict[str, Any]) -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(history),
        "gen_ai.output.messages": json.dumps([answer]),
    }
    tracer.start_span("chat", attributes=attributes).end()
    history.append(answer)


CALLS = (
    ("c1", "find", {"name": "Anna Berg"}, {"id": "usr-48213", "note": "prefers calls before lunch on Mondays"}),
    ("c2", "close", {"user": "usr-48213"}, {"ticket": "T-7751"}),
)
