"""Reading packed records back: of some traces, to see what they say, or of those that are reduced elsewhere."""

from collections.abc import Iterable, Iterator

import msgspec

from critiqor_otel.engine.collecting import collecting
from critiqor_otel.engine.layout import read_share
from critiqor_otel.engine.mapping import SegmentRef, write_segments
from critiqor_otel.engine.packing import Record, Segment, unpack, unpack_segment
from critiqor_otel.engine.store import Store
from critiqor_otel.reconstruct.chaining import chain_of
from critiqor_otel.reconstruct.clusters import Chain
from critiqor_otel.reconstruct.prepared import prepare

__all__ = ["Moved", "Parts", "chain_traces", "move_traces", "read_segments"]

Parts = list[tuple[Segment, Record]]
"""Records, each with the segment that holds what it names by number."""


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


def chain_traces(partition: int, *, store: Store) -> str:
    """Leave the conversations of a share's suspects, by which they may carry each other on, and return their file."""
    share = read_share(partition, store)
    found: dict[str, Parts] = {}
    named = frozenset(share.suspects)
    for segment in read_segments(share.segments, store):
        for record in segment.records:
            if record.trace_id in named:
                found.setdefault(record.trace_id, []).append((segment, record))
    chains: list[Chain] = []
    with collecting() as collect:
        for trace_id in sorted(found):
            held = unpack(found.pop(trace_id))
            chains += map(chain_of, prepare(held.spans, held.logs).traces)
            collect(len(held.spans))
    name = f"chain-{partition:06d}.chains"
    store.write(name, msgspec.msgpack.encode(chains))
    return name


def move_traces(partition: int, *, store: Store) -> Moved:
    """Copy the records of the traces that leave a share into segments for the partitions where they are reduced."""
    share = read_share(partition, store)
    moved: list[SegmentRef] = []
    name = f"move-{partition:06d}.data"
    with store.writing(name) as file:
        for segment in read_segments(share.segments, store):
            going: dict[int, list[Record]] = {}
            for record in segment.records:
                where = share.leaving.get(record.trace_id)
                if where is not None:
                    going.setdefault(where, []).append(record)
            parts = (
                (where, Segment(segment.place, segment.resources, segment.scopes, records))
                for where, records in sorted(going.items())
            )
            for data in write_segments(parts, name, moved):
                file.write(data)
    return Moved(moved)
