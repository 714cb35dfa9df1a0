"""What is worked out once is worked out rightly, and its table is bounded however much comes, and of what length."""

import gc
import tracemalloc

import pytest

from analyzer.remembered import remembered

MOST = 50


def test_an_answer_is_worked_out_once() -> None:
    asked: list[str] = []

    @remembered(MOST)
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    assert [length("one"), length("three"), length("one")] == [3, 5, 3]
    assert asked == ["one", "three"]


@pytest.mark.parametrize("longest", [8, 256])
def test_many_and_long_texts_are_answered_and_not_kept(longest: int) -> None:
    @remembered(MOST, longest)
    def doubled(text: str) -> str:
        return text + text

    texts = [f"{number} " + "x" * size for number in range(2 * MOST) for size in (0, 1 << 16)]
    tracemalloc.start()
    try:
        for text in texts:
            assert doubled(text) == text * 2
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < MOST * 1_000


def test_what_raises_raises_again() -> None:
    @remembered(MOST)
    def refused(text: str) -> int:
        return int(text)

    for _ in range(2):
        with pytest.raises(ValueError, match="none"):
            refused("none")
