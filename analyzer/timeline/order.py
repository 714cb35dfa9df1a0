"""In which order the events happened, and under which ids they are spoken of."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from analyzer.session.model import Event, Note

__all__ = ["Arrange", "as_listed", "by_time"]

Arrange: TypeAlias = Callable[[tuple[Event, ...]], tuple[tuple[Event, ...], list[Note]]]


def as_listed(events: tuple[Event, ...]) -> tuple[tuple[Event, ...], list[Note]]:
    """Leave order and ids as they are (critiqor 0.1.4)."""
    return events, []


def by_time(events: tuple[Event, ...]) -> tuple[tuple[Event, ...], list[Note]]:
    """Order by time, equal times as listed; an event without a time stays behind the one before it.

    Ids that occur twice are made unique, with a note each.
    """
    ordered = _sorted(events)
    if len({event.event_id for event in ordered}) == len(ordered):
        return ordered, []
    return _with_unique_ids(ordered)


def _sorted(events: tuple[Event, ...]) -> tuple[Event, ...]:
    told = [event.time_ns for event in events]
    last = next((time for time in told if time is not None), 0)
    times = [last := last if time is None else time for time in told]
    if times == sorted(times):
        return events
    order = sorted(range(len(events)), key=times.__getitem__)
    return tuple(events[position] for position in order)


def _with_unique_ids(events: tuple[Event, ...]) -> tuple[tuple[Event, ...], list[Note]]:
    taken = {event.event_id for event in events}
    seen: dict[str, int] = {}
    found: list[Event] = []
    for event in events:
        count = seen[event.event_id] = seen.get(event.event_id, 0) + 1
        if count == 1:
            found.append(event)
            continue
        while (unique := f"{event.event_id}~{count}") in taken:
            count += 1
        seen[event.event_id] = count
        taken.add(unique)
        found.append(replace(event, event_id=unique))
    notes = [
        Note(code="duplicate-event-id", message=f"{count} events have the id {name!r}; numbered apart", event_id=name)
        for name, count in seen.items()
        if count > 1
    ]
    return tuple(found), notes
