"""Attributes become the bytes of OTLP's KeyValues, scrubbed on the way.

A value that no AnyValue can hold is made one that can, and a number too large for 64 bits its digits: nothing that
stands in an attribute can fail the batch. Short texts come again and again (names, models, hosts): they are written
once and remembered.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analyzer.lenient import as_text, is_mapping, is_sequence
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
_DISTINCT = 64  # texts remembered of one key


class AttributeWriter:
    """Writes the attributes of one kind of message, by the rules of a redaction; those that are spared as they are."""

    def __init__(self, tag: bytes, redaction: Redaction | None = None, *, spared: frozenset[str] = frozenset()) -> None:
        """Take the tag of the message's attributes, and the rules; None: nothing is scrubbed."""
        self._tag = tag
        self._redaction = redaction
        self._spared = spared
        self._known: dict[str, dict[str, bytes]] = {}
        """By key, the first short texts that came under it: names come again, ids don't."""
        self._keys: dict[str, tuple[bytes, Callable[[str], str] | None]] = {}

    def write(self, parts: list[bytes], held: Mapping[str, Any]) -> None:
        """Append a KeyValue an attribute."""
        known = self._known
        for key, value in held.items():
            if value.__class__ is str and len(value) <= _SHORT:
                texts = known.get(key)
                if texts is None:
                    texts = self._texts(key)
                written = texts.get(value)
                if written is None:
                    written = self._pair(key, value)
                    if len(texts) < _DISTINCT:
                        texts[value] = written
            else:
                written = self._pair(key, value)
            parts.append(written)

    def _texts(self, key: str) -> dict[str, bytes]:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        texts = self._known[key] = {}
        return texts

    def _pair(self, key: str, value: Any) -> bytes:
        """Return a KeyValue with its tag."""
        written_key, scrub = self._keys.get(key) or self._key(key)
        kind = value.__class__
        if scrub is not None and kind not in _NUMBERS:
            value = scrub(value) if kind is str else self._scrubbed(key, value)
        encode = _ENCODERS.get(value.__class__)
        written = _value(value, 0) if encode is None else encode(value, 0)
        length, size = len(written), len(written_key) + len(written)
        if size < _TWO_BYTES:
            before = _VARINTS[length]
            return b"%b%b%b%b%b" % (self._tag, _VARINTS[size + len(before)], written_key, before, written)
        return written_field(self._tag, b"%b%b%b" % (written_key, written_varint(length), written))

    def _scrubbed(self, key: str, value: Any) -> Any:
        return value if self._redaction is None else self._redaction.attribute(key, value)

    def _key(self, key: str) -> tuple[bytes, Callable[[str], str] | None]:
        """Return a key as it is written, and what scrubs the texts that stand under it."""
        if len(self._keys) >= _REMEMBERED:
            self._keys.clear()
        redaction = self._redaction
        scrub = None if redaction is None or key in self._spared else redaction.scrub_for(key)
        told = key if redaction is None else redaction.text(key)
        written = self._keys[key] = (written_text(b"\x0a", told) + b"\x12", scrub)
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
    return _string(as_text(value), depth)


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
    length = len(content)
    return b"%b%b%b" % (tag, _VARINTS[length] if length < _TWO_BYTES else _long_varint(length), content)


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
