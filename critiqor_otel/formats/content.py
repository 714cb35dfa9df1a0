"""The content of a stream: inflated where it is compressed, and its first bytes, by which its format is told."""

import codecs
import io
from typing import Any, BinaryIO, cast

from critiqor_otel.formats.blocks import read_up_to
from critiqor_otel.formats.compression import Inflating, inflate

__all__ = ["HEAD", "open_content"]

HEAD = 1 << 16
"""How many bytes formats are asked with."""

_BUFFER = 1 << 20
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LAYERS = 4  # compressed files inside compressed files


class _Rewound(io.RawIOBase):
    """A stream whose first bytes were read, from its beginning."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._head = head
        self._rest = rest

    def readable(self) -> bool:  # type: ignore[explicit-override]  # typing.override is of Python 3.12
        return True

    def readinto(self, buffer: Any, /) -> int:  # type: ignore[explicit-override]  # as above
        piece = self._head[: len(buffer)] if self._head else self._rest.read(len(buffer))
        self._head = self._head[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)


class _AsUtf8(io.RawIOBase):
    """A stream of UTF-16, as PowerShell writes what a command prints, in UTF-8."""

    def __init__(self, source: BinaryIO) -> None:
        super().__init__()
        self._source = source
        self._decode = codecs.getincrementaldecoder("utf-16")("replace").decode
        self._pending = b""

    def readable(self) -> bool:  # type: ignore[explicit-override]  # typing.override is of Python 3.12
        return True

    def readinto(self, buffer: Any, /) -> int:  # type: ignore[explicit-override]  # as above
        while not self._pending and (piece := self._source.read(HEAD)):
            self._pending = self._decode(piece).encode()
        part, self._pending = self._pending[: len(buffer)], self._pending[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def open_content(stream: BinaryIO) -> tuple[bytes, BinaryIO, list[Inflating]]:
    """Return the first bytes of the content, the content from its beginning, and the layers it was wrapped in."""
    layers: list[Inflating] = []
    while True:
        head, stream = _peek(stream)
        if head.startswith(_UTF_16):
            stream = _buffered(_AsUtf8(stream))
            continue
        layer = inflate(stream, head) if len(layers) < _LAYERS else None
        if layer is None:
            return head, stream, layers
        layers.append(layer)
        stream = _buffered(layer)


def _peek(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    head = read_up_to(stream, HEAD)
    return head, _buffered(_Rewound(head, stream))


def _buffered(raw: io.RawIOBase) -> BinaryIO:
    return cast("BinaryIO", io.BufferedReader(raw, _BUFFER))
