"""What an event held, for people: arguments, result, messages, each a text that is cut where it is long."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from analyzer.report.plain import one_line
from analyzer.session.accessors import ABSENT, ARGUMENTS, RESULT, Places, first_given, payload_of
from analyzer.session.jsontext import strict_json
from analyzer.session.model import Event, EventKind
from analyzer.session.shapes import is_list, is_object

__all__ = ["Part", "answer_of", "parts_of"]

_LONGEST_ANSWER = 480  # characters


class Part(NamedTuple):
    """One piece of content."""

    label: str
    text: str
    is_json: bool
    left_out: int
    """Characters that were cut off."""


def parts_of(event: Event, longest: int) -> Iterator[Part]:
    """Yield what the event held, each part at most `longest` characters."""
    for label, value in _values(event):
        if value is None or value is ABSENT:
            continue
        text, is_json = (value, False) if isinstance(value, str) else (strict_json(value).decode(), True)
        if text:
            yield Part(label, text[:longest], is_json, max(0, len(text) - longest))


def answer_of(event: Event) -> str:
    """Return what a model said, or which tools it asked for, in one line; empty where the event tells neither."""
    if event.event != EventKind.TOKEN_USAGE:
        return ""
    messages = payload_of(event).get("messages")
    for message in messages if is_list(messages) else ():
        if not is_object(message):
            continue
        said = message.get("text")
        if isinstance(said, str) and said.strip():
            return one_line(said[:_LONGEST_ANSWER])
        requests = message.get("tool_requests")
        asked = [str(one.get("name")) for one in (requests if is_list(requests) else ()) if is_object(one)]
        if asked:
            return one_line(f"asks for {', '.join(asked)}")
    return ""


def _values(event: Event) -> Iterator[tuple[str, Any]]:
    payload = payload_of(event)
    yield "Error", event.error if event.error is not None else payload.get("error")
    label, places = _OF_TOOLS.get(event.event, _OF_NONE)
    if label:
        yield label, first_given(event, places)
    told = {*places.payload, *_NOT_SHOWN}
    for key, name in _LABELS.items():
        if key not in told:
            yield name, payload.get(key)
    yield "Details", _others(payload, told | _LABELS.keys())
    if event.payload is not None and not payload:
        yield "Payload", event.payload or None
    yield "Further fields", _others(event.extra, {*places.top, "tool", "call_id"})


def _others(fields: Mapping[str, Any], told: set[str]) -> dict[str, Any] | None:
    return {key: value for key, value in fields.items() if key not in told and value is not None} or None


_OF_NONE: tuple[str, Places] = ("", Places((), ()))
_OF_TOOLS: Mapping[str, tuple[str, Places]] = {
    EventKind.TOOL_CALL: ("Arguments", ARGUMENTS),
    EventKind.TOOL_OUTPUT: ("Result", RESULT),
}
_NOT_SHOWN = ("error", "otel", "tool_name", "toolName", "tool_call_id", "toolCallId", "agent", "model")
_LABELS: Mapping[str, str] = {
    "input": "Input",
    "output": "Output",
    "messages": "Messages",
    "usage": "Usage",
    "query": "Query",
    "records": "Records",
    "text": "Text",
    "message": "Message",
    "command": "Command",
    "reason": "Reason",
}
