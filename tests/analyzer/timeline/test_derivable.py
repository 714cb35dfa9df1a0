"""Numbers that follow from others, and numbers that don't."""

import pytest

from analyzer.timeline.derivable import is_derivable, numbers_in


@pytest.mark.parametrize(
    ("number", "known"),
    [
        (30.8, (10.55, 20.25)),
        (9.7, (10.55, 20.25)),
        (63.3, (10.55, 6)),
        (3.5, (7, 2)),
        (15.4, (10.55, 20.25, 2)),
        (61, (10, 20, 31)),
        (19.5, (19.499,)),
        (25, (0.25,)),
        (68, (20,)),
        (48, (2,)),
    ],
    ids=["sum", "difference", "product", "ratio", "mean", "total", "rounded", "percent", "degrees", "hours"],
)
def test_what_follows_from_what_was_told(number: float, known: tuple[float, ...]) -> None:
    assert is_derivable(number, known)


@pytest.mark.parametrize(("number", "known"), [(90, (30,)), (5, ()), (412, (19.5, 3))])
def test_what_follows_from_nothing(number: float, known: tuple[float, ...]) -> None:
    assert not is_derivable(number, known)


def test_plain_numbers_among_tokens() -> None:
    assert numbers_in(["w17", "19.5", "3", "3", "1.2.3", "2025-01-02"]) == [3, 19.5]


def test_many_numbers_cost_no_more_than_some() -> None:
    assert not is_derivable(0.123_456, [float(number) for number in range(1_000, 100_000, 997)] * 50)
