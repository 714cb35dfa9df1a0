"""What a value that holds messages comes down to: the last question, the last answer, the instructions."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.conventions.convention import Salvaged
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_parts import Parts, gather
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.messages import Message
from critiqor_otel.conventions.shapes import REDACTED

__all__ = ["answered_text", "asked_text", "instructions", "with_results"]


def with_results(read: Callable[[Any], Any], unwrap: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the shape that also takes a family's wrapping off the results in the messages it reads."""

    def shape(value: Any) -> Any:
        found = read(value)
        if isinstance(found, Salvaged):
            return structs.replace(found, value=[_unwrapped(message, unwrap) for message in found.value])
        return [_unwrapped(message, unwrap) for message in found] if found else found

    return shape


def _unwrapped(message: Message, unwrap: Callable[[Any], Any]) -> Message:
    if not message.tool_responses:
        return message
    responses = tuple(structs.replace(each, result=structured(unwrap(each.result))) for each in message.tool_responses)
    return structs.replace(message, tool_responses=responses)


def asked_text(value: Any) -> Any:
    """Return the last thing a user says in a value that holds messages, else the decoded value."""
    return _said(value, "user", conversation)


def answered_text(value: Any) -> Any:
    """Return the last thing an assistant says in a value that holds messages, else the decoded value."""
    return _said(value, "assistant", answer)


def _said(value: Any, role: str, read: Callable[[Any], list[Message] | Salvaged | None]) -> Any:
    found = structured(value)
    if isinstance(found, str):
        return None if not found.strip() or found in REDACTED else found
    if not (is_list(found) or is_object(found)):
        return found
    if is_list(found) and len(found) > 1 and all(isinstance(each, str) for each in found):
        return found  # a list of results, of which none is the last word
    messages = read(found)
    texts = [each.text for each in messages if each.role == role and each.text] if is_list(messages) else []
    return texts[-1] if texts else found or None


def instructions(value: Any) -> str | None:
    """Return system instructions as one text, from a text, parts or messages."""
    parts = Parts()
    gather(structured(value), parts)
    return "\n".join(parts.texts) or None
