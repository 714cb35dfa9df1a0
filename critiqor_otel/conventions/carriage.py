"""How a session's events travel on spans: each as the JSON of its line in the session file, in ASCII, and back.

A span carries the event at its start in `critiqor.event.json`, the one at its end in `critiqor.end_event.json`; what
happened in between are span events that carry theirs. Places in the run tell the order. A text is one value or, where
the sender cuts long values, a list of pieces.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from analyzer.pattern import pattern
from analyzer.session.event_form import write_event
from analyzer.session.jsontext import read_json, strict_json
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.span import Span

__all__ = [
    "ANNOTATION",
    "CARRIED",
    "END_EVENT",
    "END_SEQUENCE",
    "EVENT",
    "FINGERPRINTS",
    "LOST",
    "OUR_SCOPE",
    "RUN_ID",
    "SEQUENCE",
    "SESSION",
    "STREAM",
    "UNFINISHED",
    "Carried",
    "ascii_json",
    "carried_events",
    "carried_session",
    "event_text",
]

OUR_SCOPE = "critiqor_otel"
"""The scope of the recorder's spans and of a replay's: it is no agent's framework."""

RUN_ID = "critiqor.run_id"
EVENT = "critiqor.event.json"
SEQUENCE = "critiqor.sequence"
"""The event's place in the run, from 0; in a live run its place among the events of its stream."""
END_EVENT = "critiqor.end_event.json"
END_SEQUENCE = "critiqor.end_sequence"
SESSION = "critiqor.session.json"
"""The session without its events, and how many there are; on one span of the run."""
STREAM = "critiqor.stream"
"""Which recorder counted the sequence: the processes of one run count each for itself. Absent for a replay."""

ANNOTATION = "critiqor.annotation"
"""On spans that tell a verdict of ours (`diagnosis`, `failure`): they stand in the run's trace and are no evidence."""

UNFINISHED = "critiqor.unfinished"
"""On a span that was ended because its process, or its record, ended before it."""

LOST = "critiqor.lost_spans"
"""On the first span that an exporter sent after it had lost some: how many."""

FINGERPRINTS = {
    "input_fingerprint": "critiqor.tool.arguments.fingerprint",
    "input_parts": "critiqor.tool.arguments.parts",
    "result_fingerprint": "critiqor.tool.result.fingerprint",
    "result_parts": "critiqor.tool.result.parts",
    "message_parts": "critiqor.message.parts",
    "prompt_parts": "critiqor.message.input.parts",  # in the payload of a request: `message_parts`
}
"""A payload's key → the attribute: keyed fingerprints that stand for content which was not captured."""

CARRIED = frozenset((EVENT, END_EVENT, SESSION))
"""Attributes that make a span a carrier."""

_NOT_ASCII = pattern(r"[^\x00-\x7f]")
_BEYOND = 0x10000  # what a `\u` escape holds one half of


class Carried(Struct, frozen=True):
    """One event as it came with a span."""

    sequence: int | None
    raw: dict[str, Any] | None
    """The event's object; None when its text could not be read."""
    stream: str = ""


def ascii_json(value: Json) -> str:
    """Return the value as strict JSON in ASCII, which every hop keeps as it is."""
    return _escaped(strict_json(value))


def event_text(event: Event) -> str:
    """Return the event as one line of a session file, in ASCII."""
    return _escaped(write_event(event))


def carried_events(span: Span) -> list[Carried] | None:
    """Return the events that a span brings, or None when it brings none."""
    held = span.attributes
    if EVENT not in held and END_EVENT not in held and not span.events:
        return None
    stream = held.get(STREAM)
    return list(_carried(span, stream if isinstance(stream, str) else "")) or None


def carried_session(span: Span) -> dict[str, Any] | None:
    """Return what a span brings of the session itself, or None when it brings nothing that can be read."""
    held = span.attributes.get(SESSION)
    return None if held is None else _object(held)


def _carried(span: Span, stream: str) -> Iterator[Carried]:
    held = span.attributes
    for text, sequence in ((EVENT, SEQUENCE), (END_EVENT, END_SEQUENCE)):
        if text in held:
            yield _one(held, text, sequence, stream)
    for event in span.events:
        if EVENT in event.attributes:
            yield _one(event.attributes, EVENT, SEQUENCE, stream)


def _one(held: Mapping[str, Any], text: str, sequence: str, stream: str) -> Carried:
    return Carried(_whole(held.get(sequence)), _object(held[text]), stream)


def _escaped(data: bytes) -> str:
    text = data.decode()
    return text if text.isascii() else _NOT_ASCII.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < _BEYOND:
        return f"\\u{code:04x}"
    high, low = divmod(code - _BEYOND, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)  # stores that keep every value as text
    return value if isinstance(value, int) else None


def _object(value: Any) -> dict[str, Any] | None:
    """Return the object of a text, of its pieces, or of the JSON text of a list of pieces (Jaeger writes lists so)."""
    for _ in range(3):
        if is_object(value):
            return value
        value = _read(_joined(value))
    return value if is_object(value) else None


def _joined(value: Any) -> Any:
    return "".join(map(str, value)) if is_list(value) else value


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return read_json(value.encode("utf-8", "surrogatepass"))[0]
    except ValueError:
        return None
