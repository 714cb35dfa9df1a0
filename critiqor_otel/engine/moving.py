"""Reading packed records back: of some traces, to see what they say, or of those that are reduced elsewhere."""

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from critiqor_otel.engine.collecting import collecting
from critiqor_otel.engine.mapping import SegmentRef, write_segments
from critiqor_otel.engine.packing import Record, Segment, unpack, unpack_segment
from critiqor_otel.engine.store import Store
from critiqor_otel.reconstruct.chaining import chain_of
from critiqor_otel.reconstruct.clusters import Chain
from critiqor_otel.reconstruct.prepared import prepare

__all__ = ["Chained", "Moved", "Parts", "chain_traces", "move_traces", "read_segments"]

Parts = list[tuple[Segment, Record]]
"""Records, each with the segment that holds what it names by number."""


class Chained(msgspec.Struct):
    """What a chain task found."""

    chains: list[Chain]


class Moved(msgspec.Struct):
    """Where a move task left the records that are reduced elsewhere."""

    segments: list[SegmentRef]


def read_segments(refs: Iterable[SegmentRef], store: Store) -> Iterator[Segment]:
    """Yield the segments in order of file and place, each file opened once."""
    by_file: dict[str, list[SegmentRef]] = {}
    for ref in refs:
        by_file.setdefault(ref.file, []).append(ref)
    for name in sorted(by_file):
        wanted = sorted((ref.offset, ref.length) for ref in by_file[name])
        yield from map(unpack_segment, store.ranges(name, wanted))


def chain_traces(refs: list[SegmentRef], wanted: Collection[str], *, store: Store) -> Chained:
    """Return the conversations of some traces of a partition, by which they may carry each other on."""
    found: dict[str, Parts] = {}
    named = frozenset(wanted)
    for segment in read_segments(refs, store):
        for record in segment.records:
            if record.trace_id in named:
                found.setdefault(record.trace_id, []).append((segment, record))
    chains: list[Chain] = []
    with collecting() as collect:
        for trace_id in sorted(found):
            held = unpack(found.pop(trace_id))
            chains += map(chain_of, prepare(held.spans, held.logs).traces)
            collect(len(held.spans))
    return Chained(chains)


def move_traces(refs: list[SegmentRef], leaving: Mapping[str, int], name: str, *, store: Store) -> Moved:
    """Copy the records of some traces of a partition into segments for the partitions where they are reduced."""
    moved: list[SegmentRef] = []
    with store.writing(name) as file:
        for segment in read_segments(refs, store):
            going: dict[int, list[Record]] = {}
            for record in segment.records:
                where = leaving.get(record.trace_id)
                if where is not None:
                    going.setdefault(where, []).append(record)
            parts = (
                (where, Segment(segment.place, segment.resources, segment.scopes, records))
                for where, records in sorted(going.items())
            )
            for data in write_segments(parts, name, moved):
                file.write(data)
    return Moved(moved)
