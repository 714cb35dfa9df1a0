"""Spans, log records and sessions as bytes that name their trace, so that they can be sent and sorted unread.

MessagePack through typed structs, a few microseconds a span. What it can't hold (halves of characters, numbers beyond
64 bits) is pickled: only this package's own work folder is ever read back.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from functools import cache
from typing import Any

import msgspec

from analyzer.session.codec import read_session, write_session
from analyzer.session.model import Session
from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.reconstruct.ties import name_of_session
from critiqor_otel.span import Batch, Link, LogRecord, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["Kind", "Packer", "Record", "Segment", "Unpacked", "pack_segment", "unpack", "unpack_segment"]

_UNPACKABLE = (UnicodeEncodeError, OverflowError, TypeError, msgspec.ValidationError)


class Kind(IntEnum):
    """What a record holds."""

    SPAN = 0
    LOG = 1
    SESSION = 2
    """A session as its file: nested deeper than a pickle may be."""
    ODD = 3
    """Any of them, pickled."""


class Record(msgspec.Struct, array_like=True, gc=False):
    """One span, log record or session, packed."""

    trace_id: str
    """Its trace, or the name of its session."""
    kind: int
    content: msgspec.Raw


class Segment(msgspec.Struct, array_like=True):
    """Records of one file, and the resources and scopes they name by number."""

    place: str | None
    resources: list[bytes]
    scopes: list[bytes]
    records: list[Record]


_Shared = Callable[[bytes], Any]
"""Gives what a resource or a scope was before it was packed."""
_Event = tuple[int, str, dict[str, Any], int]
_Link = tuple[str, str, dict[str, Any], str, int, int]
_Rest = tuple[str, tuple[_Event, ...], tuple[_Link, ...], str, int, int, int, int]


class _Span(msgspec.Struct, array_like=True):
    span_id: str
    parent_span_id: str | None
    name: str
    kind: SpanKind
    start_ns: int
    end_ns: int
    attributes: dict[str, Any]
    status: StatusCode
    resource: int
    scope: int
    rest: _Rest | None
    """What most spans lack: message, events, links, state, flags, and what was dropped."""


class _Log(msgspec.Struct, array_like=True):
    time_ns: int
    name: str
    has_trace: bool
    span_id: str | None
    body: Any
    attributes: dict[str, Any]
    severity_number: int
    severity_text: str
    resource: int
    scope: int


class Unpacked(msgspec.Struct):
    """What some records hold."""

    spans: list[Span] = []
    logs: list[LogRecord] = []
    sessions: list[Session] = []
    places: list[str | None] = []
    """The file of each session."""


_encode = msgspec.msgpack.Encoder().encode
_decode_span = msgspec.msgpack.Decoder(_Span).decode
_decode_log = msgspec.msgpack.Decoder(_Log).decode
_decode_bytes = msgspec.msgpack.Decoder(bytes).decode
_decode_segment = msgspec.msgpack.Decoder(Segment).decode
_NO_REST: _Rest = ("", (), (), "", 0, 0, 0, 0)


class Packer:
    """Packs what batches of one file hold, record by record."""

    def __init__(self, place: str | None) -> None:
        """Begin without resources and scopes."""
        self.place = place
        self._resources = _Numbered()
        self._scopes = _Numbered()

    def records(self, batch: Batch) -> Iterator[Record]:
        """Yield a record for each thing; a log record that belongs to no trace is among those of the trace ""."""
        for span in batch.spans:
            yield self._record(span.trace_id, Kind.SPAN, span, self._span)
        for log in batch.logs:
            made = span_of_record(log)
            trace_id = log.trace_id if made is None else made.trace_id
            yield self._record(trace_id or "", Kind.LOG, log, self._log)
        for session in batch.sessions:
            yield _session(session)

    def tables(self) -> tuple[list[bytes], list[bytes]]:
        """Return the resources and the scopes so far, as a segment holds them."""
        return list(self._resources.things), list(self._scopes.things)

    def _record(self, trace_id: str, kind: Kind, thing: Any, packed: Any) -> Record:
        try:
            return Record(trace_id, kind, msgspec.Raw(packed(thing)))
        except _UNPACKABLE:
            return Record(trace_id, Kind.ODD, msgspec.Raw(_encode(pickle.dumps(thing))))

    def _span(self, span: Span) -> bytes:
        rest = (
            span.status_message,
            [msgspec.structs.astuple(event) for event in span.events],
            [msgspec.structs.astuple(link) for link in span.links],
            span.trace_state,
            span.flags,
            span.dropped_attributes,
            span.dropped_events,
            span.dropped_links,
        )
        return _encode(
            (
                span.span_id,
                span.parent_span_id,
                span.name,
                span.kind,
                span.start_ns,
                span.end_ns,
                span.attributes,
                span.status,
                self._resources.number(span.resource),
                self._scopes.number(span.scope),
                rest if any(rest) else None,
            )
        )

    def _log(self, log: LogRecord) -> bytes:
        return _encode(
            (
                log.time_ns,
                log.name,
                log.trace_id is not None,
                log.span_id,
                log.body,
                log.attributes,
                log.severity_number,
                log.severity_text,
                self._resources.number(log.resource),
                self._scopes.number(log.scope),
            )
        )


class _Numbered:
    """Things by number, each different one once as far as that is cheap to tell."""

    def __init__(self) -> None:
        self.things: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        self._last: Any = None
        self._last_number = -1

    def number(self, thing: Resource | Scope) -> int:
        if thing is not self._last:
            packed = pickle.dumps(thing)
            number = self._numbers.setdefault(packed, len(self.things))
            if number == len(self.things):
                self.things.append(packed)
            self._last, self._last_number = thing, number
        return self._last_number


def _session(session: Session) -> Record:
    name = name_of_session(session.run_id)
    try:
        return Record(name, Kind.ODD, msgspec.Raw(_encode(pickle.dumps(session))))
    except RecursionError:
        return Record(name, Kind.SESSION, msgspec.Raw(_encode(write_session(session))))


def pack_segment(segment: Segment) -> bytes:
    """Return a segment as bytes."""
    return _encode(segment)


def unpack_segment(data: bytes) -> Segment:
    """Return the segment that bytes of `pack_segment` hold; its records share their memory."""
    return _decode_segment(data)


def unpack(parts: Iterable[tuple[Segment, Record]]) -> Unpacked:
    """Return what records hold, each given with the segment that it stands in."""
    found = Unpacked()
    shared = cache(pickle.loads)  # what many records point at is unpacked once, and is one thing in all of them
    for segment, record in parts:
        thing = _READERS[record.kind](segment, record, shared)
        if isinstance(thing, Span):
            found.spans.append(thing)
        elif isinstance(thing, LogRecord):
            found.logs.append(thing)
        else:
            found.sessions.append(thing)
            found.places.append(segment.place)
    return found


def _read_span(segment: Segment, record: Record, shared: _Shared) -> Span:
    packed = _decode_span(record.content)
    message, events, links, state, flags, attributes_less, events_less, links_less = packed.rest or _NO_REST
    return Span(
        trace_id=record.trace_id,
        span_id=packed.span_id,
        parent_span_id=packed.parent_span_id,
        name=packed.name,
        kind=packed.kind,
        start_ns=packed.start_ns,
        end_ns=packed.end_ns,
        attributes=packed.attributes,
        status=packed.status,
        status_message=message,
        events=tuple([SpanEvent(*event) for event in events]),
        links=tuple([Link(*link) for link in links]),
        trace_state=state,
        flags=flags,
        dropped_attributes=attributes_less,
        dropped_events=events_less,
        dropped_links=links_less,
        resource=shared(segment.resources[packed.resource]),
        scope=shared(segment.scopes[packed.scope]),
    )


def _read_log(segment: Segment, record: Record, shared: _Shared) -> LogRecord:
    packed = _decode_log(record.content)
    return LogRecord(
        time_ns=packed.time_ns,
        name=packed.name,
        trace_id=record.trace_id if packed.has_trace else None,
        span_id=packed.span_id,
        body=packed.body,
        attributes=packed.attributes,
        severity_number=packed.severity_number,
        severity_text=packed.severity_text,
        resource=shared(segment.resources[packed.resource]),
        scope=shared(segment.scopes[packed.scope]),
    )


def _read_odd(_segment: Segment, record: Record, _shared: _Shared) -> Any:
    return pickle.loads(_decode_bytes(record.content))  # noqa: S301  # written by this package, read back by it


def _read_text(_segment: Segment, record: Record, _shared: _Shared) -> Session:
    return read_session(_decode_bytes(record.content))


_READERS: dict[int, Callable[[Segment, Record, _Shared], Any]] = {
    Kind.SPAN: _read_span,
    Kind.LOG: _read_log,
    Kind.SESSION: _read_text,
    Kind.ODD: _read_odd,
}
