"""Messages in span events and in log records that were joined to their span."""

from critiqor_otel.conventions.event_messages import event_answer, event_conversation
from critiqor_otel.conventions.messages import Message, ToolRequest, ToolResponse
from critiqor_otel.span import Span, SpanEvent

CALL = Message(
    role="assistant",
    tool_requests=(ToolRequest(name="flaky_fetch", id="call_1", arguments={"url": "https://x.test/a"}),),
)
RESULT = Message(
    role="tool",
    tool_responses=(ToolResponse(id="call_1", result="Error: TimeoutError", is_error=None),),
)


def span(*events: tuple[str, dict[str, object]]) -> Span:
    made = tuple(SpanEvent(1, name, attributes) for name, attributes in events)  # type: ignore[arg-type]
    return Span(trace_id="1" * 32, span_id="2" * 16, events=made)


def test_records_bodies_are_read() -> None:
    told = span(
        ("gen_ai.system.message", {"body": {"content": "Be kind."}}),
        ("gen_ai.user.message", {"body": {"content": "Fetch it"}}),
        (
            "gen_ai.assistant.message",
            {
                "body": {
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "flaky_fetch", "arguments": '{"url": "https://x.test/a"}'},
                        }
                    ]
                }
            },
        ),
        ("gen_ai.tool.message", {"body": {"content": "Error: TimeoutError", "id": "call_1"}}),
        (
            "gen_ai.choice",
            {"body": {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "No."}}},
        ),
    )

    assert event_conversation(told) == [
        Message(role="system", text="Be kind."),
        Message(role="user", text="Fetch it"),
        CALL,
        RESULT,
    ]
    assert event_answer(told) == [Message(role="assistant", text="No.", finish_reason="stop")]


def test_without_content_the_names_and_ids_of_calls_stay() -> None:
    told = span(
        ("gen_ai.user.message", {"gen_ai.system": "openai", "body": None}),
        ("gen_ai.tool.message", {"body": {"id": "call_1"}}),
        (
            "gen_ai.choice",
            {
                "body": {
                    "finish_reason": "tool_calls",
                    "message": {"tool_calls": [{"id": "c", "function": {"name": "t"}}]},
                }
            },
        ),
    )

    assert event_conversation(told) == [
        Message(role="user"),
        Message(role="tool", tool_responses=(ToolResponse(id="call_1"),)),
    ]
    (chosen,) = event_answer(told) or ()
    assert chosen.tool_requests == (ToolRequest(name="t", id="c"),)


def test_strands_writes_blocks_into_attributes() -> None:
    told = span(
        ("gen_ai.user.message", {"content": '[{"text": "Fetch it"}]'}),
        (
            "gen_ai.assistant.message",
            {
                "content": (
                    '[{"toolUse": {"toolUseId": "call_1", "name": "flaky_fetch", "input": {"url": '
                    '"https://x.test/a"}}}]'
                )
            },
        ),
        (
            "gen_ai.tool.message",
            {
                "content": (
                    '[{"toolResult": {"toolUseId": "call_1", "status": "error", "content": [{"text": '
                    '"Error: TimeoutError"}]}}]'
                )
            },
        ),
        ("gen_ai.choice", {"finish_reason": "end_turn", "message": '[{"text": "No."}]'}),
    )

    user, call, result = event_conversation(told) or ()
    assert (user, call) == (Message(role="user", text="Fetch it"), CALL)
    assert result.tool_responses[0].is_error is True
    assert event_answer(told) == [Message(role="assistant", text="No.", finish_reason="end_turn")]


def test_content_in_one_json_attribute_is_read() -> None:
    told = span(
        ("gen_ai.user.message", {"gen_ai.event.content": '{"role": "user", "content": "Hi"}'}),
        ("gen_ai.content.prompt", {"gen_ai.prompt": '[{"role": "user", "content": "And?"}]'}),
        ("gen_ai.content.completion", {"gen_ai.completion": '[{"role": "assistant", "content": "Well."}]'}),
    )

    assert event_conversation(told) == [Message(role="user", text="Hi"), Message(role="user", text="And?")]
    assert event_answer(told) == [Message(role="assistant", text="Well.")]


def test_other_events_are_no_messages() -> None:
    assert event_conversation(span(("exception", {}))) is None
    assert event_answer(span(("exception", {}))) is None
