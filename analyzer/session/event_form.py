"""One event as a JSON object: every spelling read, one written.

A field that holds something of a wrong type stays in `extra` under its own name, and so does a number where an id is
text: nothing of the source is lost. What stands in `extra` under a name that the form uses itself is written into an
object named `extra`.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from analyzer.session.instants import format_instant, parse_instant
from analyzer.session.jsontext import Remark, strict_json
from analyzer.session.model import Event, Json, SpanRef
from analyzer.session.names import NAMELESS, kind_of
from analyzer.session.shapes import is_number, is_object

__all__ = ["UNREADABLE", "nested_extra", "read_event", "split_extra", "write_event", "write_events", "write_object"]

UNREADABLE = "unreadable_event"
"""The name of an event that was no object; its payload is what stood there."""

_PLACES = (
    *("event_id", "event", "event_type", "timestamp", "source_layer", "tool_name"),
    *("tool_call_id", "status", "duration_ms", "error", "payload", "span"),
)
_RESERVED = frozenset((*_PLACES, "extra"))
_IDS = ("event_id", "tool_name", "tool_call_id")


def read_event(raw: Json, index: int) -> tuple[Event, list[Remark]]:
    """Return the event at a 0-based index of the file, and what was odd in it; whatever it is, it is kept."""
    if not is_object(raw):
        found = Event(event_id=f"event_{index}", event=UNREADABLE, event_type=UNREADABLE, payload=raw)
        return found, [("event-not-object", f"event {index} is {_kind_word(raw)}, not an object; kept as a payload")]
    return _Reading(raw, index).event()


def write_events(events: Sequence[Event]) -> bytes:
    """Return each event as `write_event` does, with a comma between two lines; all in one go, if they let it."""
    values = [_values(event) for event in events]
    try:
        text = _LINES([_Line(*row, event.span or UNSET) for row, event in zip(values, events, strict=True)])
    except _UNSPEAKABLE:
        return b",\n".join(map(write_event, events))
    nulls = [row.count(None) for row in values]
    if text.count(b"null") == sum(nulls) and not any(event.extra for event in events):
        return text[:-1].replace(b"\n", b",\n")
    lines = zip(text.split(b"\n"), nulls, events, strict=False)  # behind the last line end, there is no event
    return b",\n".join(
        [line if line.count(b"null") == own and not event.extra else write_event(event) for line, own, event in lines]
    )


def write_event(event: Event) -> bytes:
    """Return the event as one line of strict JSON, its fields in the order of docs/session.md."""
    values = _values(event)
    try:
        line = _ENCODE(_Line(*values, event.span or UNSET))
    except _UNSPEAKABLE:
        line = b""
    # More nulls than there are fields without a value: the encoder writes so of NaN too, without a word.
    if not line or line.count(b"null") != values.count(None):
        fields = dict(zip(_PLACES, values, strict=False))
        line = write_object(fields if event.span is None else {**fields, "span": msgspec.to_builtins(event.span)})
    if not event.extra:
        return line
    extra, hidden = split_extra(event.extra, _RESERVED)
    return line[:-1] + b"," + write_object({**extra, **hidden})[1:]


_Values = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any]


def _values(event: Event) -> _Values:
    """Return what stands in the fields before `span`."""
    return (
        event.event_id,
        event.event,
        event.event_type,
        None if event.time_ns is None else format_instant(event.time_ns),
        event.source_layer,
        event.tool_name,
        event.tool_call_id,
        event.status,
        event.duration_ms,
        event.error,
        event.payload,
    )


class _Line(Struct):
    """The fields of an event in their order."""

    event_id: Any
    event: Any
    event_type: Any
    timestamp: Any
    source_layer: Any
    tool_name: Any
    tool_call_id: Any
    status: Any
    duration_ms: Any
    error: Any
    payload: Any
    span: SpanRef | UnsetType


_ENCODE = msgspec.json.Encoder().encode
_LINES = msgspec.json.Encoder().encode_lines
_UNSPEAKABLE = (UnicodeEncodeError, RecursionError, TypeError, ValueError, OverflowError)
"""What the encoder raises of values that it has no spelling for."""


def write_object(fields: dict[str, Any]) -> bytes:
    """Return an object as strict JSON, its keys as they stand."""
    raw = {
        key: value if value is None or isinstance(value, str) else msgspec.Raw(strict_json(value))
        for key, value in fields.items()
    }
    try:
        return msgspec.json.encode(raw)
    except UnicodeEncodeError:
        members = (strict_json(key) + b":" + strict_json(value) for key, value in fields.items())
        return b"{" + b",".join(members) + b"}"


def split_extra(extra: dict[str, Json], reserved: frozenset[str]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the fields that may stand beside the form's own, and an object `extra` of those that may not."""
    if reserved.isdisjoint(extra):
        return extra, {}
    hidden = {key: value for key, value in extra.items() if key in reserved}
    return {key: value for key, value in extra.items() if key not in reserved}, {"extra": hidden}


def nested_extra(extra: dict[str, Json], reserved: frozenset[str]) -> dict[str, Json]:
    """Undo `split_extra`: return the fields with those of an object `extra` beside them."""
    inner = extra.get("extra")
    if not is_object(inner) or not inner or not reserved.issuperset(inner):
        return extra
    return {**{key: value for key, value in extra.items() if key != "extra"}, **inner}


class _Reading:
    """The reading of one object: what was understood, what is left over, what was odd."""

    __slots__ = ("extra", "index", "raw", "remarks")

    def __init__(self, raw: dict[str, Json], index: int) -> None:
        self.raw = raw
        self.index = index
        self.extra: dict[str, Json] = {key: value for key, value in raw.items() if key not in _PLACES}
        self.remarks: list[Remark] = []

    def event(self) -> tuple[Event, list[Remark]]:
        raw = self.raw
        if "extra" in self.extra:
            self.extra = nested_extra(self.extra, _RESERVED)
        name, event_type = self.names()
        event_id = self.text("event_id")
        event = Event(
            event_id=f"event_{self.index}" if event_id is None else event_id,
            event=kind_of(name),
            event_type=event_type,
            time_ns=self.time(),
            source_layer=self.text("source_layer"),
            tool_name=self.text("tool_name"),
            tool_call_id=self.text("tool_call_id"),
            status=self.text("status"),
            duration_ms=self.duration(),
            error=raw.get("error"),
            payload=raw.get("payload"),
            span=self.span() if raw.get("span") is not None else None,
            extra=self.extra,
        )
        return event, self.remarks

    def names(self) -> tuple[str, str]:
        """Return the name that tells the kind, and the name as observed (docs/session.md, reading)."""
        raw = self.raw
        found: dict[str, str] = {}
        for key in ("event", "type", "event_type", "runtime_event"):
            value = raw.get(key)
            if isinstance(value, str):
                found[key] = value
            elif value is not None and key in _PLACES:
                self.misplaced(key, value, "text")
        if not found:
            self.remarks.append(("event-without-name", f"event {self.index} has no name; read as {NAMELESS.value}"))
            return NAMELESS.value, NAMELESS.value
        source, name = next(iter(found.items()))
        if source not in _PLACES and "event_type" not in found:
            self.extra.pop(source, None)  # it lives on as the event's type
        return name, found.get("event_type", name)

    def time(self) -> int | None:
        value = self.raw.get("timestamp")
        if value is None:
            return None
        found = parse_instant(value)
        if found is None:
            self.misplaced("timestamp", value, "a time")
        return found

    def duration(self) -> float | None:
        value = self.raw.get("duration_ms")
        if value is None or is_number(value):
            return value
        self.misplaced("duration_ms", value, "a number")
        return None

    def span(self) -> SpanRef | None:
        value: Any = self.raw["span"]
        try:
            found = msgspec.convert(value, SpanRef)
        except msgspec.ValidationError:
            self.misplaced("span", value, "{trace_id, span_id}")
            return None
        if len(value) > len(SpanRef.__struct_fields__):
            self.extra["span"] = value
        return found

    def text(self, name: str) -> str | None:
        value = self.raw.get(name)
        return value if value is None or isinstance(value, str) else self.odd_text(name, value)

    def odd_text(self, name: str, value: Json) -> str | None:
        if name in _IDS and is_number(value):
            self.extra[name] = value
            return str(value)
        self.misplaced(name, value, "text")
        return None

    def misplaced(self, name: str, value: Json, wanted: str) -> None:
        self.extra[name] = value
        self.remarks.append(
            ("bad-value", f"{name} of event {self.index} is {_kind_word(value)}, not {wanted}; kept aside")
        )


_WORDS = {dict: "an object", list: "a list", str: "text", bool: "a truth value", int: "a number", float: "a number"}


def _kind_word(value: Json) -> str:
    return next((word for shape, word in _WORDS.items() if isinstance(value, shape)), "null")
