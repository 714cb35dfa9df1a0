"""Spans become the bytes of an OTLP request, written straight into the wire format.

Building protobuf messages first costs five times as much. Spans of the SDK are written as they are, without becoming
neutral spans on the way.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from critiqor_otel.conventions.carriage import CARRIED
from critiqor_otel.decode.sdk import has_more, held_drops, held_events, held_links
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.emit.wire_values import AttributeWriter, fixed64, written_field, written_text, written_varint
from critiqor_otel.span import Resource, Scope, Span

__all__ = ["Encoded", "Frames", "OtlpEncoder", "encode_request", "request_of"]

_FLAGS = struct.Struct("<I").pack
_TIMES = struct.Struct("<sQsQ").pack
_LARGEST = (1 << 64) - 1
_REMEMBERED = 256  # resources, scopes and names; a process has a handful
_FRAMING = 64  # bytes of tags and lengths around a span, at most
_DROPPED = (b"\x50", b"\x60", b"\x70")
# SpanFlags of OTLP 1.x: whether the parent is remote is known, and that it is.
_LOCAL, _REMOTE = (b"\x85\x01" + _FLAGS(flags) for flags in (0x100, 0x300))

_Frame = tuple[bytes, bytes]
"""What stands before the entries of a resource or scope, and what stands behind."""

_Event = tuple[int, str, Mapping[str, Any]]
_Link = tuple[bytes, bytes, Mapping[str, Any]]


class Frames(NamedTuple):
    """The resource and the scope that spans belong below."""

    resource: _Frame
    scope: _Frame
    size: int
    """Bytes that they take in a request, with the tags and lengths around them and a span, at most."""


class Encoded(NamedTuple):
    """A span in bytes, with the resource and scope it belongs below."""

    frames: Frames
    span: bytes

    @property
    def size(self) -> int:
        """Bytes it takes in a request, at most."""
        return len(self.span) + self.frames.size


class _Rest(NamedTuple):
    """What most spans have nothing of."""

    events: Sequence[_Event]
    links: Sequence[_Link]
    status: int
    message: str
    trace_state: str
    dropped: tuple[int, int, int]


def encode_request(spans: Iterable[Span]) -> bytes:
    """Return an ExportTraceServiceRequest with the spans, as they are."""
    encoder = OtlpEncoder(None)
    return request_of([encoder.span(span) for span in spans])


def request_of(encoded: Sequence[Encoded]) -> bytes:
    """Return the request of spans in bytes, those of one resource and scope together."""
    blocks: dict[int, tuple[Frames, list[bytes]]] = {}
    for frames, span in encoded:
        block = blocks.get(id(frames))
        if block is None:
            block = blocks[id(frames)] = (frames, [])
        block[1].append(span)
    resources: dict[_Frame, list[bytes]] = {}
    for frames, spans in blocks.values():
        resources.setdefault(frames.resource, []).extend(_field(b"\x12", (frames.scope[0], *spans, frames.scope[1])))
    return b"".join(
        part for (before, behind), parts in resources.items() for part in _field(b"\x0a", (before, *parts, behind))
    )


def _field(tag: bytes, content: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return a field in pieces: a request is put together once, since its bytes are many."""
    return (tag, written_varint(sum(map(len, content))), *content)


class OtlpEncoder:
    """Writes spans by the rules of a redaction; remembers the resources, scopes and names they share."""

    def __init__(self, redaction: Redaction | None, *, spared: frozenset[str] = CARRIED) -> None:
        """Take the rules (None: nothing is scrubbed) and the attributes that they leave alone."""
        self._redaction = redaction
        self._of_span, self._of_event, self._of_link, self._of_resource = (
            AttributeWriter(tag, redaction, spared=spared) for tag in (b"\x4a", b"\x1a", b"\x22", b"\x0a")
        )
        self._frames: dict[tuple[int, int], tuple[object, object, Frames]] = {}
        self._names: dict[str, bytes] = {}

    def span(self, span: Span) -> Encoded:
        """Return a neutral span in bytes."""
        parts = [b"\x0a\x10", bytes.fromhex(span.trace_id), b"\x12\x08", bytes.fromhex(span.span_id)]
        if span.parent_span_id is not None:
            parts += (b"\x22\x08", bytes.fromhex(span.parent_span_id))
        parts += (
            self._names.get(span.name) or self._name(span.name),
            b"\x30" + written_varint(span.kind),
            _TIMES(b"\x39", _held(span.start_ns), b"\x41", _held(span.end_ns)),
        )
        self._of_span.write(parts, span.attributes)
        rest = _Rest(
            [(event.time_ns, event.name, event.attributes) for event in span.events],
            [(bytes.fromhex(one.trace_id), bytes.fromhex(one.span_id), one.attributes) for one in span.links],
            span.status,
            span.status_message,
            span.trace_state,
            (span.dropped_attributes, span.dropped_events, span.dropped_links),
        )
        self._write_rest(parts, rest)
        if span.flags:
            parts.append(b"\x85\x01" + _FLAGS(span.flags & 0xFFFFFFFF))
        return Encoded(self._under(span.resource, span.scope), written_field(b"\x12", b"".join(parts)))

    def sdk_span(self, span: ReadableSpan, attributes: Iterable[Mapping[str, Any]]) -> Encoded:
        """Return a span of the SDK in bytes, with these attributes for its own."""
        context, parent, name = span.get_span_context() or _NO_CONTEXT, span.parent, span.name
        parts = [b"\x0a\x10", context.trace_id.to_bytes(16, "big"), b"\x12\x08", context.span_id.to_bytes(8, "big")]
        if parent is not None:
            parts += (b"\x22\x08", parent.span_id.to_bytes(8, "big"))
        parts += (
            self._names.get(name) or self._name(name),
            _SDK_KINDS[span.kind],
            _TIMES(b"\x39", _held(span.start_time or 0), b"\x41", _held(span.end_time or 0)),
        )
        for held in attributes:
            self._of_span.write(parts, held)
        if span.status.status_code is not StatusCode.UNSET or has_more(span) or context.trace_state:
            self._write_rest(parts, _sdk_rest(span))
        parts.append(_REMOTE if parent is not None and parent.is_remote else _LOCAL)
        return Encoded(self._under(span.resource, span.instrumentation_scope), written_field(b"\x12", b"".join(parts)))

    def _write_rest(self, parts: list[bytes], rest: _Rest) -> None:
        if rest.trace_state:
            parts.append(self._text(b"\x1a", rest.trace_state))
        parts += [written_field(b"\x5a", self._event(event)) for event in rest.events]
        parts += [written_field(b"\x6a", self._link(link)) for link in rest.links]
        if any(rest.dropped):
            parts += [tag + written_varint(count) for tag, count in zip(_DROPPED, rest.dropped, strict=True) if count]
        if rest.status or rest.message:
            message = self._text(b"\x12", rest.message) if rest.message else b""
            parts.append(written_field(b"\x7a", message + b"\x18" + written_varint(rest.status)))

    def _name(self, name: str) -> bytes:
        if len(self._names) >= _REMEMBERED:
            self._names.clear()
        written = self._names[name] = self._text(b"\x2a", name)
        return written

    def _event(self, event: _Event) -> bytes:
        time_ns, name, held = event
        parts = [b"\x09" + fixed64(time_ns), self._text(b"\x12", name)]
        self._of_event.write(parts, held)
        return b"".join(parts)

    def _link(self, link: _Link) -> bytes:
        trace_id, span_id, held = link
        parts = [b"\x0a\x10", trace_id, b"\x12\x08", span_id]
        self._of_link.write(parts, held)
        return b"".join(parts)

    def _under(self, resource: Any, scope: Any) -> Frames:
        known = self._frames.get((id(resource), id(scope)))
        if known is not None:
            return known[2]
        if len(self._frames) >= _REMEMBERED:
            self._frames.clear()
        of_resource, of_scope = self._resource(resource), self._scope(scope)
        frames = Frames(of_resource, of_scope, sum(map(len, (*of_resource, *of_scope))) + _FRAMING)
        self._frames[id(resource), id(scope)] = (resource, scope, frames)  # holds them, so that their ids stay theirs
        return frames

    def _resource(self, resource: Resource | Any) -> _Frame:
        parts: list[bytes] = []
        self._of_resource.write(parts, resource.attributes)
        return written_field(b"\x0a", b"".join(parts)), self._url(resource.schema_url)

    def _scope(self, scope: Scope | Any) -> _Frame:
        if scope is None:
            return b"", b""
        parts = [self._text(b"\x0a", scope.name), self._text(b"\x12", scope.version or "")]
        self._of_event.write(parts, scope.attributes or {})  # a scope has the tag of an event
        return written_field(b"\x0a", b"".join(parts)), self._url(scope.schema_url)

    def _url(self, schema_url: str | None) -> bytes:
        return self._text(b"\x1a", schema_url) if schema_url else b""

    def _text(self, tag: bytes, text: str) -> bytes:
        return written_text(tag, text if self._redaction is None else self._redaction.text(text))


def _sdk_rest(span: ReadableSpan) -> _Rest:
    context = span.get_span_context() or _NO_CONTEXT
    return _Rest(
        [(event.timestamp, event.name, event.attributes or {}) for event in held_events(span)],
        [_sdk_link(link) for link in held_links(span)],
        _SDK_CODES[span.status.status_code],
        span.status.description or "",
        context.trace_state.to_header() if context.trace_state else "",
        held_drops(span),
    )


def _sdk_link(link: Any) -> _Link:
    context: SpanContext = link.context
    return context.trace_id.to_bytes(16, "big"), context.span_id.to_bytes(8, "big"), link.attributes or {}


def _held(number: int) -> int:
    """Return a time that eight bytes can spell."""
    return number if 0 <= number <= _LARGEST else min(max(number, 0), _LARGEST)


_NO_CONTEXT = SpanContext(0, 0, is_remote=False)
# Looked up, since an enum's own value takes ten times as long.
_SDK_KINDS = {kind: b"\x30" + written_varint(kind.value + 1) for kind in SpanKind}
_SDK_CODES = {code: code.value for code in StatusCode}
