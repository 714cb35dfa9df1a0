"""What one event shows, in one line: the words by which people recognise a piece of evidence."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from analyzer.report.plain import cut, one_line
from analyzer.session.instants import format_instant
from analyzer.session.jsontext import strict_json
from analyzer.session.model import Event, EventKind, Json, Session

__all__ = ["Exhibit", "clock", "exhibit", "exhibits"]

_DETAIL = 400  # characters of an event's content; enough to recognise it


class Exhibit(msgspec.Struct, frozen=True, kw_only=True):
    """An event for people: when, what, whose and what it held."""

    event_id: str
    time: str
    """Time of day in UTC, milliseconds; empty when there is none."""
    kind: str
    subject: str
    """The tool, model, skill or agent; empty when there is none."""
    detail: str
    """The content, shortened, harmless."""
    failed: bool


def exhibits(session: Session, event_ids: Iterable[str]) -> tuple[Exhibit, ...]:
    """Return what these events of the session show, in the order of the ids; ids that name no event are left out."""
    wanted = tuple(event_ids)
    sought = set(wanted)
    found = {event.event_id: event for event in session.events if event.event_id in sought}
    return tuple(exhibit(found[event_id]) for event_id in wanted if event_id in found)


def exhibit(event: Event) -> Exhibit:
    """Return what the event shows."""
    return Exhibit(
        event_id=one_line(event.event_id),
        time=clock(event.time_ns),
        kind=one_line(str(event.event)),
        subject=one_line(_text(event.tool_name or _first(event, _SUBJECT_KEYS) or "")),
        detail=cut(one_line(_detail(event)[: 4 * _DETAIL]), _DETAIL),
        failed=event.status == "error" or event.error is not None or event.event == EventKind.ERROR_EVENT,
    )


def clock(time_ns: int | None) -> str:
    """Return the time of day in UTC with milliseconds, empty when it is unknown or outside the calendar."""
    moment = None if time_ns is None else format_instant(time_ns)
    return moment[11:23] if isinstance(moment, str) else ""


_SUBJECT_KEYS = ("toolName", "tool_name", "tool", "model", "skill", "operation", "agent", "name")

# Where the content of an event of each kind stands: the rebuilt spelling first, then the others.
_DETAIL_KEYS: Mapping[str, tuple[str, ...]] = {
    EventKind.TOOL_CALL: ("input", "args", "arguments"),
    EventKind.TOOL_OUTPUT: ("error", "result", "output", "content"),
    EventKind.TOKEN_USAGE: ("error", "usage", "total", "tokens"),
    EventKind.MEMORY_EVENT: ("query", "outcome", "action", "status"),
    EventKind.RETRY_EVENT: ("reason", "attempt"),
    EventKind.ERROR_EVENT: ("message", "error", "error_type"),
    EventKind.SKILL_EVENT: ("resource", "status", "invoked"),
    EventKind.CONTEXT_EVENT: ("saturation", "saturation_score", "action"),
    EventKind.DECISION: ("reason", "label", "score"),
    EventKind.PROCESS_START: ("command",),
    EventKind.PROCESS_OUTPUT: ("text",),
    EventKind.PROCESS_END: ("exit_code",),
    EventKind.STATE_TRANSITION: ("error", "output", "input"),
}


def _detail(event: Event) -> str:
    found = _first(event, _DETAIL_KEYS.get(event.event, ()))
    return _usage(found) if event.event == EventKind.TOKEN_USAGE else _text(found)


def _usage(usage: Any) -> str:
    if not isinstance(usage, dict):
        return _text(usage)
    counts = cast("dict[str, Any]", usage)
    return ", ".join(f"{name.removesuffix('_tokens')} {count}" for name, count in counts.items() if count is not None)


def _first(event: Event, keys: Iterable[str]) -> Json:
    payload = cast("dict[str, Any]", event.payload) if isinstance(event.payload, dict) else {}
    for key in keys:
        if key == "error" and event.error is not None:
            return event.error
        for place in (payload, event.extra):
            if place.get(key) is not None:
                return place[key]
    return None


def _text(value: Json) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return strict_json(value).decode()
