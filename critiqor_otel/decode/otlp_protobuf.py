"""OTLP protobuf in, spans and log records out.

A request is read part by part, so that what is damaged costs itself only: a text its own bytes, a span with invalid ids
or a broken layout itself, a cut request what comes after the cut. Each such loss is a note.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from google.protobuf.message import DecodeError as ProtobufError

from critiqor_otel.decode import schema
from critiqor_otel.decode.any_value import attributes, text, value
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID, BadIdError, id_from_bytes
from critiqor_otel.decode.wire import mend
from critiqor_otel.errors import DecodeError
from critiqor_otel.span import Batch, Link, LogRecord, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["decode_logs", "decode_traces"]

_KINDS = {int(kind): kind for kind in SpanKind}
_CODES = {int(code): code for code in StatusCode}
_NO_TRACE_ID, _NO_SPAN_ID = bytes(TRACE_ID), bytes(SPAN_ID)
_TRACE_ID_FIRST = bytes((0x0A, TRACE_ID))  # the tag of the field, and its length
_Thing = TypeVar("_Thing", Resource, Scope)
_Known = dict[tuple[bytes, bytes], _Thing]
_RESOURCES: _Known[Resource] = {}
_SCOPES_READ: _Known[Scope] = {}
_MOST_KEPT, _LONGEST_KEPT = 1024, 4096
# Where a cut message is followed to its whole records: the field numbers of blocks and of their scopes.
_SCOPES = (2,)
_BLOCKS = (1, *_SCOPES)
_NOWHERE = ()
_EVENT_NAME = "event.name"

_ReadRecord = Callable[[bytes, Resource, Scope], Any]


def decode_traces(data: bytes, *, place: str = "", only: frozenset[bytes] | None = None) -> Batch:
    """Return the spans of an ExportTraceServiceRequest (several, concatenated, are one as well).

    Spans of one block share their resource and scope. The notes name what was left out or mended, at the place given.
    With `only`, spans whose bytes begin with the id of another trace than these are passed over.

    Raises:
        DecodeError: the bytes are no such request.
    """
    reader = _Reader(only)
    spans = [span for block in reader.blocks(schema.TRACES, data, "resource_spans") for span in reader.spans(block)]
    return Batch(spans=tuple(spans), notes=reader.findings.notes(place), rejected=reader.findings.rejected)


def decode_logs(data: bytes, *, place: str = "") -> Batch:
    """Return the log records of an ExportLogsServiceRequest; as `decode_traces`.

    Raises:
        DecodeError: the bytes are no such request.
    """
    reader = _Reader()
    logs = [log for block in reader.blocks(schema.LOGS, data, "resource_logs") for log in reader.logs(block)]
    return Batch(logs=tuple(logs), notes=reader.findings.notes(place), rejected=reader.findings.rejected)


class _Reader:
    """Reads one request and remembers what was wrong with it."""

    def __init__(self, only: frozenset[bytes] | None = None) -> None:
        self.findings = Findings()
        self._only = only
        self._trace_ids: dict[bytes, str] = {}
        self._statuses: dict[bytes, tuple[StatusCode, str]] = {b"": (StatusCode.UNSET, "")}

    def blocks(self, message: Any, data: bytes, field: str) -> Sequence[bytes]:
        request = self._whole(message, data, _BLOCKS)
        blocks: Sequence[bytes] = getattr(request, field)
        if data and not blocks:
            raise DecodeError(f"{len(data)} bytes are no OTLP request: they hold no {field}")
        return blocks

    def spans(self, block: bytes) -> Iterable[Span]:
        parts = self._whole(schema.RESOURCE_SPANS, block, _SCOPES)
        resource = self._resource(parts.resource, parts.schema_url)
        for part in (*parts.scope_spans, *parts.old_scope_spans):
            records = self._whole(schema.SCOPE_SPANS, part, _NOWHERE)
            spans = records.spans if self._only is None else [raw for raw in records.spans if self._is_wanted(raw)]
            yield from self._each(self._span, spans, resource, self._scope(records.scope, records.schema_url))

    def _is_wanted(self, raw: bytes) -> bool:
        """Tell whether a span may be of the wanted traces, by its first field."""
        return not raw.startswith(_TRACE_ID_FIRST) or raw[2 : 2 + TRACE_ID] in (self._only or ())

    def logs(self, block: bytes) -> Iterable[LogRecord]:
        parts = self._whole(schema.RESOURCE_LOGS, block, _SCOPES)
        resource = self._resource(parts.resource, parts.schema_url)
        for part in parts.scope_logs:
            records = self._whole(schema.SCOPE_LOGS, part, _NOWHERE)
            yield from self._each(
                self._log, records.log_records, resource, self._scope(records.scope, records.schema_url)
            )

    def _each(self, read: _ReadRecord, records: Sequence[bytes], resource: Resource, scope: Scope) -> Iterable[Any]:
        for raw in records:
            try:
                yield read(raw, resource, scope)
            except BadIdError as error:
                self.findings.add(Finding.INVALID_ID, str(error))
            except ProtobufError:
                self.findings.add(Finding.DAMAGED_RECORD, "its bytes have another layout")

    def _whole(self, message: Any, data: bytes, path: Sequence[int]) -> Any:
        try:
            return message.FromString(data)
        except ProtobufError:
            kept, at = mend(data, path)
        self.findings.add(Finding.CUT, f"{message.DESCRIPTOR.name} at byte {at} of {len(data)}")
        try:
            return message.FromString(kept)
        except ProtobufError:
            return message()

    def _resource(self, raw: bytes, schema_url: bytes) -> Resource:
        return _RESOURCES.get((raw, schema_url)) or self._kept(_RESOURCES, (raw, schema_url), self._read_resource)

    def _scope(self, raw: bytes, schema_url: bytes) -> Scope:
        return _SCOPES_READ.get((raw, schema_url)) or self._kept(_SCOPES_READ, (raw, schema_url), self._read_scope)

    def _kept(
        self, known: "_Known[_Thing]", parts: tuple[bytes, bytes], read: Callable[[bytes, bytes], _Thing]
    ) -> _Thing:
        """Read what many requests begin with: the same bytes become one object, unless something is wrong with them."""
        wrong = self.findings.total
        thing = read(*parts)
        if self.findings.total == wrong and len(parts[0]) <= _LONGEST_KEPT:
            if len(known) >= _MOST_KEPT:
                known.clear()
            known[parts] = thing
        return thing

    def _read_resource(self, raw: bytes, schema_url: bytes) -> Resource:
        resource = self._whole(schema.RESOURCE, raw, _NOWHERE)
        return Resource(attributes(resource.attributes, self.findings), self._text(schema_url))

    def _read_scope(self, raw: bytes, schema_url: bytes) -> Scope:
        scope = self._whole(schema.SCOPE, raw, _NOWHERE)
        held = attributes(scope.attributes, self.findings)
        return Scope(self._text(scope.name), self._text(scope.version), held, self._text(schema_url))

    def _span(self, raw: bytes, resource: Resource, scope: Scope) -> Span:
        span = schema.SPAN.FromString(raw)
        trace_id = self._trace_ids.get(span.trace_id) or self._trace_id(span.trace_id)
        span_id = span.span_id
        if len(span_id) != SPAN_ID or span_id == _NO_SPAN_ID:
            id_from_bytes(span_id, SPAN_ID)
        parent = span.parent_span_id
        status, message = self._statuses.get(span.status) or self._status(span.status)
        events, links = span.events, span.links
        return Span(
            trace_id=trace_id,
            span_id=span_id.hex(),
            parent_span_id=self._parent(parent) if parent else None,
            name=self._text(span.name),
            kind=_KINDS.get(span.kind) or self._kind(span.kind),
            start_ns=span.start_time_unix_nano,
            end_ns=span.end_time_unix_nano,
            attributes=attributes(span.attributes, self.findings),
            status=status,
            status_message=message,
            events=tuple([self._event(event) for event in events]) if events else (),
            links=self._links(links) if links else (),
            trace_state=self._text(span.trace_state),
            flags=span.flags,
            dropped_attributes=span.dropped_attributes_count,
            dropped_events=span.dropped_events_count,
            dropped_links=span.dropped_links_count,
            resource=resource,
            scope=scope,
        )

    def _log(self, raw: bytes, resource: Resource, scope: Scope) -> LogRecord:
        log = schema.LOG_RECORD.FromString(raw)
        held = attributes(log.attributes, self.findings)
        named = held.get(_EVENT_NAME)
        return LogRecord(
            time_ns=log.time_unix_nano or log.observed_time_unix_nano,
            name=self._text(log.event_name) or (named if isinstance(named, str) else ""),
            trace_id=self._reference(log.trace_id, TRACE_ID),
            span_id=self._reference(log.span_id, SPAN_ID),
            body=value(log.body, self.findings),
            attributes=held,
            severity_number=log.severity_number,
            severity_text=self._text(log.severity_text),
            resource=resource,
            scope=scope,
        )

    def _event(self, raw: bytes) -> SpanEvent:
        event = schema.EVENT.FromString(raw)
        held = attributes(event.attributes, self.findings)
        return SpanEvent(event.time_unix_nano, self._text(event.name), held, event.dropped_attributes_count)

    def _links(self, links: Sequence[bytes]) -> tuple[Link, ...]:
        read = [self._link(schema.LINK.FromString(raw)) for raw in links]
        return tuple([link for link in read if link is not None])

    def _link(self, link: Any) -> Link | None:
        try:
            trace_id, span_id = self._trace_id(link.trace_id), id_from_bytes(link.span_id, SPAN_ID)
        except BadIdError as error:
            self.findings.add(Finding.INVALID_LINK, str(error))
            return None
        return Link(
            trace_id,
            span_id,
            attributes(link.attributes, self.findings),
            trace_state=self._text(link.trace_state),
            flags=link.flags,
            dropped_attributes=link.dropped_attributes_count,
        )

    def _trace_id(self, raw: bytes) -> str:
        found = self._trace_ids[raw] = self._trace_ids.get(raw) or id_from_bytes(raw, TRACE_ID)
        return found

    def _parent(self, raw: bytes) -> str | None:
        if len(raw) != SPAN_ID:
            self.findings.add(Finding.INVALID_PARENT, f"of {len(raw)} bytes")
            return None
        return None if raw == _NO_SPAN_ID else raw.hex()

    def _reference(self, raw: bytes, size: int) -> str | None:
        if not any(raw):
            return None
        try:
            return self._trace_id(raw) if size == TRACE_ID else id_from_bytes(raw, size)
        except BadIdError as error:
            self.findings.add(Finding.INVALID_LINK, str(error))
            return None

    def _status(self, raw: bytes) -> tuple[StatusCode, str]:
        status = self._whole(schema.STATUS, raw, _NOWHERE)
        code = _CODES.get(status.code)
        if code is None:
            self.findings.add(Finding.BAD_VALUE, "a status code OTLP does not know")
        read = self._statuses[raw] = code or StatusCode.UNSET, self._text(status.message)
        return read

    def _kind(self, number: int) -> SpanKind:
        if number:
            self.findings.add(Finding.BAD_VALUE, "a span kind OTLP does not know")
        return SpanKind.UNSPECIFIED

    def _text(self, raw: bytes) -> str:
        return text(raw, self.findings) if raw else ""
