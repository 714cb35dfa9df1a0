"""Which steps do two runs have in common, in order? A longest common subsequence, in time that no input blows up.

Bits of whole rows are worked on at once, so two thousand steps against two thousand take some milliseconds, whatever
they are. Source: Hyyrö, Bit-Parallel LCS-length Computation Revisited (2004).
"""

from collections.abc import Iterator, Sequence

__all__ = ["aligned_stretches"]

_Span = tuple[int, int]


def aligned_stretches(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[bool, _Span, _Span]]:
    """Yield stretches that cover both in order: whether they are equal, and from where to where in each."""
    began = (0, 0)
    is_same = True
    here = (0, 0)
    for here, matches in _walk(old, new):
        if matches is not is_same:
            if here != began:
                yield is_same, (began[0], here[0]), (began[1], here[1])
            began, is_same = here, matches
    end = (len(old), len(new))
    if end != began:
        yield is_same, (began[0], end[0]), (began[1], end[1])


def _walk(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[tuple[int, int], bool]]:
    """Yield the places that a longest common subsequence passes, and whether both go on from there with one step."""
    rows = _rows(old, new)
    i = j = 0
    while i < len(old) or j < len(new):
        matches = i < len(old) and j < len(new) and old[i] == new[j]
        yield (i, j), matches
        if matches:
            i, j = i + 1, j + 1
        elif j == len(new) or (i < len(old) and _common(rows, old, i + 1, j) >= _common(rows, old, i, j + 1)):
            i += 1
        else:
            j += 1


def _rows(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """Return bits by place in `new`: zeros among the lowest n count what its rest shares with the last n of `old`."""
    mask = (1 << len(old)) - 1
    places: dict[str, int] = {}
    for bit, step in enumerate(reversed(old)):
        places[step] = places.get(step, 0) | 1 << bit
    row = mask
    rows = [row]
    for step in reversed(new):
        shared = row & places.get(step, 0)
        row = ((row + shared) | (row - shared)) & mask
        rows.append(row)
    return rows[::-1]


def _common(rows: Sequence[int], old: Sequence[str], i: int, j: int) -> int:
    """Return how many steps the rests have in common."""
    left = len(old) - i
    return left - (rows[j] & ((1 << left) - 1)).bit_count()
