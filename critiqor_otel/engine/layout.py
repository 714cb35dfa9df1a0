"""The step between: what the map tasks found decides which traces belong together, and where each set is reduced."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from typing_extensions import override

from critiqor_otel.engine.mapping import Mapped, SegmentRef, partition_of
from critiqor_otel.reconstruct.clusters import Chain, clusters, may_chain
from critiqor_otel.reconstruct.ties import Ties

__all__ = ["Share", "gathered_ties", "shares", "suspects"]

_decode = msgspec.msgpack.Decoder(list[Ties]).decode
_decode_one = msgspec.msgpack.Decoder(Ties).decode
_encode = msgspec.msgpack.Encoder().encode


class Share(msgspec.Struct):
    """What one reduce task has to do."""

    partition: int
    segments: list[SegmentRef] = []
    """Those of its partition, and later those that were moved there."""
    leaders: dict[str, str] = {}
    """The set of each trace that shares one with others; any other trace is a set of its own."""
    leaving: dict[str, int] = {}
    """Traces of the partition that are reduced elsewhere, and where."""


class _PackedTies(Mapping[str, Ties]):
    """Ties by trace, each packed until it is asked for: a third of the memory, and there are millions of them."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}

    def add(self, ties: Ties) -> None:
        """Add what is known of a trace."""
        before = self._packed.get(ties.trace_id)
        if before is not None:
            ties.add(_decode_one(before))
        self._packed[ties.trace_id] = _encode(ties)

    @override
    def __getitem__(self, trace_id: str) -> Ties:
        return _decode_one(self._packed[trace_id])

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    @override
    def __len__(self) -> int:
        return len(self._packed)


def gathered_ties(mapped: Iterable[Mapped]) -> Mapping[str, Ties]:
    """Return what ties each trace, added up over the tasks; what a task told is let go of."""
    found = _PackedTies()
    for one in mapped:
        for ties in _decode(one.ties):
            found.add(ties)
        one.ties = b""
    return found


def suspects(ties: Mapping[str, Ties], partitions: int) -> dict[int, list[str]]:
    """Return, by partition, the traces of which only their messages can say what they belong to."""
    found: dict[int, list[str]] = {}
    for trace_id in sorted(ties):
        if may_chain(ties[trace_id]):
            found.setdefault(partition_of(trace_id, partitions), []).append(trace_id)
    return found


def shares(
    ties: Mapping[str, Ties], chains: Iterable[Chain], segments: Sequence[SegmentRef], partitions: int
) -> list[Share]:
    """Return the reduce tasks: a set of traces is reduced in the partition of the trace that stands for it."""
    found = [Share(partition) for partition in range(partitions)]
    for ref in segments:
        found[ref.partition].segments.append(ref)
    for trace_id, leader in _together(clusters(ties, chains)):
        here, there = partition_of(trace_id, partitions), partition_of(leader, partitions)
        found[there].leaders[trace_id] = leader
        if here != there:
            found[here].leaving[trace_id] = there
    return found


def _together(sets: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the traces that share their set with others, each with the one that stands for it."""
    shared = {leader for trace_id, leader in sets.items() if trace_id != leader}
    return ((trace_id, leader) for trace_id, leader in sets.items() if leader in shared)
