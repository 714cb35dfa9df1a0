"""Can this number be got from those by everyday arithmetic? Then it is no proof that nobody looked at them."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product

from analyzer.pattern import pattern

__all__ = ["is_derivable", "is_moment", "is_rounded", "numbers_in"]

_NUMBER = pattern(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")
_CONVERSIONS = (
    7,
    12,
    24,
    60,
    100,
    1000,
    3600,
    86_400,
    1e6,
    1e9,
    1024,
    1024**2,
    1024**3,
    1.609344,
    2.20462,
    2.54,
    0.3048,
)
"""Days, months, hours, minutes, percent, thousands, seconds, millions, bytes, miles, pounds, inches, feet."""
_SCALES = (1, 0.01, 100, 1e3, 1e6, 1e9)
_FAHRENHEIT, _OFFSET = 1.8, 32
_CLOSE = 0.01  # what is rounded is a percent off at most
_MOMENTS = (1e9, 3e9)
_MOST = 40  # numbers that are combined in twos
_SUMMED = 12  # numbers that are added up, some or all


def numbers_in(tokens: Iterable[str]) -> list[float]:
    """Return the tokens that are plain numbers, in ascending order, each once."""
    return sorted({float(token) for token in tokens if token[:1].isdigit() and _NUMBER.fullmatch(token)})


def is_derivable(number: float, known: Sequence[float]) -> bool:
    """Return whether a number is about a sum of some, or of two a difference, product, ratio, mean, or a conversion."""
    return any(math.isclose(number, made, rel_tol=_CLOSE) for made in _made(known))


def is_rounded(number: float, known: Sequence[float]) -> bool:
    """Return whether a number is one of those, rounded, in percent, thousands, millions or billions or as it is."""
    return any(
        number != one and math.isclose(number * scale, one, rel_tol=_CLOSE) for one in known for scale in _SCALES
    )


def is_moment(number: float) -> bool:
    """Return whether a number may be a time in seconds or milliseconds since 1970, from 2001 to 2065."""
    return any(_MOMENTS[0] <= number / scale <= _MOMENTS[1] for scale in (1, 1e3))


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
