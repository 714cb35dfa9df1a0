"""gzip and zstd, several members or frames one after another, inflated while they are read.

Damage does not raise in the middle of a line: the content simply ends there, and `damage` tells why.
"""

import io
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

import zstandard

__all__ = ["GZIP_MAGIC", "ZSTD_MAGIC", "Inflating", "inflate"]

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

_GZIP = zlib.MAX_WBITS | 16  # zlib's flag for a gzip header
# A block of zstd may hold 128 KiB in four bytes: small pieces bound what comes out of one.
_PIECE = 1 << 11


class Inflating(io.RawIOBase):
    """A stream of what a compressed stream holds."""

    def __init__(self, source: BinaryIO, make: Callable[[], Any], magic: bytes, name: str) -> None:
        """Inflate members or frames that begin with the magic bytes, each by a decompressor of its own."""
        super().__init__()
        self._source, self._make, self._magic, self._name = source, make, magic, name
        self._member: Any = None
        self._pending = b""
        self._inflated = memoryview(b"")
        self.damage: str | None = None
        """Why the content ended early, None as long as it did not."""

    def readable(self) -> bool:  # type: ignore[explicit-override]  # typing.override is of Python 3.12
        """Return True: that is what it is for."""
        return True

    def readinto(self, buffer: Any, /) -> int:  # type: ignore[explicit-override]  # as above
        """Fill the buffer; 0 at the end, or where damage begins."""
        while not self._inflated and self.damage is None:
            if not self._pending:
                self._pending = self._source.read(_PIECE)
            if not self._pending:
                if self._member is not None:
                    self.damage = f"the {self._name} data ends in the middle"
                break
            self._step()
        size = min(len(buffer), len(self._inflated))
        buffer[:size] = self._inflated[:size]
        self._inflated = self._inflated[size:]
        return size

    def _step(self) -> None:
        if self._member is None:
            if not self._begins_member():
                return
            self._member = self._make()
        try:
            self._inflated = memoryview(self._member.decompress(self._pending))
        except (zlib.error, zstandard.ZstdError, EOFError) as error:
            self.damage = f"the {self._name} data is damaged: {error}"
            return
        self._pending = b""
        if self._member.eof:
            self._pending = self._member.unused_data
            self._member = None

    def _begins_member(self) -> bool:
        """Return whether another member follows; zeros after the last one are padding."""
        while len(self._pending) < len(self._magic) and (more := self._source.read(1)):
            self._pending += more
        if self._pending.startswith(self._magic):
            return True
        if self._pending.strip(b"\0"):
            self.damage = f"after the {self._name} data comes something else"
        self._pending = b""
        return False


def inflate(source: BinaryIO, head: bytes) -> Inflating | None:
    """Return a stream of what a stream with that beginning holds inside, or None when it is not compressed."""
    if head.startswith(GZIP_MAGIC):
        return Inflating(source, lambda: zlib.decompressobj(_GZIP), GZIP_MAGIC, "gzip")
    if head.startswith(ZSTD_MAGIC):
        return Inflating(source, lambda: zstandard.ZstdDecompressor().decompressobj(), ZSTD_MAGIC, "zstd")
    return None
