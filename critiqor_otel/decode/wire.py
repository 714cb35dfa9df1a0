"""Protobuf's wire format, as far as one must know it to find the whole parts of a message that is cut or damaged.

Source: https://protobuf.dev/programming-guides/encoding/. Groups (types 3 and 4) are no part of OTLP and count as
damage.
"""

from collections.abc import Iterator, Sequence

__all__ = [
    "LENGTH_DELIMITED",
    "WireCutError",
    "WireError",
    "mend",
    "read_field",
    "read_varint",
    "top_fields",
    "write_varint",
]

LENGTH_DELIMITED = 2
"""The wire type of texts, bytes and messages."""

_VARINT, _FIXED64, _FIXED32 = 0, 1, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}
_MORE = 0x80
_VARINT_BITS = 70  # ten bytes of seven bits


class WireError(ValueError):
    """The bytes here start no field, or the field goes beyond the end."""


class WireCutError(WireError):
    """The bytes end inside a number."""


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number that starts at a byte, and where it ends.

    Raises:
        WireCutError: the bytes end before it.
        WireError: it is longer than 64 bits.
    """
    number = shift = 0
    while at < len(data) and shift < _VARINT_BITS:
        byte = data[at]
        at += 1
        number |= (byte & ~_MORE) << shift
        if byte < _MORE:
            return number, at
        shift += 7
    raise WireCutError("a cut number") if at >= len(data) else WireError("a number beyond 64 bits")


def write_varint(number: int) -> bytes:
    """Return a number of zero or more as a varint."""
    out = bytearray()
    while number >= _MORE:
        out.append(number & ~-_MORE | _MORE)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_field(data: bytes, at: int) -> tuple[int, int, int, int]:
    """Return field number, wire type, and where the field's content starts and ends; the end may lie beyond the data.

    Raises:
        WireError: no field starts here.
    """
    tag, at = read_varint(data, at)
    number, wire_type = tag >> 3, tag & 7
    if number == 0:
        raise WireError("a field without a number")
    if wire_type == LENGTH_DELIMITED:
        length, at = read_varint(data, at)
        return number, wire_type, at, at + length
    if wire_type == _VARINT:
        return number, wire_type, at, read_varint(data, at)[1]
    if wire_type in _FIXED:
        return number, wire_type, at, at + _FIXED[wire_type]
    raise WireError(f"a field of the unknown type {wire_type}")


def top_fields(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, wire type and content of each whole field, up to the first that is not whole."""
    at = 0
    while at < len(data):
        try:
            number, wire_type, start, end = read_field(data, at)
        except WireError:
            return
        if end > len(data):
            return
        yield number, wire_type, data[start:end]
        at = end


def mend(data: bytes, path: Sequence[int]) -> tuple[bytes, int]:
    """Return the message without what is cut or damaged, and the byte where that begins (its length if nothing is).

    A cut inside a field of the path (field numbers from the outside in) keeps that field's own whole fields; a field
    off the path is kept whole or not at all.
    """
    at = 0
    while at < len(data):
        try:
            number, wire_type, start, end = read_field(data, at)
        except WireError:
            return data[:at], at
        if end > len(data):
            if wire_type != LENGTH_DELIMITED or not path or number != path[0]:
                return data[:at], at
            kept, found = mend(data[start:], path[1:])
            tag = write_varint(number << 3 | LENGTH_DELIMITED)
            return b"".join((data[:at], tag, write_varint(len(kept)), kept)), start + found
        at = end
    return data, at
