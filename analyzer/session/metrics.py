"""What a session file says of its own events: how many, of which kind, from where."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from analyzer.session.model import Event, EventKind

__all__ = ["count_events"]

_NO_LAYER = "unknown"
_TOOL_CALL = EventKind.TOOL_CALL.value


def count_events(events: Sequence[Event]) -> dict[str, Any]:
    """Return the `metrics` of a session file; tables are sorted by name.

    `tool_calls` counts calls by tool: a call that two hooks report under one id is one call.
    """
    kinds = Counter([event.event for event in events])
    layers = Counter([event.source_layer or _NO_LAYER for event in events])
    reported: dict[str, str] = {}
    calls = [event for event in events if event.tool_name is not None and event.event == _TOOL_CALL]
    tools = Counter([event.tool_name for event in calls if event.tool_name is not None and _is_first(event, reported)])
    return {
        "total_events": len(events),
        "by_event_type": dict(sorted(kinds.items())),
        "by_source_layer": dict(sorted(layers.items())),
        "error_events": len([event for event in events if event.status == "error"]),
        "tool_calls": dict(sorted(tools.items())),
    }


def _is_first(event: Event, reported: dict[str, str]) -> bool:
    if event.tool_call_id is None:
        return True
    return reported.setdefault(event.tool_call_id, event.event_type) == event.event_type
