"""Which calls were made in rounds: a few different ones, then the same again in the same order?

Looked for in calls of one agent that follow each other, with no word of the user and no agent's start in between; calls
that run side by side follow nobody. A round has two to LONGEST different calls.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence

from msgspec import Struct

from analyzer.timeline.call import Call

__all__ = ["LONGEST", "Cycle", "cycles_in"]

LONGEST = 6


class Cycle(Struct, frozen=True):
    """Calls that go round at least twice."""

    calls: tuple[Call, ...]
    length: int
    """Calls of one round."""

    @property
    def rounds(self) -> int:
        """How often all of them were made."""
        return len(self.calls) // self.length

    @property
    def fruitless(self) -> bool:
        """Whether every call after the first round is known to have taught what the one a round before it taught."""
        return all(
            _taught(before) == _taught(again) is not None
            for before, again in zip(self.calls, self.calls[self.length :], strict=False)
        )


def _taught(call: Call) -> Hashable:
    """Return what a call taught; failing teaches the same each time; None when it is not known."""
    return "error" if call.status == "error" else call.result_key


def cycles_in(calls: Sequence[Call], starts: Sequence[int]) -> tuple[Cycle, ...]:
    """Return the cycles among calls in order; `starts`: where agents started, in order."""
    strands: dict[Hashable, list[Call]] = {}
    for call in calls:
        if call.fingerprint is not None:
            key = (call.agent, call.user_turn, bisect_right(starts, call.position))
            strands.setdefault(key, []).append(call)
    found = (cycle for strand in strands.values() for part in _in_sequence(strand) for cycle in _cycles(part))
    return tuple(sorted(found, key=lambda cycle: cycle.calls[0].position))


def _in_sequence(calls: Sequence[Call]) -> Iterator[list[Call]]:
    """Yield the stretches in which each call began after the one before had answered."""
    part: list[Call] = []
    for call in calls:
        if part and not part[-1].position < part[-1].output_position < call.position:
            yield part
            part = []
        part.append(call)
    yield part


def _cycles(calls: Sequence[Call]) -> Iterator[Cycle]:
    """Yield the cycles of a stretch, from left to right, the shorter round first; a call is part of one."""
    prints = [call.fingerprint for call in calls]
    runs = sorted((start, length, end) for length in range(2, LONGEST + 1) for start, end in _runs(prints, length))
    free = 0
    for start, length, end in runs:
        if start >= free and len(set(prints[start : start + length])) > 1:
            yield Cycle(tuple(calls[start:end]), length)
            free = end


def _runs(prints: Sequence[Hashable], length: int) -> Iterator[tuple[int, int]]:
    """Yield where a round of a length is made twice or more, as start and end."""
    begin: int | None = None
    for place in range(length, len(prints) + 1):
        if place < len(prints) and prints[place] == prints[place - length]:
            begin = place - length if begin is None else begin
            continue
        if begin is not None and place - begin >= 2 * length:
            yield begin, place
        begin = None
