"""A span that is still being told: what events add to it until it ends.

The SDK keeps 128 events a span. What comes after goes on in continuation spans below it, so that none is lost.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from analyzer.session.model import Event
from critiqor_otel.conventions.carriage import END_EVENT, END_SEQUENCE, EVENT, RUN_ID, SEQUENCE, UNFINISHED, event_text
from critiqor_otel.emit.derived_ids import span_id_of
from critiqor_otel.emit.genai import error_attributes, happening_attributes, happening_name
from critiqor_otel.emit.plain_values import text_of_json
from critiqor_otel.span import Link, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["EVENTS_PER_SPAN", "OpenSpan", "Told", "Tracks"]

EVENTS_PER_SPAN = 128  # OTEL_SPAN_EVENT_COUNT_LIMIT, the SDK's default

_MAX_TIME = (1 << 63) - 1


class Told:
    """An event with its place in the run and the time its span shows: its own, or that of the event before it."""

    __slots__ = ("event", "sequence", "time_ns")

    def __init__(self, event: Event, sequence: int, before_ns: int) -> None:
        """Take the event; one without a time happened when the one before it did."""
        self.event = event
        self.sequence = sequence
        self.time_ns = before_ns if event.time_ns is None else min(max(event.time_ns, 1), _MAX_TIME)


class Tracks:
    """What all spans of a run have in common: the run, the trace, who tells of it."""

    __slots__ = ("resource", "run_id", "scope", "trace_id")

    def __init__(self, run_id: str, trace_id: str, resource: Resource, scope: Scope) -> None:
        """Take the run id as it is (ids follow from it), and what stands on every span."""
        self.run_id = run_id
        self.trace_id = trace_id
        self.resource = resource
        self.scope = scope


class OpenSpan:
    """One span under way."""

    __slots__ = (
        "_attributes",
        "_continuations",
        "_continued",
        "_end_ns",
        "_error",
        "_events",
        "_kind",
        "_links",
        "_start_ns",
        "_tracks",
        "name",
        "parent_span_id",
        "span_id",
    )

    def __init__(self, tracks: Tracks, part: str, name: str, *, parent: str | None, kind: SpanKind) -> None:
        """Begin a span for a part of the run, from which its id follows."""
        self.span_id = span_id_of(tracks.run_id, part)
        self.parent_span_id = parent
        self.name = name
        self._tracks = tracks
        self._kind = kind
        self._attributes: dict[str, Any] = {RUN_ID: text_of_json(tracks.run_id)}
        self._events: list[SpanEvent] = []
        self._links: tuple[Link, ...] = ()
        self._start_ns: int | None = None
        self._end_ns: int | None = None
        self._error: str | None = None
        self._continued: OpenSpan | None = None
        self._continuations = 0

    def begin(self, told: Told, attributes: dict[str, Any]) -> None:
        """Let the event be the span's first."""
        self._reach(told.time_ns)
        self._attributes |= {**attributes, EVENT: event_text(told.event), SEQUENCE: told.sequence}

    def end(self, told: Told, attributes: dict[str, Any], *, failed: bool) -> None:
        """Let the event be the span's last."""
        self._reach(told.time_ns)
        # What the start said stays where both say it.
        self._attributes = {**attributes, **self._attributes}
        self._attributes |= {END_EVENT: event_text(told.event), END_SEQUENCE: told.sequence}
        if failed:
            self.fail(told.event)

    def fail(self, event: Event) -> None:
        """Say that what the span tells of failed."""
        self._attributes |= error_attributes(event)
        self._error = "" if event.error is None else text_of_json(event.error)

    def last_from(self, duration_ms: float | None) -> None:
        """Let the span of a single event begin as long before it as the event lasted."""
        if duration_ms is not None and self._start_ns is not None and 0 <= duration_ms <= self._start_ns / 1e6:
            self._start_ns = max(self._start_ns - int(duration_ms * 1e6), 1)

    def add(self, told: Told) -> Iterator[Span]:
        """Let the event be one of the span's events; yield the continuation span that is full with it."""
        self._reach(told.time_ns)
        if len(self._events) < EVENTS_PER_SPAN:
            self._events.append(_span_event(told))
            return
        if self._continued is None:
            self._continued = self._continuation()
        yield from self._continued.add(told)
        if self._continued.is_full:
            yield self._continued.span()
            self._continued = None

    @property
    def is_full(self) -> bool:
        """No further event fits."""
        return len(self._events) >= EVENTS_PER_SPAN

    def set(self, attributes: Mapping[str, Any]) -> None:
        """Add attributes."""
        self._attributes |= attributes

    def link(self, other: Link) -> None:
        """Point to another span."""
        self._links = (*self._links, other)

    def spans(self, time_ns: int | None = None) -> Iterator[Span]:
        """Yield the finished span and what continues it; one without an end reaches to the time given, unfinished."""
        if time_ns is not None:
            self._reach(time_ns)
            self.set({UNFINISHED: True})
        if self._continued is not None:
            yield self._continued.span()
        yield self.span()

    def span(self) -> Span:
        """Return the span as it is."""
        return Span(
            trace_id=self._tracks.trace_id,
            span_id=self.span_id,
            parent_span_id=self.parent_span_id,
            name=self.name,
            kind=self._kind,
            start_ns=self._start_ns or 1,
            end_ns=self._end_ns or 1,
            attributes=self._attributes,
            status=StatusCode.UNSET if self._error is None else StatusCode.ERROR,
            status_message=self._error or "",
            events=tuple(self._events),
            links=self._links,
            resource=self._tracks.resource,
            scope=self._tracks.scope,
        )

    def _continuation(self) -> "OpenSpan":
        self._continuations += 1
        part = f"more {self._continuations} of {self.span_id}"
        return OpenSpan(self._tracks, part, f"{self.name} (continued)", parent=self.span_id, kind=SpanKind.INTERNAL)

    def _reach(self, time_ns: int) -> None:
        self._start_ns = time_ns if self._start_ns is None else min(self._start_ns, time_ns)
        self._end_ns = time_ns if self._end_ns is None else max(self._end_ns, time_ns)


def _span_event(told: Told) -> SpanEvent:
    attributes = happening_attributes(told.event)
    return SpanEvent(
        told.time_ns,
        happening_name(told.event),
        {**attributes, EVENT: event_text(told.event), SEQUENCE: told.sequence},
    )
