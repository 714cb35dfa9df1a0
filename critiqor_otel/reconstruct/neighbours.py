"""What is nearest in time, of things that lie beside and inside each other, without looking at each."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, Protocol, TypeVar

__all__ = ["Neighbours", "Timed"]


class Timed(Protocol):
    """What has a beginning and an end."""

    @property
    def start_ns(self) -> int:
        """Return when it begins."""
        ...

    @property
    def end_ns(self) -> int:
        """Return when it ends."""
        ...


_T = TypeVar("_T", bound=Timed)


class Neighbours(Generic[_T]):
    """Things in order of their start."""

    def __init__(self, things: Sequence[_T]) -> None:
        """Take the things, which are in order; at least one."""
        self._things = things
        self._starts = [thing.start_ns for thing in things]
        self._latest_ends = list(accumulate((thing.end_ns for thing in things), max))

    def nearest(self, other: Timed) -> _T:
        """Return the thing at the least distance; of several the first."""
        begun = bisect_right(self._starts, other.end_ns)
        following = self._things[begun : begun + 1]
        if begun == 0:
            return following[0]
        wanted = min(other.start_ns, self._latest_ends[begun - 1])
        before = self._things[bisect_left(self._latest_ends, wanted)]
        return min((before, *following), key=lambda thing: _distance(thing, other))


def _distance(one: Timed, other: Timed) -> int:
    """Return the nanoseconds between two; 0 when they overlap."""
    return max(0, one.start_ns - other.end_ns, other.start_ns - one.end_ns)
