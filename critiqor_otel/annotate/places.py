"""Where in its trace did each event of a run happen, and when?

A session that came from spans says so itself. One that never did stands where `replay` puts it.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from analyzer.session.model import Session, SpanRef
from critiqor_otel.conventions.carriage import END_SEQUENCE, SEQUENCE
from critiqor_otel.emit.derived_ids import span_id_of, trace_id_of
from critiqor_otel.emit.original_spans import original_spans
from critiqor_otel.emit.session_spans import spans_of, tracks_of
from critiqor_otel.span import Resource, Span

__all__ = ["Places", "Stretch", "places_of"]

_SHORTEST = 1_000
_EARLIEST = 1  # a span's time of 0 means that it is not known


class Stretch(Struct, frozen=True):
    """From when to when, in nanoseconds since the epoch."""

    start_ns: int
    end_ns: int

    def cut_to(self, other: "Stretch") -> "Stretch":
        """Return the part that lies within the other."""
        start_ns = min(max(self.start_ns, other.start_ns), other.end_ns)
        return Stretch(start_ns, min(max(self.end_ns, start_ns), other.end_ns))

    def lasting_in(self, other: "Stretch") -> "Stretch":
        """Return a stretch of a microsecond or more, within the other where that is as long: back ends show no less."""
        start_ns = min(self.start_ns, max(other.start_ns, other.end_ns - _SHORTEST))
        return Stretch(start_ns, max(self.end_ns, start_ns + _SHORTEST))


class Places(Struct, frozen=True):
    """A run in its trace."""

    root: SpanRef
    """The span of the agent: what is said of the run stands below it."""
    resource: Resource
    whole: Stretch
    """From the root's first event to its last."""
    homes: dict[str, SpanRef]
    """The span of each event, by event id."""
    lasting: dict[SpanRef, Stretch]
    """From the first event of each span to its last."""

    def of(self, event_ids: Iterable[str]) -> Iterator[tuple[str, SpanRef]]:
        """Yield the events that have a span, with it."""
        for event_id in event_ids:
            home = self.homes.get(event_id)
            if home is not None:
                yield event_id, home

    def stretch(self, spans: Iterable[SpanRef]) -> Stretch:
        """Return the time that spans took together, inside the run; the whole run where they tell no time."""
        told = [self.lasting[span] for span in spans if span in self.lasting]
        if not told:
            return self.whole
        found = Stretch(min(one.start_ns for one in told), max(one.end_ns for one in told))
        return found.cut_to(self.whole).lasting_in(self.whole)


def places_of(session: Session) -> Places:
    """Return where the events of a session happened."""
    originals, _ = original_spans(session)
    homes: dict[str, SpanRef] = {}
    for event in session.events:
        if event.span is not None:
            homes.setdefault(event.event_id, event.span)
    root = _root(session)
    if root is None:
        homes = _replayed(session)
        root = SpanRef(trace_id_of(session.run_id), span_id_of(session.run_id, "run"))
    lasting = _lasting(session, homes)
    original = originals.get(root)
    return Places(
        root=root,
        resource=_service(session) if original is None else original.span.resource,
        whole=_whole(session, lasting.get(root)),
        homes=homes,
        lasting=lasting,
    )


def _root(session: Session) -> SpanRef | None:
    """Return the span of the first agent that began, else that of the first event that has one."""
    first: SpanRef | None = None
    for event in session.events:
        if event.span is None:
            continue
        if event.event_type == "agent_start":
            return event.span
        first = first or event.span
    return first


def _replayed(session: Session) -> dict[str, SpanRef]:
    by_number: dict[int, SpanRef] = {}
    for span in spans_of(session):
        ref = SpanRef(span.trace_id, span.span_id)
        for number in _numbers(span):
            by_number.setdefault(number, ref)
    homes: dict[str, SpanRef] = {}
    for number, event in enumerate(session.events):
        if number in by_number:
            homes.setdefault(event.event_id, by_number[number])
    return homes


def _numbers(span: Span) -> Iterator[int]:
    for held in (span.attributes, *(event.attributes for event in span.events)):
        for key in (SEQUENCE, END_SEQUENCE):
            number = held.get(key)
            if isinstance(number, int):
                yield number


def _lasting(session: Session, homes: dict[str, SpanRef]) -> dict[SpanRef, Stretch]:
    found: dict[SpanRef, Stretch] = {}
    for event in session.events:
        home = homes.get(event.event_id)
        if home is None or event.time_ns is None or event.time_ns < _EARLIEST:
            continue
        known = found.get(home, Stretch(event.time_ns, event.time_ns))
        found[home] = Stretch(min(known.start_ns, event.time_ns), max(known.end_ns, event.time_ns))
    return found


def _whole(session: Session, root: Stretch | None) -> Stretch:
    """Return the root's time; that of all events where the root has no end of its own."""
    if root is not None and root.end_ns - root.start_ns >= _SHORTEST:
        return root
    times = [event.time_ns for event in session.events if event.time_ns is not None and event.time_ns >= _EARLIEST]
    found = Stretch(min(times, default=_EARLIEST), max(times, default=_EARLIEST))
    return found.lasting_in(found)


def _service(session: Session) -> Resource:
    return tracks_of(session.run_id, trace_id_of(session.run_id), session.agent).resource
