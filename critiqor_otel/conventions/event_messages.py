"""Messages written as span events, or as log records that were joined to their span: `gen_ai.user.message` and kin.

The content of such an event stands in its attributes (Strands), in one JSON attribute (Azure, `gen_ai.event.content`),
or in its body (OTel log records: an attribute `body` here).
"""

from collections.abc import Mapping
from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_shapes import message_of, messages_of
from critiqor_otel.conventions.messages import Message
from critiqor_otel.span import Span, SpanEvent

__all__ = ["event_answer", "event_conversation", "event_fields"]

_ASKED = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_ANSWERED = "gen_ai.choice"
_PROMPT_EVENTS = {"gen_ai.content.prompt": "gen_ai.prompt"}  # OTel GenAI 1.27 to 1.29
_COMPLETION_EVENTS = {"gen_ai.content.completion": "gen_ai.completion"}


def event_conversation(span: Span) -> list[Message] | None:
    """Return the messages the span's events say the model was sent, in the order of the events."""
    found: list[Message] = []
    for event in span.events:
        role = _ASKED.get(event.name)
        if role is not None:
            message = message_of(event_fields(event), role=role)
            found.append(Message(role=role) if message is None else message)
        elif (key := _PROMPT_EVENTS.get(event.name)) is not None:
            found.extend(messages_of(structured(event.attributes.get(key)), role="user"))
    return found or None


def event_answer(span: Span) -> list[Message] | None:
    """Return the messages the span's events say the model answered."""
    found: list[Message] = []
    for event in span.events:
        if event.name == _ANSWERED:
            message = _choice(event_fields(event))
            found.append(message or Message(role="assistant"))
        elif (key := _COMPLETION_EVENTS.get(event.name)) is not None:
            found.extend(messages_of(structured(event.attributes.get(key)), role="assistant"))
    return found or None


def event_fields(event: SpanEvent) -> Mapping[str, Any]:
    """Return an event's own fields, wherever they stand; its role by name is left to the caller."""
    for key in ("body", "gen_ai.event.content"):
        content = structured(event.attributes.get(key))
        if is_object(content):
            return content
        if isinstance(content, str) and content:
            return {"content": content}
    return event.attributes


def _choice(fields: Mapping[str, Any]) -> Message | None:
    """Return a choice's message: an object, text, or text that spells content blocks (Strands)."""
    inner: Any = structured(fields.get("message"))
    if is_list(inner) or isinstance(inner, str):
        inner = {"content": inner}
    elif not is_object(inner):
        inner = {key: value for key, value in fields.items() if key != "role"}
    return message_of({"role": "assistant", "finish_reason": fields.get("finish_reason"), **inner}, role="assistant")
