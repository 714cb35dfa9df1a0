"""OTLP requests in protobuf, one or several right after another: protobuf lists concatenate, so both look the same."""

from collections.abc import Iterator
from typing import BinaryIO

from analyzer.session.model import Note
from critiqor_otel.decode.findings import Finding
from critiqor_otel.decode.otlp_signal import Signal, signal_of_block
from critiqor_otel.decode.wire import WireError, mend, read_varint, write_varint
from critiqor_otel.errors import UnreadableInputError
from critiqor_otel.formats.blocks import read_up_to
from critiqor_otel.formats.format import StreamFormat
from critiqor_otel.formats.messages import decode_protobuf
from critiqor_otel.formats.protobuf_layout import looks_like_request
from critiqor_otel.span import Batch

__all__ = ["PROTOBUF_STREAM"]

_BLOCK_TAG = b"\x0a"  # field 1, length-delimited
_AT_ONCE = 1 << 18  # bytes of blocks that are decoded together
_LONGEST_VARINT = 10
_PATH = (2,)  # from a block to the scopes that hold its records


def _read(stream: BinaryIO, place: str) -> Iterator[Batch]:
    blocks = _Blocks(stream)
    gathered: list[bytes] = []
    size = begin = 0
    signal: Signal | None = None
    for at, block in blocks.whole():
        found = signal_of_block(block) or signal
        if gathered and (size >= _AT_ONCE or found is not signal):
            yield decode_protobuf(b"".join(gathered), signal, place=f"{place}@{begin}")
            gathered, size = [], 0
        begin, signal = begin if gathered else at, found
        gathered += (_BLOCK_TAG, write_varint(len(block)), block)
        size += len(block)
    if gathered:
        yield decode_protobuf(b"".join(gathered), signal, place=f"{place}@{begin}")
    if blocks.fault is not None:
        yield _broken(blocks, place, read_any=bool(gathered))


class _Blocks:
    """The blocks of a stream, and where and how they end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.at = 0
        self.fault: str | None = None
        self.rest = b""
        """What is there of a block that is cut."""

    def whole(self) -> Iterator[tuple[int, bytes]]:
        """Yield each whole block and the byte it begins at."""
        while tag := self._stream.read(1):
            length = self._length() if tag == _BLOCK_TAG else None
            if length is None:
                self.fault = "no block of an OTLP request begins here"
                return
            block = read_up_to(self._stream, length)
            if len(block) < length:
                self.fault, self.rest = f"the file ends {length - len(block)} bytes before the end of a block", block
                return
            yield self.at, block
            self.at += 1 + len(write_varint(length)) + length

    def _length(self) -> int | None:
        digits = b""
        while len(digits) < _LONGEST_VARINT and (digit := self._stream.read(1)):
            digits += digit
            try:
                return read_varint(digits, 0)[0]
            except WireError:
                continue
        return None


def _broken(blocks: _Blocks, place: str, *, read_any: bool) -> Batch:
    """Return the whole records of a block that is cut, and what is to be said of the rest."""
    kept, _ = mend(blocks.rest, _PATH)
    batch = Batch()
    if kept:
        message = b"".join((_BLOCK_TAG, write_varint(len(kept)), kept))
        batch = decode_protobuf(message, signal_of_block(kept), place=f"{place}@{blocks.at}")
    count = len(batch.spans) + len(batch.logs)
    if not count and not read_any:
        raise UnreadableInputError(f"byte {blocks.at}: {blocks.fault}")
    told = f"byte {blocks.at}: {blocks.fault}; {count} whole records of it are kept, what follows is left out"
    note = Note(code=Finding.CUT.value, message=told, place=f"{place}@{blocks.at}")
    return Batch(
        spans=batch.spans, logs=batch.logs, skipped=batch.skipped, notes=(*batch.notes, note), rejected=batch.rejected
    )


PROTOBUF_STREAM = StreamFormat(name="OTLP protobuf", recognise=looks_like_request, read=_read)
