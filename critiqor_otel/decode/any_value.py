"""The bytes of an OTLP AnyValue or KeyValue become a value.

The common layouts are read where they lie; the rest goes through the message classes, which know every legal layout.
"""

from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.message import DecodeError as ProtobufError

from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.schema import ANY_VALUE, ARRAY, KEY_VALUE, KEY_VALUE_LIST
from critiqor_otel.decode.wire import WireError, read_varint
from critiqor_otel.span import Attributes, AttributeValue

__all__ = ["MAX_DEPTH", "attributes", "text", "value"]

MAX_DEPTH = 100
"""Lists and maps inside one another that are followed; what lies deeper is None."""

_KEY, _VALUE = 0x0A, b"\x12"  # tags: field number << 3 | wire type
_STRING, _INT, _ARRAY = 0x0A, 0x18, 0x2A
_ONE_BYTE = 0x80  # lengths and numbers below take one byte
_TWO_BYTES = 0x4000
_THREE_BYTES = 3
_LEAST = 4  # bytes: the tags and lengths of a value and of its text
_REMEMBERED = 16_384  # attributes and keys
_SHORT = 96  # bytes: longer ones seldom come again

_Pair = tuple[str, AttributeValue]


class _TooDeepError(ValueError):
    """A value is nested beyond `MAX_DEPTH`."""


_FAULTS = (ProtobufError, WireError, IndexError)


def attributes(pairs: Sequence[bytes], findings: Findings) -> Attributes:
    """Return the attributes that encoded KeyValues hold; of a doubled key the last counts.

    A value that can't be read is left out, a text that is no UTF-8 is mended; both are told to the findings.
    """
    try:
        return dict([_KNOWN[pair] for pair in pairs])
    except (UnicodeDecodeError, _TooDeepError, *_FAULTS):
        read = (_careful(_pair, pair, findings) for pair in pairs)
        return dict([pair for pair in read if pair is not None])


def value(raw: bytes, findings: Findings) -> AttributeValue:
    """Return the value that an encoded AnyValue holds; mended and told as in `attributes`."""
    try:
        return _value(raw)
    except (UnicodeDecodeError, _TooDeepError, *_FAULTS):
        held: AttributeValue = _careful(_value, raw, findings)
        return held


def text(raw: bytes, findings: Findings) -> str:
    """Return the text, mended where it is no UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        findings.add(Finding.INVALID_TEXT, "bytes that are no UTF-8")
        return raw.decode("utf-8", "replace")


def _careful(read: Callable[..., Any], raw: bytes, findings: Findings) -> Any:
    try:
        return read(raw)
    except UnicodeDecodeError:
        findings.add(Finding.INVALID_TEXT, "bytes that are no UTF-8")
    except _TooDeepError:
        findings.add(Finding.TOO_DEEP, f"more than {MAX_DEPTH} levels")
    except _FAULTS:
        findings.add(Finding.BAD_VALUE, "damaged bytes")
        return None
    try:
        return read(raw, errors="replace")
    except _FAULTS:
        findings.add(Finding.BAD_VALUE, "damaged bytes")
        return None


class _Keys(dict[bytes, str]):
    """Keys seen before, so that a million spans share them."""

    def __missing__(self, raw: bytes) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        key = self[raw] = raw.decode()
        return key


class _Pairs(dict[bytes, _Pair]):
    """Attributes seen before, by their bytes; spans share the values, which nobody may change."""

    def __missing__(self, raw: bytes) -> _Pair:
        pair = _text_pair(raw) or _pair(raw)
        if len(raw) <= _SHORT:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[raw] = pair
        return pair


_KEYS = _Keys()
_KNOWN = _Pairs()


def _text_pair(raw: bytes) -> _Pair | None:
    """Return a key and a text where they lie as everybody writes them, which most attributes do; else None."""
    size = len(raw)
    end = raw[1] + 2 if size > _LEAST and raw[0] == _KEY else size
    if end > size - _LEAST or raw[1] >= _ONE_BYTE or raw[end] != _VALUE[0]:
        return None
    value = _content(raw, end + 1, size)
    if not 0 < value < size - 1 or raw[value] != _STRING:
        return None
    start = _content(raw, value + 1, size)
    return (_KEYS[raw[2:end]], raw[start:].decode()) if start else None


def _content(raw: bytes, at: int, size: int) -> int:
    """Return where the content begins whose length stands at a byte, if it is all that is left; else 0."""
    left = size - at - 1
    if left < _ONE_BYTE:
        return at + 1 if raw[at] == left else 0
    left -= 1
    return at + 2 if left < _TWO_BYTES and raw[at] == left % _ONE_BYTE + _ONE_BYTE and raw[at + 1] == left >> 7 else 0


def _pair(raw: bytes, depth: int = 0, errors: str = "strict") -> _Pair:
    length = raw[1] if len(raw) > 1 else _ONE_BYTE
    end = length + 2
    if length >= _ONE_BYTE or raw[0] != _KEY or raw[end : end + 1] != _VALUE:
        return _pair_of_any_layout(raw, depth, errors)
    length, at = raw[end + 1], end + 2
    if length >= _ONE_BYTE:
        length, at = read_varint(raw, end + 1)
    if at + length != len(raw):
        return _pair_of_any_layout(raw, depth, errors)
    key = _KEYS[raw[2:end]] if errors == "strict" else raw[2:end].decode("utf-8", errors)
    return key, _value(raw[at:], depth, errors)


def _pair_of_any_layout(raw: bytes, depth: int, errors: str) -> _Pair:
    message = KEY_VALUE.FromString(raw)
    return message.key.decode("utf-8", errors), _value(message.value, depth, errors)


def _value(raw: bytes, depth: int = 0, errors: str = "strict") -> AttributeValue:
    if not raw:
        return None
    tag, size = raw[0], len(raw)
    if tag == _STRING:
        length, at = raw[1], 2
        if length >= _ONE_BYTE:
            length, at = read_varint(raw, 1)
        if at + length == size:
            return raw[at:].decode("utf-8", errors)
    elif tag == _INT and size <= _THREE_BYTES:
        number, at = read_varint(raw, 1)
        if at == size:
            return number
    elif tag == _ARRAY and size <= _SHORT and raw[1] == size - 2:
        return _array(raw[2:], depth, errors)
    return _any_layout(raw, depth, errors)


def _any_layout(raw: bytes, depth: int, errors: str) -> AttributeValue:
    message = ANY_VALUE.FromString(raw)
    kind = message.WhichOneof("value")
    return None if kind is None else _READERS[kind](getattr(message, kind), depth, errors)


def _as_it_is(content: Any, _depth: int, _errors: str) -> AttributeValue:
    held: AttributeValue = content
    return held


def _decoded(content: bytes, _depth: int, errors: str) -> AttributeValue:
    return content.decode("utf-8", errors)


def _array(content: bytes, depth: int, errors: str) -> AttributeValue:
    if _is_bottom(depth, errors):
        return None
    return [_value(item, depth + 1, errors) for item in ARRAY.FromString(content).values]


def _kvlist(content: bytes, depth: int, errors: str) -> AttributeValue:
    if _is_bottom(depth, errors):
        return None
    return dict([_pair(item, depth + 1, errors) for item in KEY_VALUE_LIST.FromString(content).values])


def _is_bottom(depth: int, errors: str) -> bool:
    if depth >= MAX_DEPTH and errors == "strict":
        raise _TooDeepError
    return depth >= MAX_DEPTH


_READERS: dict[str, Callable[[Any, int, str], AttributeValue]] = {
    "string_value": _decoded,
    "bool_value": _as_it_is,
    "int_value": _as_it_is,
    "double_value": _as_it_is,
    "bytes_value": _as_it_is,
    "array_value": _array,
    "kvlist_value": _kvlist,
    "string_value_strindex": lambda _content, _depth, _errors: None,  # an index into a table of profiles, not of traces
}
