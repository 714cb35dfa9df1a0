"""How finders of signs tell what they find: moves, and a share of the sign's weight for each."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeAlias

from analyzer.causality.moves import Move

__all__ = ["Marks", "fading", "first"]

Marks: TypeAlias = Iterator[tuple[int, float]]
"""Moves by their index, and how much of the sign's weight each gets, from 0 to 1."""


def fading(moves: Iterable[Move]) -> Marks:
    """Yield the moves, the first with all of the weight, the next with a half, a third."""
    return ((move.index, 1 / count) for count, move in enumerate(moves, 1))


def first(moves: Iterable[Move]) -> Marks:
    """Yield the first of the moves, with all of the weight."""
    return ((move.index, 1.0) for move in islice(moves, 1))
