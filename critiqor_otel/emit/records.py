"""What a recorder holds of one thing that happened: the documented trace event, and the session's event made of it."""

import base64
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from analyzer.evaluation.frozen import freeze
from analyzer.lenient import as_text, is_mapping, is_sequence
from analyzer.session.model import Event, EventKind, Json
from analyzer.session.names import kind_of

__all__ = ["Record", "json_of"]

_SECOND = 1_000_000_000


class Record(Struct, frozen=True, kw_only=True):
    """One thing that happened, as it was at that moment: later changes of the values don't reach it."""

    name: str
    """As the trace calls it: `tool_start`, `llm_call`."""
    time_ns: int
    trace: Mapping[str, Any]
    """What the trace event holds beside its name and time."""
    event_type: str
    """As the session calls it."""
    payload: Mapping[str, Any]
    tool_name: str | None = None
    tool_call_id: str | None = None
    status: str | None = None
    error: str | None = None
    duration_ms: float | None = None
    given: Event | None = None
    """The event itself, where it came as one from elsewhere."""

    def trace_event(self) -> dict[str, Any]:
        """Return the trace event: `{event, timestamp, …}`, the timestamp in seconds since the epoch."""
        return {"event": self.name, "timestamp": self.time_ns / _SECOND, **self.trace}

    def event(self, event_id: str) -> Event:
        """Return the session's event; values that JSON has no form for are their text."""
        if self.given is not None:
            time_ns = self.time_ns if self.given.time_ns is None else self.given.time_ns
            return msgspec.structs.replace(self.given, event_id=event_id, time_ns=time_ns)
        kind = kind_of(self.event_type)
        return Event(
            event_id=event_id,
            event=kind,
            event_type=self.event_type,
            time_ns=self.time_ns,
            source_layer="tool_hooks" if kind in _TOOL_KINDS else "extension_api",
            tool_name=self.tool_name,
            tool_call_id=self.tool_call_id,
            status=self.status,
            duration_ms=self.duration_ms,
            error=self.error,
            payload={key: json_of(freeze(value)) for key, value in self.payload.items() if value is not None},
        )


_TOOL_KINDS = frozenset((EventKind.TOOL_CALL.value, EventKind.TOOL_OUTPUT.value))


def json_of(value: Any) -> Json:
    """Return a value that was frozen as a JSON value."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if is_mapping(value):
        return {str(key): json_of(item) for key, item in value.items()}
    if is_sequence(value):
        return [json_of(item) for item in value]
    if isinstance(value, bytes | bytearray):
        return {"bytesValue": base64.b64encode(value).decode()}
    return as_text(value)
