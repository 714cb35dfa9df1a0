"""The step between: what the map tasks found decides which traces belong together, and where each set is reduced.

`join_traces` looks at all traces at once, by some 350 bytes each. It reads what the map tasks left in the store and
leaves there what each partition has to do, so that nobody else holds it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from typing_extensions import override

from critiqor_otel.engine.mapping import SegmentRef, partition_of, read_index
from critiqor_otel.engine.store import Store
from critiqor_otel.reconstruct.clusters import Chain, clusters, may_chain
from critiqor_otel.reconstruct.ties import Ties

__all__ = ["Joined", "Share", "ShareRef", "join_traces", "read_share"]

_decode_one = msgspec.msgpack.Decoder(Ties).decode
_encode = msgspec.msgpack.Encoder().encode
_decode_chains = msgspec.msgpack.Decoder(list[Chain]).decode


class Share(msgspec.Struct, array_like=True):
    """What there is to do in one partition."""

    segments: list[SegmentRef] = []
    """Those of its traces; what comes from other partitions is told to the reduce task."""
    leaders: dict[str, str] = {}
    """The set of each trace that shares one with others; any other trace is a set of its own."""
    leaving: dict[str, int] = {}
    """Traces of the partition that are reduced elsewhere, and where."""
    suspects: list[str] = []
    """Traces whose messages must be compared first, and nothing else of the share is settled before."""


_decode_share = msgspec.msgpack.Decoder(Share).decode


class ShareRef(msgspec.Struct, frozen=True):
    """A partition whose share lies in the store."""

    partition: int
    weight: int
    """Bytes of its segments."""
    leaving: bool
    """Some of its traces are reduced elsewhere."""
    suspected: bool
    """The messages of some of its traces must be compared first."""


class Joined(msgspec.Struct, frozen=True):
    """What a join task found; the shares lie in the store."""

    shares: tuple[ShareRef, ...]


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


def join_traces(indexes: Sequence[str], partitions: int, chained: Sequence[str] | None, *, store: Store) -> Joined:
    """Decide which traces belong together, and leave the share of each partition in the store.

    A set of traces is reduced in the partition of the trace that stands for it. Where nothing but messages can say what
    some traces belong to, the shares name these as suspects, until what `chain_traces` left of them is `chained`.
    """
    ties = _PackedTies()
    work: dict[int, Share] = {}
    for name in indexes:
        index = read_index(name, store)
        for one in index.ties:
            ties.add(one)
        for ref in index.segments:
            work.setdefault(ref.partition, Share()).segments.append(ref)
    suspects = [] if chained is not None else [trace_id for trace_id in sorted(ties) if may_chain(ties[trace_id])]
    for trace_id in suspects:
        work[partition_of(trace_id, partitions)].suspects.append(trace_id)
    if not suspects:
        _settle(clusters(ties, _chains(chained or (), store)), work, partitions)
    return Joined(tuple(_left(partition, work.pop(partition), store) for partition in sorted(work)))


def read_share(partition: int, store: Store) -> Share:
    """Return the share of a partition.

    Raises:
        FileNotFoundError: the join task left none.
    """
    with store.open(_name(partition)) as file:
        return _decode_share(file.read())


def _name(partition: int) -> str:
    return f"share-{partition:06d}"


def _left(partition: int, share: Share, store: Store) -> ShareRef:
    store.write(_name(partition), _encode(share))
    weight = sum(ref.length for ref in share.segments)
    return ShareRef(partition, weight, leaving=bool(share.leaving), suspected=bool(share.suspects))


def _chains(names: Iterable[str], store: Store) -> list[Chain]:
    chains: list[Chain] = []
    for name in names:
        with store.open(name) as file:
            chains += _decode_chains(file.read())
    return sorted(chains, key=lambda chain: chain.trace_id)


def _settle(sets: Mapping[str, str], work: dict[int, Share], partitions: int) -> None:
    for trace_id, leader in _together(sets):
        here, there = partition_of(trace_id, partitions), partition_of(leader, partitions)
        work[there].leaders[trace_id] = leader
        if here != there:
            work[here].leaving[trace_id] = there


def _together(sets: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the traces that share their set with others, each with the one that stands for it."""
    shared = {leader for trace_id, leader in sets.items() if trace_id != leader}
    return ((trace_id, leader) for trace_id, leader in sets.items() if leader in shared)
