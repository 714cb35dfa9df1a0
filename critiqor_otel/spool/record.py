"""One record of the journal: a header that says what follows, a checksum over both, and the request's raw bytes."""

import struct
import zlib
from enum import IntEnum

import msgspec

__all__ = ["HEADER_SIZE", "MAGIC", "Encoding", "Head", "Record", "Signal", "Transport", "frame", "holds", "read_head"]

MAGIC = b"\xd7CQ\x01"
"""What every record starts with; the first byte is no UTF-8 and starts no OTLP message."""

_HEADER = struct.Struct("<4sBBBxIIQI")  # magic, signal, encoding, transport, length, refused, received, checksum
_SUMMED = _HEADER.size - 4  # the checksum covers the header before it, and the payload
HEADER_SIZE = _HEADER.size


class Signal(IntEnum):
    """What a request carries."""

    TRACES = 1
    LOGS = 2
    METRICS = 3


class Encoding(IntEnum):
    """How a request is written."""

    PROTOBUF = 1
    JSON = 2


class Transport(IntEnum):
    """The road a request came by."""

    GRPC = 1
    HTTP = 2

    @property
    def word(self) -> str:
        """The name that receipts and metrics bear."""
        return f"otlp/{self.name.lower()}"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A request that was checked and is to be kept."""

    signal: Signal
    encoding: Encoding
    transport: Transport
    payload: bytes
    """The request as it was sent, inflated."""
    received_ns: int
    refused: int = 0
    """Spans or log records in the payload that the sender was told are refused."""


class Head(msgspec.Struct, frozen=True):
    """A record's header, read back."""

    signal: Signal
    encoding: Encoding
    transport: Transport
    length: int
    refused: int
    received_ns: int
    checksum: int


def frame(record: Record) -> bytes:
    """Return the header that stands before the record's payload."""
    head = _HEADER.pack(
        MAGIC,
        record.signal,
        record.encoding,
        record.transport,
        len(record.payload),
        record.refused,
        record.received_ns,
        0,
    )[:_SUMMED]
    return head + struct.pack("<I", zlib.crc32(record.payload, zlib.crc32(head)))


def read_head(header: bytes) -> Head | None:
    """Return what a header says; None when these bytes are none."""
    if len(header) < HEADER_SIZE or not header.startswith(MAGIC):
        return None
    _, signal, encoding, transport, *fields = _HEADER.unpack_from(header)
    try:
        return Head(Signal(signal), Encoding(encoding), Transport(transport), *fields)
    except ValueError:  # in a request that was cut, its sender may have written what looks like a record
        return None


def holds(header: bytes, payload: bytes) -> bool:
    """Tell whether header and payload are what was written."""
    checksum: int = struct.unpack_from("<I", header, _SUMMED)[0]
    return zlib.crc32(payload, zlib.crc32(header[:_SUMMED])) == checksum
