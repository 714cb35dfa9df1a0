"""The first step of many: what one input holds, packed by the hash of the trace, and what ties its traces to others.

`map_input` is a plain function of an input and a plan; it needs nothing but the input and leaves its packed segments
in the store. Any scheduler may run it, anywhere, again and again: the same call leaves the same file.
"""

from collections.abc import Iterator

import msgspec

from analyzer.bulk import bulk_work
from analyzer.session.model import Note
from critiqor_otel.engine.packing import Packer, Record, Segment, pack_segment
from critiqor_otel.engine.store import Store
from critiqor_otel.formats.inputs import Input
from critiqor_otel.formats.reading import read_input
from critiqor_otel.reconstruct.reconstruct import tell
from critiqor_otel.reconstruct.ties import Ties, digest, ties_of_session
from critiqor_otel.span import Batch

__all__ = [
    "SPILL_BYTES",
    "Index",
    "Mapped",
    "SegmentRef",
    "map_input",
    "partition_of",
    "read_index",
    "write_segments",
]

SPILL_BYTES = 24 << 20
"""Packed bytes that a task holds before it writes them."""
_RECORD_BYTES = 100  # what a record costs beside its content


class SegmentRef(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Where a segment lies."""

    partition: int
    file: str
    offset: int
    length: int


class Index(msgspec.Struct, array_like=True):
    """What a map task tells the join task."""

    ties: list[Ties]
    """Of its traces, in order of their ids."""
    segments: list[SegmentRef]


class Mapped(msgspec.Struct):
    """What a map task found; its packed segments and their index lie in the store."""

    number: int
    spans: int = 0
    logs: int = 0
    sessions: int = 0
    passed_over: int = 0
    """Pieces without traces and logs."""
    notes: list[Note] = []
    places: list[str] = []
    """The files that gave evidence."""
    session_files: bool = False
    """Some evidence came as session files, of a place."""
    index: str = ""
    """The file of its `Index`."""
    index_bytes: int = 0


def map_input(one: Input, number: int, *, partitions: int, store: Store) -> Mapped:
    """Read an input, leave what it holds in the store as `map-NUMBER`, with its index, and return what it was."""
    found = Mapped(number)
    ties: dict[str, Ties] = {}
    name = f"map-{number:06d}.data"
    with bulk_work():
        pieces = _Spilling(partitions, name)
        with store.writing(name) as file:
            for batch in read_input(one):
                _count(found, batch)
                tell(batch.spans, batch.logs, ties)
                for session in batch.sessions:
                    tied = ties_of_session(session.run_id, session.continues)
                    ties.setdefault(tied.trace_id, tied).add(tied)
                for data in pieces.take(batch):
                    file.write(data)
            for data in pieces.rest():
                file.write(data)
    index = msgspec.msgpack.encode(Index([ties[trace_id] for trace_id in sorted(ties)], pieces.refs))
    found.index, found.index_bytes = f"map-{number:06d}.index", len(index)
    store.write(found.index, index)
    return found


def read_index(name: str, store: Store) -> Index:
    """Return what a map task left for the join task.

    Raises:
        FileNotFoundError: it left none.
    """
    with store.open(name) as file:
        return _decode_index(file.read())


_decode_index = msgspec.msgpack.Decoder(Index).decode


def partition_of(trace_id: str, partitions: int) -> int:
    """Return where the records of a trace lie: the hash of its id, so that it is the same for whoever asks."""
    return digest("partition", trace_id) % partitions


def write_segments(segments: Iterator[tuple[int, Segment]], file: str, refs: list[SegmentRef]) -> Iterator[bytes]:
    """Yield the bytes of segments for partitions, one behind another, and add where each of them lies."""
    offset = refs[-1].offset + refs[-1].length if refs else 0
    for partition, segment in segments:
        data = pack_segment(segment)
        refs.append(SegmentRef(partition, file, offset, len(data)))
        offset += len(data)
        yield data


class _Spilling:
    """Packed records by partition, written out when they are many."""

    def __init__(self, partitions: int, file: str) -> None:
        self._partitions = partitions
        self._file = file
        self._packer = Packer(None)
        self._waiting: dict[int, list[Record]] = {}
        self._size = 0
        self.refs: list[SegmentRef] = []

    def take(self, batch: Batch) -> Iterator[bytes]:
        """Pack a batch; yield what is to be written by now."""
        if batch.place != self._packer.place:
            yield from self.rest()
            self._packer = Packer(batch.place)
        for record in self._packer.records(batch):
            self._waiting.setdefault(partition_of(record.trace_id, self._partitions), []).append(record)
            self._size += len(memoryview(record.content)) + _RECORD_BYTES
        if self._size >= SPILL_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[bytes]:
        """Yield what waits."""
        resources, scopes = self._packer.tables()
        waiting, self._waiting, self._size = self._waiting, {}, 0
        segments = (
            (partition, Segment(self._packer.place, resources, scopes, records))
            for partition, records in sorted(waiting.items())
        )
        yield from write_segments(segments, self._file, self.refs)


def _count(found: Mapped, batch: Batch) -> None:
    found.spans += len(batch.spans)
    found.logs += len(batch.logs)
    found.sessions += len(batch.sessions)
    found.passed_over += batch.skipped
    found.notes += batch.notes
    if batch.place is not None and (batch.spans or batch.logs or batch.sessions):
        found.session_files = found.session_files or bool(batch.sessions)
        if batch.place not in found.places:
            found.places.append(batch.place)
