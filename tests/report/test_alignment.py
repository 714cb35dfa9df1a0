import itertools
import time
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from analyzer.report.alignment import aligned_stretches

STEPS = st.lists(st.sampled_from("abc"), max_size=14)


def longest(old: Sequence[str], new: Sequence[str]) -> int:
    """The length of a longest common subsequence, by the book."""
    row = [0] * (len(new) + 1)
    for left in old:
        before = row[:]
        for place, right in enumerate(new):
            row[place + 1] = before[place] + 1 if left == right else max(before[place + 1], row[place])
    return row[-1]


@given(STEPS, STEPS)
def test_stretches_cover_both_and_share_as_much_as_can_be_shared(old: list[str], new: list[str]) -> None:
    found = list(aligned_stretches(old, new))

    same = [old[start:end] for is_same, (start, end), _ in found if is_same]
    assert [step for _, (start, end), _ in found for step in old[start:end]] == old
    assert [step for _, _, (start, end) in found for step in new[start:end]] == new
    assert same == [new[start:end] for is_same, _, (start, end) in found if is_same]
    assert sum(map(len, same)) == longest(old, new)
    assert all(one[0] is not other[0] for one, other in itertools.pairwise(found))


def seconds(size: int) -> float:
    start = time.process_time()
    list(aligned_stretches(["a", "b"] * size, ["b", "a", "a"] * size))
    return time.process_time() - start


def test_a_round_of_steps_against_another_costs_no_more_than_their_product() -> None:
    assert min(seconds(800) for _ in range(3)) <= 64 * 2 * min(seconds(100) for _ in range(3))
