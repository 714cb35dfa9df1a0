"""Which shape has this JSON value? For values from outside, whose type is known to nobody."""

from typing import Any, TypeGuard

from analyzer.session.model import Json

__all__ = ["is_list", "is_number", "is_object"]


def is_object(value: Json) -> TypeGuard[dict[str, Any]]:
    """Return whether the value is a JSON object."""
    return isinstance(value, dict)


def is_list(value: Json) -> TypeGuard[list[Any]]:
    """Return whether the value is a JSON array."""
    return isinstance(value, list)


def is_number(value: Json) -> TypeGuard[int | float]:
    """Return whether the value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
