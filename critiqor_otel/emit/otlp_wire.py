"""Spans become the bytes of an OTLP request, written straight into the wire format.

Building protobuf messages first costs five times as much. A value that no AnyValue can hold is made one that can, and a
number too large for 64 bits its digits: nothing that stands in an attribute can fail the batch.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.lenient import is_mapping, is_sequence
from critiqor_otel.emit.plain_values import plain_text, text_of_json
from critiqor_otel.reconstruct.values import as_json
from critiqor_otel.span import AttributeValue, Link, Resource, Scope, Span, SpanEvent

__all__ = ["Encoded", "OtlpEncoder", "encode_request", "request_of"]

_ONE_BYTE = 0x80
_MAX_DEPTH = 25  # protobuf's parser stops at 100 messages inside one another: six around a value, three a level
_UINT64 = (1 << 64) - 1
_INT64 = 1 << 63
_DOUBLE = struct.Struct("<d").pack
_FIXED64 = struct.Struct("<Q").pack
_FIXED32 = struct.Struct("<I").pack
_REMEMBERED = 4096  # keys
_SHORT = 126  # bytes of a text whose AnyValue has lengths of one byte

_Frame = tuple[bytes, bytes]
"""What stands before the entries of a resource or scope, and what stands behind."""


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
    """Return an ExportTraceServiceRequest with the spans."""
    encoder = OtlpEncoder()
    return request_of([encoder.encode(span) for span in spans])


def request_of(encoded: Iterable[Encoded]) -> bytes:
    """Return the request of spans in bytes, those of one resource and scope together."""
    resources: dict[_Frame, dict[_Frame, list[bytes]]] = {}
    for one in encoded:
        resources.setdefault(one.resource, {}).setdefault(one.scope, []).append(one.span)
    return b"".join(
        _field(
            b"\x0a",
            b"".join(
                (
                    before,
                    *(_field(b"\x12", b"".join((head, *spans, tail))) for (head, tail), spans in scopes.items()),
                    behind,
                )
            ),
        )
        for (before, behind), scopes in resources.items()
    )


class OtlpEncoder:
    """Writes spans; remembers the resources and scopes they share."""

    def __init__(self) -> None:
        """Begin with none known."""
        self._frames: dict[int, tuple[object, _Frame]] = {}

    def encode(self, span: Span) -> Encoded:
        """Return the span in bytes."""
        return Encoded(self._frame(span.resource, _resource), self._frame(span.scope, _scope), encode_span(span))

    def _frame(self, thing: Any, encode: Callable[[Any], _Frame]) -> _Frame:
        known = self._frames.get(id(thing))
        if known is not None:
            return known[1]
        if len(self._frames) >= _REMEMBERED:
            self._frames.clear()
        frame = encode(thing)
        self._frames[id(thing)] = (thing, frame)  # holds the thing, so that its id() stays its own
        return frame


def encode_span(span: Span) -> bytes:
    """Return the span as an entry of a ScopeSpans: tag, length and content."""
    parts = [b"\x0a\x10", bytes.fromhex(span.trace_id), b"\x12\x08", bytes.fromhex(span.span_id)]
    if span.trace_state:
        parts.append(_text(b"\x1a", span.trace_state))
    if span.parent_span_id is not None:
        parts += (b"\x22\x08", bytes.fromhex(span.parent_span_id))
    parts += (
        _text(b"\x2a", span.name),
        b"\x30" + _varint(span.kind),
        b"\x39",
        _fixed64(span.start_ns),
        b"\x41",
        _fixed64(span.end_ns),
    )
    _attributes(parts, b"\x4a", span.attributes)
    if span.dropped_attributes:
        parts.append(b"\x50" + _varint(span.dropped_attributes))
    parts += [_field(b"\x5a", _event(event)) for event in span.events]
    if span.dropped_events:
        parts.append(b"\x60" + _varint(span.dropped_events))
    parts += [_field(b"\x6a", _link(link)) for link in span.links]
    if span.dropped_links:
        parts.append(b"\x70" + _varint(span.dropped_links))
    if span.status or span.status_message:
        message = _text(b"\x12", span.status_message) if span.status_message else b""
        parts.append(_field(b"\x7a", message + b"\x18" + _varint(span.status)))
    if span.flags:
        parts.append(b"\x85\x01" + _FIXED32(span.flags & 0xFFFFFFFF))
    return _field(b"\x12", b"".join(parts))


def _resource(resource: Resource) -> _Frame:
    parts: list[bytes] = []
    _attributes(parts, b"\x0a", resource.attributes)
    return _field(b"\x0a", b"".join(parts)), _url(resource.schema_url)


def _scope(scope: Scope) -> _Frame:
    parts = [_text(b"\x0a", scope.name), _text(b"\x12", scope.version)]
    _attributes(parts, b"\x1a", scope.attributes)
    return _field(b"\x0a", b"".join(parts)), _url(scope.schema_url)


def _url(schema_url: str) -> bytes:
    return _text(b"\x1a", schema_url) if schema_url else b""


def _event(event: SpanEvent) -> bytes:
    parts = [b"\x09", _fixed64(event.time_ns), _text(b"\x12", event.name)]
    _attributes(parts, b"\x1a", event.attributes)
    return b"".join(parts)


def _link(link: Link) -> bytes:
    parts = [b"\x0a\x10", bytes.fromhex(link.trace_id), b"\x12\x08", bytes.fromhex(link.span_id)]
    _attributes(parts, b"\x22", link.attributes)
    return b"".join(parts)


class _Keys(dict[str, bytes]):
    """Keys written before: key and the tag of the value."""

    def __missing__(self, key: str) -> bytes:
        if len(self) >= _REMEMBERED:
            self.clear()
        written = self[key] = _text(b"\x0a", key) + b"\x12"
        return written


_KEYS = _Keys()


def _attributes(parts: list[bytes], tag: bytes, held: Mapping[str, AttributeValue]) -> None:
    """Append a KeyValue an attribute."""
    for key, value in held.items():
        if type(value) is str and value.isascii() and len(value) < _SHORT:
            text = value.encode()
            content = b"%b%b%b" % (_KEYS[key], _SHORT_TEXTS[len(text)], text)
        else:
            written = _value(value, 0)
            content = b"%b%b%b" % (_KEYS[key], _varint(len(written)), written)
        parts += (tag, _varint(len(content)), content)


def _value(value: Any, depth: int) -> bytes:
    """Return the content of an AnyValue."""
    encode = _ENCODERS.get(value.__class__)
    if encode is not None:
        return encode(value, depth)
    for shape, encode in _ENCODERS.items():  # subclasses: an enum of texts, an ordered mapping
        if isinstance(value, shape):
            return encode(value, depth)
    if is_mapping(value):
        return _map(value, depth)
    if is_sequence(value):
        return _array(value, depth)
    return _string(str(value), depth)


def _string(value: str, _depth: int) -> bytes:
    return _text(b"\x0a", value)


def _bool(value: bool, _depth: int) -> bytes:  # noqa: FBT001  # one signature for all
    return b"\x10\x01" if value else b"\x10\x00"


def _int(value: int, depth: int) -> bytes:
    if -_INT64 <= value < _INT64:
        return b"\x18" + _varint(value & _UINT64)
    return _string(_digits(value), depth)


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # longer than the interpreter spells in decimal
        return hex(value)


def _double(value: float, _depth: int) -> bytes:
    return b"\x21" + _DOUBLE(value)


def _bytes(value: bytes, _depth: int) -> bytes:
    return _field(b"\x3a", value)


def _nothing(_value: None, _depth: int) -> bytes:
    return b""


def _array(value: Sequence[Any], depth: int) -> bytes:
    if depth >= _MAX_DEPTH:
        return _deep(value, depth)
    return _field(b"\x2a", b"".join([_field(b"\x0a", _value(item, depth + 1)) for item in value]))


def _map(value: Mapping[Any, Any], depth: int) -> bytes:
    if depth >= _MAX_DEPTH:
        return _deep(value, depth)
    pairs = [
        _field(b"\x0a", _text(b"\x0a", str(key)) + _field(b"\x12", _value(item, depth + 1)))
        for key, item in value.items()
    ]
    return _field(b"\x32", b"".join(pairs))


def _deep(value: Any, depth: int) -> bytes:
    """Return what lies too deep as its JSON text."""
    return _string(text_of_json(as_json(value)), depth)


_ENCODERS: dict[type, Callable[[Any, int], bytes]] = {
    str: _string,
    bool: _bool,
    int: _int,
    float: _double,
    type(None): _nothing,
    list: _array,
    tuple: _array,
    dict: _map,
    bytes: _bytes,
}


def _text(tag: bytes, text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError:
        content = plain_text(text).encode()
    return b"%b%b%b" % (tag, _varint(len(content)), content)


def _field(tag: bytes, content: bytes) -> bytes:
    return b"%b%b%b" % (tag, _varint(len(content)), content)


def _fixed64(number: int) -> bytes:
    return _FIXED64(min(max(number, 0), _UINT64))


def _varint(number: int) -> bytes:
    if number < len(_VARINTS):
        return _VARINTS[number]
    return _long_varint(number)


def _long_varint(number: int) -> bytes:
    written = bytearray()
    while number >= _ONE_BYTE:
        written.append(number & 0x7F | _ONE_BYTE)
        number >>= 7
    written.append(number)
    return bytes(written)


_VARINTS = [_long_varint(number) for number in range(2048)]
_SHORT_TEXTS = [bytes((length + 2, 0x0A, length)) for length in range(_SHORT)]
