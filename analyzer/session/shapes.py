"""Which shape has this JSON value? For values from outside, whose type is known to nobody."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeGuard, cast

from analyzer.session.model import Json

__all__ = ["is_list", "is_number", "is_object"]


_IsObject: TypeAlias = Callable[[Json], TypeGuard[dict[str, Any]]]
_IsList: TypeAlias = Callable[[Json], TypeGuard[list[Any]]]

# `isinstance` itself: both are asked dozens of times an event, and a function around it takes thrice as long.
is_object: _IsObject = cast("_IsObject", dict.__instancecheck__)
"""Return whether the value is a JSON object."""
is_list: _IsList = cast("_IsList", list.__instancecheck__)
"""Return whether the value is a JSON array."""


_NUMBERS = (int, float)  # a tuple: `int | float` would be made anew each time


def is_number(value: Json) -> TypeGuard[int | float]:
    """Return whether the value is a number; true and false are none."""
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)
