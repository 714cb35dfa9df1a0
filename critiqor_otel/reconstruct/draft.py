"""An event before it has a time, an id and a span."""

from typing import Any

from msgspec import Struct

from analyzer.session.model import EventKind

__all__ = ["Draft", "known", "state"]


class Draft(Struct, kw_only=True):
    """What a span tells at its start or its end."""

    event: str
    event_type: str
    payload: dict[str, Any]
    """Made for this event alone: the span itself is added to the payload of its first event."""
    tool_name: str | None = None
    tool_call_id: str | None = None
    status: str | None = None
    error: Any = None
    timed: bool = False
    """The event closes a span: it carries the span's duration."""
    at_ns: int | None = None
    """When it happened, where that is neither the start nor the end."""


def known(**facts: Any) -> dict[str, Any]:
    """Return the facts that are known: absent is not null."""
    return {name: value for name, value in facts.items() if value is not None}


def state(event_type: str, **payload: Any) -> Draft:
    """Return a transition of the run's state."""
    return Draft(event=EventKind.STATE_TRANSITION, event_type=event_type, payload=known(**payload))
