"""Spans become the bytes of an OTLP request, written straight into the wire format.

Building protobuf messages first costs five times as much. Spans of the SDK are written as they are, without becoming
neutral spans on the way.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext

from critiqor_otel.conventions.carriage import CARRIED
from critiqor_otel.decode.sdk import held_events, held_links
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.emit.wire_values import AttributeWriter, fixed64, written_field, written_text, written_varint
from critiqor_otel.span import Span

__all__ = ["Encoded", "OtlpEncoder", "encode_request", "request_of"]

_FIXED32 = struct.Struct("<I").pack
_REMEMBERED = 256  # resources and scopes; a process has a handful
_PARENT_KNOWN, _PARENT_REMOTE = 0x100, 0x200  # SpanFlags of OTLP 1.x

_Frame = tuple[bytes, bytes]
"""What stands before the entries of a resource or scope, and what stands behind."""

_Event = tuple[int, str, Mapping[str, Any]]
_Link = tuple[bytes, bytes, Mapping[str, Any]]


class Encoded(NamedTuple):
    """A span in bytes, with the resource and scope it belongs below."""

    resource: _Frame
    scope: _Frame
    span: bytes

    @property
    def size(self) -> int:
        """Bytes it takes in a request, at most."""
        return len(self.span) + sum(map(len, (*self.resource, *self.scope))) + 24


def encode_request(spans: Iterable[Span]) -> bytes:
    """Return an ExportTraceServiceRequest with the spans, as they are."""
    encoder = OtlpEncoder(None)
    return request_of([encoder.span(span) for span in spans])


def request_of(encoded: Iterable[Encoded]) -> bytes:
    """Return the request of spans in bytes, those of one resource and scope together."""
    resources: dict[_Frame, dict[_Frame, list[bytes]]] = {}
    for one in encoded:
        resources.setdefault(one.resource, {}).setdefault(one.scope, []).append(one.span)
    return b"".join(
        written_field(b"\x0a", b"".join((before, *map(_scope_spans, scopes.items()), behind)))
        for (before, behind), scopes in resources.items()
    )


def _scope_spans(item: tuple[_Frame, list[bytes]]) -> bytes:
    (before, behind), spans = item
    return written_field(b"\x12", b"".join((before, *spans, behind)))


class OtlpEncoder:
    """Writes spans by the rules of a redaction; remembers the resources and scopes they share."""

    def __init__(self, redaction: Redaction | None, *, spared: frozenset[str] = CARRIED) -> None:
        """Take the rules (None: nothing is scrubbed) and the attributes that they leave alone."""
        self._redaction = redaction
        self._attributes = AttributeWriter(redaction, spared=spared)
        self._frames: dict[int, tuple[object, _Frame]] = {}

    def span(self, span: Span) -> Encoded:
        """Return a neutral span in bytes."""
        return Encoded(
            self._frame(span.resource, self._resource),
            self._frame(span.scope, self._scope),
            self._written(_neutral(span)),
        )

    def sdk_span(self, span: ReadableSpan, attributes: tuple[Mapping[str, Any], ...]) -> Encoded:
        """Return a span of the SDK in bytes, with these attributes for its own."""
        return Encoded(
            self._frame(span.resource, self._resource),
            self._frame(span.instrumentation_scope, self._scope),
            self._written(_of_sdk(span, attributes)),
        )

    def _written(self, raw: "_Raw") -> bytes:
        parts = [b"\x0a\x10", raw.trace_id, b"\x12\x08", raw.span_id]
        if raw.trace_state:
            parts.append(self._text(b"\x1a", raw.trace_state))
        if raw.parent is not None:
            parts += (b"\x22\x08", raw.parent)
        parts += (
            self._text(b"\x2a", raw.name),
            b"\x30" + written_varint(raw.kind),
            b"\x39" + fixed64(raw.start_ns),
            b"\x41" + fixed64(raw.end_ns),
        )
        for held in raw.attributes:
            self._attributes.write(parts, b"\x4a", held)
        if raw.events or raw.links:
            parts += [written_field(b"\x5a", self._event(event)) for event in raw.events]
            parts += [written_field(b"\x6a", self._link(link)) for link in raw.links]
        self._write_rest(parts, raw)
        return written_field(b"\x12", b"".join(parts))

    def _write_rest(self, parts: list[bytes], raw: "_Raw") -> None:
        """Append what most spans have nothing of."""
        if any(raw.dropped):
            parts += [tag + written_varint(count) for tag, count in zip(_DROPPED, raw.dropped, strict=True) if count]
        if raw.status or raw.message:
            message = self._text(b"\x12", raw.message) if raw.message else b""
            parts.append(written_field(b"\x7a", message + b"\x18" + written_varint(raw.status)))
        if raw.flags:
            parts.append(b"\x85\x01" + _FIXED32(raw.flags & 0xFFFFFFFF))

    def _event(self, event: _Event) -> bytes:
        time_ns, name, held = event
        parts = [b"\x09" + fixed64(time_ns), self._text(b"\x12", name)]
        self._attributes.write(parts, b"\x1a", held)
        return b"".join(parts)

    def _link(self, link: _Link) -> bytes:
        trace_id, span_id, held = link
        parts = [b"\x0a\x10", trace_id, b"\x12\x08", span_id]
        self._attributes.write(parts, b"\x22", held)
        return b"".join(parts)

    def _frame(self, thing: Any, write: Callable[[Any], _Frame]) -> _Frame:
        known = self._frames.get(id(thing))
        if known is not None:
            return known[1]
        if len(self._frames) >= _REMEMBERED:
            self._frames.clear()
        frame = write(thing)
        self._frames[id(thing)] = (thing, frame)  # holds the thing, so that its id() stays its own
        return frame

    def _resource(self, resource: Any) -> _Frame:
        parts: list[bytes] = []
        self._attributes.write(parts, b"\x0a", resource.attributes)
        return written_field(b"\x0a", b"".join(parts)), self._url(resource.schema_url)

    def _scope(self, scope: Any) -> _Frame:
        if scope is None:
            return b"", b""
        parts = [self._text(b"\x0a", scope.name), self._text(b"\x12", scope.version or "")]
        self._attributes.write(parts, b"\x1a", scope.attributes or {})
        return written_field(b"\x0a", b"".join(parts)), self._url(scope.schema_url)

    def _url(self, schema_url: str | None) -> bytes:
        return self._text(b"\x1a", schema_url) if schema_url else b""

    def _text(self, tag: bytes, text: str) -> bytes:
        return written_text(tag, text if self._redaction is None else self._redaction.text(text))


_DROPPED = (b"\x50", b"\x60", b"\x70")


class _Raw(NamedTuple):
    """What is written of a span, whatever form it came in."""

    trace_id: bytes
    span_id: bytes
    parent: bytes | None
    name: str
    kind: int
    start_ns: int
    end_ns: int
    attributes: tuple[Mapping[str, Any], ...]
    events: Sequence[_Event]
    links: Sequence[_Link]
    status: int
    message: str
    trace_state: str
    flags: int
    dropped: tuple[int, int, int]


def _neutral(span: Span) -> _Raw:
    return _Raw(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent=None if span.parent_span_id is None else bytes.fromhex(span.parent_span_id),
        name=span.name,
        kind=span.kind,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        attributes=(span.attributes,),
        events=[(event.time_ns, event.name, event.attributes) for event in span.events],
        links=[(bytes.fromhex(one.trace_id), bytes.fromhex(one.span_id), one.attributes) for one in span.links],
        status=span.status,
        message=span.status_message,
        trace_state=span.trace_state,
        flags=span.flags,
        dropped=(span.dropped_attributes, span.dropped_events, span.dropped_links),
    )


def _of_sdk(span: ReadableSpan, attributes: tuple[Mapping[str, Any], ...]) -> _Raw:
    context = span.get_span_context() or _NO_CONTEXT
    parent, status = span.parent, span.status
    events, links = held_events(span), held_links(span)
    return _Raw(
        context.trace_id.to_bytes(16, "big"),
        context.span_id.to_bytes(8, "big"),
        None if parent is None else parent.span_id.to_bytes(8, "big"),
        span.name,
        span.kind.value + 1,
        span.start_time or 0,
        span.end_time or 0,
        attributes,
        [(event.timestamp, event.name, event.attributes or {}) for event in events] if events else (),
        [_sdk_link(link) for link in links] if links else (),
        status.status_code.value,
        status.description or "",
        context.trace_state.to_header() if context.trace_state else "",
        _PARENT_KNOWN if parent is None or not parent.is_remote else _PARENT_KNOWN | _PARENT_REMOTE,
        (span.dropped_attributes, span.dropped_events, span.dropped_links),
    )


def _sdk_link(link: Any) -> _Link:
    context: SpanContext = link.context
    return context.trace_id.to_bytes(16, "big"), context.span_id.to_bytes(8, "big"), link.attributes or {}


_NO_CONTEXT = SpanContext(0, 0, is_remote=False)
