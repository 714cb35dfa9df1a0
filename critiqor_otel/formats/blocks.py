"""Reading a stream in pieces of a length that the data itself tells, without trusting that length."""

from typing import BinaryIO

__all__ = ["read_up_to"]

_PIECE = 1 << 20


def read_up_to(stream: BinaryIO, size: int) -> bytes:
    """Return the next bytes, fewer where the stream ends; memory is taken for what is there, not for what is told."""
    if size <= _PIECE:
        return stream.read(size)
    pieces: list[bytes] = []
    while size > 0 and (piece := stream.read(min(size, _PIECE))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
