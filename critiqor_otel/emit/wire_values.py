"""Attributes become the bytes of OTLP's KeyValues, scrubbed on the way.

A value that no AnyValue can hold is made one that can, and a number too large for 64 bits its digits: nothing that
stands in an attribute can fail the batch. Short texts come again and again (names, models, hosts): they are written
once and remembered.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analyzer.lenient import is_mapping, is_sequence
from critiqor_otel.emit.plain_values import plain_text, text_of_json
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.reconstruct.values import as_json

__all__ = ["AttributeWriter", "fixed64", "written_field", "written_text", "written_varint"]

_ONE_BYTE = 0x80
_TWO_BYTES = 2000  # within the table of varints, with room for a length
_NUMBERS = frozenset((int, float, bool, type(None)))  # a secret is text; a number under its key is a count
_MAX_DEPTH = 25  # protobuf's parser stops at 100 messages inside one another: six around a value, three a level
_UINT64 = (1 << 64) - 1
_INT64 = 1 << 63
_DOUBLE = struct.Struct("<d").pack
_FIXED64 = struct.Struct("<Q").pack
_REMEMBERED = 4096  # keys, and short texts below them
_SHORT = 64  # characters of a text that is remembered


class AttributeWriter:
    """Writes attributes by the rules of a redaction; attributes that are spared are written as they are."""

    def __init__(self, redaction: Redaction | None = None, *, spared: frozenset[str] = frozenset()) -> None:
        """Take the rules; None: nothing is scrubbed."""
        self._redaction = redaction
        self._spared = spared
        self._known: dict[tuple[str, str], bytes] = {}
        self._keys: dict[str, tuple[bytes, bool]] = {}

    def write(self, parts: list[bytes], tag: bytes, held: Mapping[str, Any]) -> None:
        """Append a KeyValue an attribute, each behind the tag of its field."""
        known = self._known
        for key, value in held.items():
            if value.__class__ is str and len(value) <= _SHORT:
                written = known.get((key, value))
                if written is None:
                    written = self._remembered(key, value)
            else:
                written = self._pair(key, value)
            parts += (tag, written)

    def _remembered(self, key: str, value: str) -> bytes:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        written = self._known[key, value] = self._pair(key, value)
        return written

    def _pair(self, key: str, value: Any) -> bytes:
        """Return length and content of a KeyValue."""
        written_key, is_scrubbed = self._keys.get(key) or self._key(key)
        if is_scrubbed and value.__class__ not in _NUMBERS:
            value = self._scrubbed(key, value)
        encode = _ENCODERS.get(value.__class__)
        written = _value(value, 0) if encode is None else encode(value, 0)
        length, size = len(written), len(written_key) + len(written)
        if size < _TWO_BYTES:
            before = _VARINTS[length]
            return b"%b%b%b%b" % (_VARINTS[size + len(before)], written_key, before, written)
        content = b"%b%b%b" % (written_key, written_varint(length), written)
        return written_varint(len(content)) + content

    def _scrubbed(self, key: str, value: Any) -> Any:
        return value if self._redaction is None else self._redaction.attribute(key, value)

    def _key(self, key: str) -> tuple[bytes, bool]:
        """Return a key as it is written, and whether its values are scrubbed, numbers too where it names a secret."""
        if len(self._keys) >= _REMEMBERED:
            self._keys.clear()
        redaction = self._redaction
        is_scrubbed = redaction is not None and key not in self._spared
        told = key if redaction is None else redaction.text(key)
        written = self._keys[key] = (written_text(b"\x0a", told) + b"\x12", is_scrubbed)
        return written


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
    return written_text(b"\x0a", value)


def _bool(value: bool, _depth: int) -> bytes:  # noqa: FBT001  # one signature for all
    return b"\x10\x01" if value else b"\x10\x00"


def _int(value: int, depth: int) -> bytes:
    if -_INT64 <= value < _INT64:
        return b"\x18" + written_varint(value & _UINT64)
    return _string(_digits(value), depth)


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # longer than the interpreter spells in decimal
        return hex(value)


def _double(value: float, _depth: int) -> bytes:
    return b"\x21" + _DOUBLE(value)


def _bytes(value: bytes, _depth: int) -> bytes:
    return written_field(b"\x3a", value)


def _nothing(_value: None, _depth: int) -> bytes:
    return b""


def _array(value: Sequence[Any], depth: int) -> bytes:
    if depth >= _MAX_DEPTH:
        return _deep(value, depth)
    return written_field(b"\x2a", b"".join([written_field(b"\x0a", _value(item, depth + 1)) for item in value]))


def _map(value: Mapping[Any, Any], depth: int) -> bytes:
    if depth >= _MAX_DEPTH:
        return _deep(value, depth)
    pairs = [
        written_field(b"\x0a", written_text(b"\x0a", str(key)) + written_field(b"\x12", _value(item, depth + 1)))
        for key, item in value.items()
    ]
    return written_field(b"\x32", b"".join(pairs))


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


def written_text(tag: bytes, text: str) -> bytes:
    """Return a field of text; lone surrogates are U+FFFD."""
    try:
        content = text.encode()
    except UnicodeEncodeError:
        content = plain_text(text).encode()
    return b"%b%b%b" % (tag, written_varint(len(content)), content)


def written_field(tag: bytes, content: bytes) -> bytes:
    """Return a field of bytes: tag, length, content."""
    return b"%b%b%b" % (tag, written_varint(len(content)), content)


def fixed64(number: int) -> bytes:
    """Return the eight bytes of a number, held within what they can spell."""
    return _FIXED64(min(max(number, 0), _UINT64))


def written_varint(number: int) -> bytes:
    """Return a number that is not negative in as few bytes as it needs."""
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
