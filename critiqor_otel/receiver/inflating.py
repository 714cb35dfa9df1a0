"""A gzip body becomes what it was, as long as that is no more than is allowed."""

import zlib
from typing import Any

from critiqor_otel.receiver.refusal import Fault, Refusal

__all__ = ["TooMuchError", "inflated"]

_GZIP = 31  # zlib's word for "a gzip header, and the largest window"
_STEP = 1 << 16  # bytes fed at once, so that what lies behind a member is copied in small pieces only
_PART = 1 << 20  # bytes inflated at once, so that what is too much is noticed before it is there
_MOST_MEMBERS = 1024


class TooMuchError(ValueError):
    """The body inflates to more than is allowed."""


def inflated(data: bytes, *, limit: int) -> bytes:
    """Return what a gzip stream of one or several members holds, at most `limit` bytes.

    Raises:
        Refusal: the stream is no gzip, or is cut.
        TooMuchError: it holds more; no more than the limit was held in memory.
    """
    parts: list[bytes] = []
    room, at = limit, 0
    for _ in range(_MOST_MEMBERS):
        at, room = _member(data, at, parts, room)
        if at >= len(data) or not data[at:].strip(b"\0"):  # some writers fill up with zeros
            return parts[0] if len(parts) == 1 else b"".join(parts)
    raise Refusal(Fault.BAD_DATA, f"the gzip body has more than {_MOST_MEMBERS} members")


def _member(data: bytes, at: int, parts: list[bytes], room: int) -> tuple[int, int]:
    """Inflate the member that starts at a byte; return where it ends and how much room is left."""
    stream = zlib.decompressobj(_GZIP)
    while not stream.eof:
        piece = stream.unconsumed_tail or data[at : at + _STEP]
        at += 0 if stream.unconsumed_tail else len(piece)
        part = _part(stream, piece, min(room + 1, _PART))
        if not piece and not part and not stream.eof:
            raise Refusal(Fault.BAD_DATA, f"the gzip body of {len(data)} bytes is cut short")
        room -= len(part)
        if room < 0:
            raise TooMuchError
        if part:
            parts.append(part)
    return at - len(stream.unused_data), room


def _part(stream: Any, piece: bytes, size: int) -> bytes:
    try:
        part: bytes = stream.decompress(piece, size)
    except zlib.error as error:
        raise Refusal(Fault.BAD_DATA, f"the body is no gzip though Content-Encoding says so: {error}") from error
    return part
