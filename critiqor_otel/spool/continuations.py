"""A run and what came later for it, read as one run."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from analyzer.session.codec import write_session
from analyzer.session.model import Agent, Event, Note, Session

__all__ = ["join_continuations", "told_apart"]

_SHARED = "shared-run-id"


def join_continuations(sessions: Iterable[Session]) -> list[Session]:
    """Return one session a run, in order of run id: continuations joined to their run, equal copies taken once.

    Different sessions that bear one id stay apart: ids such as `run_001` are given anew in every folder.
    """
    distinct = _distinct(sessions)
    carried_on = {session.run_id: session.continues for session in distinct if session.continues is not None}
    runs: list[Session] = []
    later: dict[str, list[Session]] = {}
    for session in distinct:
        if session.continues is None:
            runs.append(session)
        else:
            later.setdefault(_origin(session.continues, carried_on), []).append(session)
    joined = [_with_continuations(run, later.pop(run.run_id, [])) for run in runs]
    joined += [_without_run(run_id, parts) for run_id, parts in later.items()]
    return sorted(joined, key=lambda session: session.run_id)


def told_apart(sessions: Iterable[Session]) -> Iterator[Session]:
    """Yield the sessions; those that bear one id get names of their own, for folders that hold one run each.

    The name is made of what the session holds: it stays the same whatever else is among the input.
    """
    found = list(sessions)
    counts = Counter(session.run_id for session in found)
    yield from (_under_own_name(session) if counts[session.run_id] > 1 else session for session in found)


def _under_own_name(session: Session) -> Session:
    bare = msgspec.structs.replace(session, notes=tuple(note for note in session.notes if note.code != _SHARED))
    name = f"{session.run_id}.{hashlib.blake2b(write_session(bare), digest_size=4).hexdigest()}"
    message = f"it came as {session.run_id!r}, an id that another run bears too"
    return _noted(msgspec.structs.replace(bare, run_id=name), _SHARED, message)


def _distinct(sessions: Iterable[Session]) -> list[Session]:
    """Return the different sessions ordered by id and content, so that the order of files changes nothing."""
    by_id: dict[str, list[Session]] = {}
    for session in sessions:
        by_id.setdefault(session.run_id, []).append(session)
    return [session for run_id in sorted(by_id) for session in _different(by_id[run_id])]


def _different(namesakes: list[Session]) -> Iterator[Session]:
    if len(namesakes) == 1:
        yield namesakes[0]
        return
    by_content = {write_session(session): session for session in namesakes}
    for content in sorted(by_content):
        session = by_content[content]
        if len(by_content) > 1:
            message = f"{len(by_content)} different sessions bear the run id {session.run_id!r}; they were kept apart"
            session = _noted(session, _SHARED, message)
        yield session


def _origin(run_id: str, carried_on: dict[str, str]) -> str:
    """Follow `continues` to the first run; a ring ends where it began."""
    seen = {run_id}
    while (earlier := carried_on.get(run_id)) is not None and earlier not in seen:
        seen.add(earlier)
        run_id = earlier
    return run_id


def _without_run(run_id: str, parts: list[Session]) -> Session:
    first = msgspec.structs.replace(parts[0], run_id=run_id, continues=None)
    message = f"the run {run_id!r} that this evidence carries on is not among the input"
    return _noted(_with_continuations(first, parts[1:]), "missing-run", message)


def _with_continuations(run: Session, parts: list[Session]) -> Session:
    if not parts:
        return run
    events = list(run.events)
    places = {event.event_id: place for place, event in enumerate(events)}
    for part in sorted(parts, key=_number):
        _add(events, places, part)
    notes = dict.fromkeys(note for session in (run, *parts) for note in session.notes)
    return msgspec.structs.replace(
        run,
        events=tuple(_in_time_order(events)),
        agent=next((session.agent for session in (run, *parts) if session.agent != Agent()), run.agent),
        trace_ids=tuple(sorted({trace_id for session in (run, *parts) for trace_id in session.trace_ids})),
        notes=tuple(notes),
    )


def _number(part: Session) -> tuple[int, str]:
    number = part.run_id.rpartition("~")[2]
    return int(number) if number.isdecimal() else 0, part.run_id


def _add(events: list[Event], places: dict[str, int], part: Session) -> None:
    """Add the events that are new; an event of the same span, seen again, is replaced by the later account of it."""
    for event in part.events:
        place = places.get(event.event_id)
        if place is not None and _same_happening(events[place], event):
            events[place] = event
            continue
        if place is not None:
            own_id = f"{event.event_id}~{part.run_id.rpartition('~')[2]}"
            event = msgspec.structs.replace(event, event_id=own_id)  # noqa: PLW2901  # the same event under its own id
        places[event.event_id] = len(events)
        events.append(event)


def _same_happening(known: Event, event: Event) -> bool:
    if known == event:
        return True
    return known.span is not None and known.span == event.span and known.event_type == event.event_type


def _in_time_order(events: Iterable[Event]) -> list[Event]:
    """Order by time; an event without one stays behind the event it followed."""
    timed: list[tuple[int, Event]] = []
    latest = 0
    for event in events:
        latest = event.time_ns if event.time_ns is not None else latest
        timed.append((latest, event))
    return [event for _, event in sorted(timed, key=lambda pair: pair[0])]


def _noted(session: Session, code: str, message: str) -> Session:
    return msgspec.structs.replace(session, notes=(*session.notes, Note(code=code, message=message)))
