"""Can this number be got from those by everyday arithmetic? Then it is no proof that nobody looked at them."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product

__all__ = ["is_derivable", "numbers_in"]

_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")
_CONVERSIONS = (7, 12, 24, 60, 100, 1000)
"""Days, months, hours, minutes, percent, thousands."""
_FAHRENHEIT, _OFFSET = 1.8, 32
_CLOSE = 0.01  # what is rounded is a percent off at most
_MOST = 40  # numbers that are combined in twos
_SUMMED = 12  # numbers that are added up, some or all


def numbers_in(tokens: Iterable[str]) -> list[float]:
    """Return the tokens that are plain numbers, in ascending order, each once."""
    return sorted({float(token) for token in tokens if _NUMBER.fullmatch(token)})


def is_derivable(number: float, known: Sequence[float]) -> bool:
    """Return whether a number is about a sum of some, or of two a difference, product, ratio, mean, or a conversion."""
    return any(math.isclose(number, made, rel_tol=_CLOSE) for made in _made(known))


def _made(known: Sequence[float]) -> Iterator[float]:
    few = tuple(islice(known, _MOST))
    sums = [0.0]
    for one in few[:_SUMMED]:
        sums += [already + one for already in sums]
    yield from sums[1:]
    for one in few:
        yield from (one, one * _FAHRENHEIT + _OFFSET, (one - _OFFSET) / _FAHRENHEIT)
        for factor in _CONVERSIONS:
            yield from (one * factor, one / factor)
    for first, second in product(few, few):
        yield from (first + second, (first + second) / 2, first - second, first * second)
        if second:
            yield first / second
