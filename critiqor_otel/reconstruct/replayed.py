"""A run that carries its own events is read, not rebuilt: its spans bring the lines of its session file.

Spans of other instrumentations may stand beside those (a recorder around an instrumented model client): they are
rebuilt as ever, and their events take their place in time.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from analyzer.session.accessors import payload_of
from analyzer.session.event_form import read_event
from analyzer.session.model import Agent, Event, Note, Session, SpanRef
from critiqor_otel.conventions.carriage import CARRIED, Carried, carried_session
from critiqor_otel.conventions.convention import Field
from critiqor_otel.reconstruct.node import Node

__all__ = ["CarriedRun", "carried_run"]

_SHOWN_GAPS = 10


class _Arrived(Struct, frozen=True):
    """One event and the span that brought it."""

    carried: Carried
    node: Node


class CarriedRun(Struct, frozen=True):
    """What the spans of a run bring of its session."""

    streams: tuple[tuple[Event, ...], ...]
    """The events of each recorder, in its order."""
    headers: tuple[dict[str, Any], ...]
    notes: tuple[Note, ...]
    """On what was brought and could not be read, or was not brought at all."""
    carriers: frozenset[int]
    """The id() of the nodes whose events these are: they tell nothing else."""
    is_whole: bool
    """No other span of the run has anything to tell."""
    trace_ids: tuple[str, ...]

    def session(self, run_id: str) -> Session:
        """Return the session as it was; what no span brought of its head is taken from the spans."""
        return self.joined(Session(run_id=run_id, trace_ids=self.trace_ids))

    def joined(self, rebuilt: Session) -> Session:
        """Return the session with the events that were rebuilt from other spans among the carried ones."""
        head = self.headers[0] if self.headers else {}
        told = tuple(note for header in self.headers for note in _converted(header.get("notes"), list[Note], []))
        agents = (_converted(header.get("agent"), Agent, Agent()) for header in self.headers)
        return Session(
            run_id=_converted(head.get("run_id"), str, rebuilt.run_id),
            events=_merged((*self.streams, rebuilt.events)),
            agent=next((agent for agent in agents if agent != Agent()), None)
            or self._named(rebuilt.agent, told=bool(head)),
            trace_ids=tuple(_converted(head.get("trace_ids"), list[str], rebuilt.trace_ids)),
            continues=_converted(head.get("continues"), str | None, None),
            notes=(*told, *self.notes, *rebuilt.notes),
            extra={**self._extra(), **rebuilt.extra},
        )

    def _named(self, agent: Agent, *, told: bool) -> Agent:
        """Return the agent, by the name that the first event tells where no span told of the session itself."""
        if told or agent.name is not None:
            return agent
        names = (payload_of(event).get("agent") for stream in self.streams for event in stream)
        return msgspec.structs.replace(agent, name=next((name for name in names if isinstance(name, str)), None))

    def list_of(self, name: str) -> list[dict[str, Any]]:
        """Return a list of the session's top level that events point into (`resources`, `scopes`)."""
        found: list[dict[str, Any]] = _converted(self._extra().get(name), list[dict[str, Any]], [])
        return found

    def _extra(self) -> dict[str, Any]:
        head = self.headers[0] if self.headers else {}
        found: dict[str, Any] = _converted(head.get("extra"), dict[str, Any], {})
        return found


def carried_run(nodes: Sequence[Node]) -> CarriedRun | None:
    """Return what the nodes bring of their own session, or None when they bring nothing."""
    carriers = [node for node in nodes if not node.facts.lacks(_EVENT) and _is_carrier(node)]
    if not carriers:
        return None
    carriers.sort(key=lambda node: node.sort_key)
    streams: dict[str, list[_Arrived]] = {}
    for node in carriers:
        for carried in node.facts.get(Field.EVENT) or ():
            streams.setdefault(carried.stream, []).append(_Arrived(carried, node))
    headers = [(node, header) for node in carriers if (header := carried_session(node.span)) is not None]
    notes: list[Note] = []
    ordered = [tuple(_in_order(arrived, notes)) for _, arrived in sorted(streams.items())]
    known = sum(_converted(header.get("events"), int, 0) for _, header in headers)
    notes += _lost(streams, known)
    return CarriedRun(
        streams=tuple(ordered),
        headers=tuple(header for _, header in headers),
        notes=tuple(notes),
        carriers=frozenset(map(id, carriers)),
        is_whole=len(carriers) == len(nodes),
        trace_ids=tuple(sorted({node.span.trace_id for node in nodes})),
    )


_EVENT = frozenset({Field.EVENT})


def _is_carrier(node: Node) -> bool:
    held = node.span.attributes
    return not CARRIED.isdisjoint(held) or (bool(node.span.events) and node.facts.get(Field.EVENT) is not None)


def _in_order(arrived: list[_Arrived], notes: list[Note]) -> Iterator[Event]:
    """Yield a stream's events by their place; of one that came twice, the first."""
    arrived.sort(key=lambda one: -1 if one.carried.sequence is None else one.carried.sequence)
    before: _Arrived | None = None
    for position, one in enumerate(arrived):
        if before is not None and before.carried == one.carried:
            continue
        before = one
        if one.carried.raw is None:
            notes.append(_unreadable(one))
            continue
        event, _ = read_event(one.carried.raw, position)
        yield event if event.span is not None else msgspec.structs.replace(event, span=_span_of(one.node))


def _span_of(node: Node) -> SpanRef:
    return SpanRef(node.span.trace_id, node.span.span_id)


def _unreadable(one: _Arrived) -> Note:
    message = f"event {one.carried.sequence} came with its span and could not be read; it was left out"
    return Note(code="unreadable-event", message=message, span=_span_of(one.node))


def _lost(streams: dict[str, list[_Arrived]], known: int) -> Iterator[Note]:
    """Yield a note when places in the order are empty: spans of the run that never arrived."""
    counts = [
        (places, 1 + max(places, default=-1))
        for stream in streams.values()
        if (places := {one.carried.sequence for one in stream if one.carried.sequence is not None})
    ]
    missing = [place for places, count in counts for place in range(count) if place not in places]
    arrived = sum(len(places) for places, _ in counts)
    lost = max(len(missing), known - arrived)
    if lost > 0:
        shown = ", ".join(map(str, missing[:_SHOWN_GAPS]))
        where = f", at {shown}{' …' if len(missing) > _SHOWN_GAPS else ''}" if missing else ", at the end"
        yield Note(code="lost-events", message=f"{lost} events of the run never arrived{where}")


def _merged(streams: Iterable[Sequence[Event]]) -> tuple[Event, ...]:
    """Return the events of all streams in order of time; each stream keeps its own order."""
    told = [stream for stream in streams if stream]
    if len(told) == 1:
        return tuple(told[0])
    dated = (_dated(stream) for stream in told)
    return tuple(event for _, event in heapq.merge(*dated, key=lambda pair: pair[0]))


def _dated(stream: Iterable[Event]) -> Iterator[tuple[int, Event]]:
    """Yield each event with the latest time so far: an event without a time follows the one before it."""
    latest = 0
    for event in stream:
        latest = max(latest, event.time_ns or 0)
        yield latest, event


def _converted(value: Any, shape: Any, otherwise: Any) -> Any:
    if value is None:
        return otherwise
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError:
        return otherwise
