"""One record of the journal: a header that says what follows, a checksum over both, and the request's raw bytes.

Between header and request stands the run that it belongs to, where a command was observed: whoever reads the journal
after a kill knows it from nowhere else.
"""

import struct
import zlib
from enum import IntEnum

import msgspec

__all__ = [
    "HEADER_SIZE",
    "MAGIC",
    "Encoding",
    "Head",
    "Record",
    "Signal",
    "Transport",
    "frame",
    "holds",
    "read_head",
    "recorded",
    "size_of",
]

MAGIC = b"\xd7CQ\x01"
"""What every record starts with; the first byte is no UTF-8 and starts no OTLP message."""

_HEADER = struct.Struct("<4sBBB?IIQI")  # magic, signal, encoding, transport, named, length, refused, received, checksum
_SUMMED = _HEADER.size - 4  # the checksum covers the header before it, and the payload
HEADER_SIZE = _HEADER.size
_LENGTH = struct.Struct("<I")  # bytes of the run's id


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
    run_id: str | None = None
    """The run it belongs to, unless its sender names another."""


class Head(msgspec.Struct, frozen=True):
    """A record's header, read back."""

    signal: Signal
    encoding: Encoding
    transport: Transport
    is_named: bool
    """Whether a run stands before the request."""
    length: int
    """Of all that follows."""
    refused: int
    received_ns: int
    checksum: int


def frame(record: Record) -> bytes:
    """Return what stands before the record's payload."""
    run = _run(record)
    head = _HEADER.pack(
        MAGIC,
        record.signal,
        record.encoding,
        record.transport,
        record.run_id is not None,
        len(run) + len(record.payload),
        record.refused,
        record.received_ns,
        0,
    )[:_SUMMED]
    return head + struct.pack("<I", zlib.crc32(record.payload, zlib.crc32(run, zlib.crc32(head)))) + run


def size_of(record: Record) -> int:
    """Return the bytes it takes in the journal."""
    return HEADER_SIZE + len(_run(record)) + len(record.payload)


def recorded(head: Head, content: bytes) -> Record | None:
    """Return the record of a header and all that follows it; None where that begins with no run though it should."""
    try:
        run_id, payload = _parted(content) if head.is_named else (None, content)
    except (struct.error, UnicodeDecodeError):
        return None
    return Record(
        signal=head.signal,
        encoding=head.encoding,
        transport=head.transport,
        payload=payload,
        received_ns=head.received_ns,
        refused=head.refused,
        run_id=run_id,
    )


def read_head(header: bytes) -> Head | None:
    """Return what a header says; None when these bytes are none."""
    if len(header) < HEADER_SIZE or not header.startswith(MAGIC):
        return None
    _, signal, encoding, transport, *fields = _HEADER.unpack_from(header)
    try:
        return Head(Signal(signal), Encoding(encoding), Transport(transport), *fields)
    except ValueError:  # in a request that was cut, its sender may have written what looks like a record
        return None


def holds(header: bytes, content: bytes) -> bool:
    """Tell whether a header and what follows it are what was written."""
    checksum: int = struct.unpack_from("<I", header, _SUMMED)[0]
    return zlib.crc32(content, zlib.crc32(header[:_SUMMED])) == checksum


def _run(record: Record) -> bytes:
    if record.run_id is None:
        return b""
    name = record.run_id.encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(name)) + name


def _parted(content: bytes) -> tuple[str, bytes]:
    end = _LENGTH.size + int(_LENGTH.unpack_from(content)[0])
    return content[_LENGTH.size : end].decode("utf-8", "surrogatepass"), content[end:]
