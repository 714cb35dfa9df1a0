"""Which traces must be looked at together, for they may be of one run: sets that no tie leaves.

The sets may be larger than runs, never smaller. So runs can be made of each set alone, anywhere.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from critiqor_otel.reconstruct.neighbours import Neighbours
from critiqor_otel.reconstruct.ties import Ties, digest

__all__ = ["Chain", "clusters", "may_chain"]

_SLOTS = 16  # a trace, of some three digests: few of those that come once fall on another


class Chain(Struct, array_like=True):
    """Digests of conversations in a trace without ids: those its calls carry on, and those that may be carried on."""

    trace_id: str
    asked: tuple[bytes, ...] = ()
    answered: tuple[bytes, ...] = ()


def may_chain(ties: Ties) -> bool:
    """Tell whether nothing but its messages can say what a trace belongs to."""
    return ties.models and not ties.named and not ties.agent


def clusters(ties: Mapping[str, Ties], chains: Iterable[Chain] = ()) -> dict[str, str]:
    """Map each trace to the set it belongs to, which bears the id of its first trace in the order of ids.

    A trace in which no agent speaks goes with the trace of its service that is nearest in time, of those whose set
    tells of an agent.
    """
    found = _Sets(sorted(ties))
    _join_named(ties, found)
    _join_scattered(ties, found)
    _join_chained(chains, found)
    _settle_silent(ties, found)
    return {trace_id: found.leader(trace_id) for trace_id in found.names}


class _Sets:
    """Disjoint sets of traces; the first in the order of ids stands for its set."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self._parent = list(range(len(names)))
        self._index = {name: index for index, name in enumerate(names)}

    def leader(self, name: str) -> str:
        return self.names[self._find(self._index[name])]

    def join(self, one: str, other: str) -> None:
        first, second = sorted((self._find(self._index[one]), self._find(self._index[other])))
        self._parent[second] = first

    def _find(self, index: int) -> int:
        parent = self._parent
        while parent[index] != index:
            parent[index] = index = parent[parent[index]]
        return index


class _Shared:
    """Tells of digests whether they may have come twice: a byte for some of them, where their owners took a hundred."""

    def __init__(self, digests: Iterable[int], traces: int) -> None:
        self._mask = (1 << max(10, (traces * _SLOTS).bit_length())) - 1
        self._times = bytearray(self._mask + 1)
        for key in digests:
            slot = key & self._mask
            self._times[slot] = min(self._times[slot] + 1, 2)

    def __contains__(self, key: int) -> bool:
        return self._times[key & self._mask] > 1


def _named(ties: Mapping[str, Ties], names: Iterable[str]) -> Iterator[int]:
    for name in names:
        yield digest("name", name)
        one = ties[name]
        yield from one.keys
        yield from one.numbered


def _join_named(ties: Mapping[str, Ties], found: _Sets) -> None:
    """Join what shares a name. The id of a trace is a name too: links, and runs of one trace, are called by it."""
    shared = _Shared(_named(ties, found.names), len(found.names))
    owners = {key: name for name in found.names if (key := digest("name", name)) in shared}
    for name in found.names:
        for key in ties[name].keys:
            if key in shared:
                found.join(owners.setdefault(key, name), name)
    for name in found.names:
        for key in ties[name].numbered:
            if key in owners:
                found.join(owners[key], name)


def _join_scattered(ties: Mapping[str, Ties], found: _Sets) -> None:
    """Join traces without names that one origin wrote, of families that give no ids, where their times overlap."""
    scattered = [one for one in ties.values() if one.scattered and not one.named]
    scattered.sort(key=lambda one: (one.origin, one.start_ns, one.end_ns, one.trace_id))
    before: Ties | None = None
    latest = 0
    for one in scattered:
        if before is not None and before.origin == one.origin and one.start_ns <= latest:
            found.join(before.trace_id, one.trace_id)
        else:
            latest = 0
        before, latest = one, max(latest, one.end_ns)


def _join_chained(chains: Iterable[Chain], found: _Sets) -> None:
    """Join traces that answered a conversation with those that carry it on."""
    owners: dict[bytes, str] = {}
    kept = list(chains)
    for chain in kept:
        for key in chain.answered:
            owner = owners.setdefault(key, chain.trace_id)
            found.join(owner, chain.trace_id)
    for chain in kept:
        for key in chain.asked:
            if key in owners:
                found.join(owners[key], chain.trace_id)


def _settle_silent(ties: Mapping[str, Ties], found: _Sets) -> None:
    speaking = {found.leader(name) for name in found.names if ties[name].speaks}
    silent = [one for one in ties.values() if one.known and found.leader(one.trace_id) not in speaking]
    if not silent:
        return
    silent.sort(key=_in_time)
    wanted = {one.service for one in silent}
    homes = _homes(one for one in ties.values() if one.service in wanted and found.leader(one.trace_id) in speaking)
    settled: set[str] = set()
    decided: list[tuple[str, str]] = []
    for one in silent:
        leader, near = found.leader(one.trace_id), homes.get(one.service)
        if near is not None and leader not in settled:
            settled.add(leader)
            decided.append((near.nearest(one).trace_id, one.trace_id))
    for home, name in decided:
        found.join(home, name)


def _homes(speaking: Iterable[Ties]) -> dict[int, "Neighbours[Ties]"]:
    by_service: dict[int, list[Ties]] = {}
    for one in sorted(speaking, key=_in_time):
        by_service.setdefault(one.service, []).append(one)
    return {service: Neighbours(found) for service, found in by_service.items()}


def _in_time(one: Ties) -> tuple[int, int, str]:
    return one.start_ns, -one.end_ns, one.trace_id
