"""What a session file says of its own events: how many, of which kind, from where."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from analyzer.session.model import Event, EventKind

__all__ = ["count_events"]

_NO_LAYER = "unknown"


def count_events(events: Iterable[Event]) -> dict[str, Any]:
    """Return the `metrics` of a session file; tables are sorted by name.

    `tool_calls` counts calls by tool: a call that two hooks report under one id is one call.
    """
    kinds: Counter[str] = Counter()
    layers: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    reported: dict[str, str] = {}
    errors = 0
    for event in events:
        kinds[event.event] += 1
        layers[event.source_layer or _NO_LAYER] += 1
        errors += event.status == "error"
        if event.event == EventKind.TOOL_CALL and event.tool_name is not None and _is_first(event, reported):
            tools[event.tool_name] += 1
    return {
        "total_events": kinds.total(),
        "by_event_type": dict(sorted(kinds.items())),
        "by_source_layer": dict(sorted(layers.items())),
        "error_events": errors,
        "tool_calls": dict(sorted(tools.items())),
    }


def _is_first(event: Event, reported: dict[str, str]) -> bool:
    if event.tool_call_id is None:
        return True
    return reported.setdefault(event.tool_call_id, event.event_type) == event.event_type
