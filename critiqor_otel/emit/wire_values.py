"""Attributes become the bytes of OTLP's KeyValues, scrubbed on the way.

A value that no AnyValue can hold is made one that can, and a number too large for 64 bits its digits: nothing that
stands in an attribute can fail the batch. Short texts come again and again (names, models, hosts): they are written
once and remembered.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analyzer.lenient import as_text, is_mapping
from critiqor_otel.emit.plain_values import plain_text, text_of_json
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.reconstruct.values import as_json

__all__ = ["AttributeWriter", "fixed64", "written_field", "written_text", "written_varint"]

_ONE_BYTE = 0x80
_HEADS = 2048  # bytes of a text whose head is remembered
_NUMBERS = frozenset((int, float, bool, type(None)))
_MAX_DEPTH = 25  # protobuf's parser stops at 100 messages inside one another: six around a value, three a level
_UINT64 = (1 << 64) - 1
_INT64 = 1 << 63
_DOUBLE = struct.Struct("<d").pack
_FIXED64 = struct.Struct("<Q").pack
_REMEMBERED = 4096  # keys
_SHORT = 64  # characters of a text that is remembered
_DISTINCT = 64  # values remembered of one key


class AttributeWriter:
    """Writes the attributes of one kind of message, by the rules of a redaction; those that are spared as they are."""

    def __init__(self, tag: bytes, redaction: Redaction | None = None, *, spared: frozenset[str] = frozenset()) -> None:
        """Take the tag of the message's attributes, and the rules; None: nothing is scrubbed."""
        self._tag = tag
        self._redaction = redaction
        self._spared = spared
        self._keys: dict[str, _KeyWriter] = {}

    def write(self, parts: list[bytes], held: Mapping[str, Any]) -> None:
        """Append a KeyValue an attribute."""
        keys = self._keys
        for key, value in held.items():
            writer = keys.get(key)
            if writer is None:
                writer = self._key(key)
            if value.__class__ is str:
                written = writer.texts.get(value) if len(value) <= _SHORT else None
                if written is None:
                    writer.text(parts, value)
                    continue
            else:
                written = writer.whole.get(value) if value.__class__ is int else None
                if written is None:
                    written = writer.other(value)
            parts.append(written)

    def _key(self, key: str) -> "_KeyWriter":
        if len(self._keys) >= _REMEMBERED:
            self._keys.clear()
        redaction = self._redaction
        scrubbing = None if key in self._spared else redaction
        told = key if redaction is None else redaction.text(key)
        writer = self._keys[key] = _KeyWriter(self._tag, key, told, scrubbing)
        return writer


class _KeyWriter:
    """Writes what stands under one key: names come again and are remembered, texts get a head by their length."""

    __slots__ = ("_heads", "_key", "_redaction", "_scrub", "_spelled", "_tag", "texts", "whole")

    def __init__(self, tag: bytes, key: str, told: str, redaction: Redaction | None) -> None:
        self._tag = tag
        self._key = key
        self._spelled = written_text(b"\x0a", told) + b"\x12"
        self._redaction = redaction
        self._scrub = None if redaction is None else redaction.scrub_for(key)
        self._heads: dict[int, bytes] = {}
        """By the bytes of a text, what stands before them."""
        self.texts: dict[str, bytes] = {}
        """The first short texts that came, written."""
        self.whole: dict[int, bytes] = {}
        """The first whole numbers that came, written."""

    def text(self, parts: list[bytes], value: str) -> None:
        """Append a text."""
        told = value if self._scrub is None else self._scrub(value)
        try:
            content = told.encode()
        except UnicodeEncodeError:
            content = plain_text(told).encode()
        head = self._heads.get(len(content))
        if head is None:
            head = self._head(len(content))
        if len(value) <= _SHORT and len(self.texts) < _DISTINCT:
            self.texts[value] = head + content
        parts.append(head)
        parts.append(content)

    def other(self, value: Any) -> bytes:
        """Return a KeyValue of what is no text."""
        kind = value.__class__
        if kind in _NUMBERS:  # a secret is text; a number under its key is a count
            written = self._pair(_ENCODERS[kind](value, 0))
            if kind is int and len(self.whole) < _DISTINCT:
                self.whole[value] = written
            return written
        told = value if self._redaction is None else self._redaction.attribute(self._key, value)
        return self._pair(_value(told, 0))

    def _pair(self, written: bytes) -> bytes:
        content = b"%b%b%b" % (self._spelled, written_varint(len(written)), written)
        return written_field(self._tag, content)

    def _head(self, length: int) -> bytes:
        text = b"\x0a" + written_varint(length)
        before = b"%b%b%b" % (self._spelled, written_varint(len(text) + length), text)
        head = b"%b%b%b" % (self._tag, written_varint(len(before) + length), before)
        if length < _HEADS:
            self._heads[length] = head
        return head


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
