"""A value of the wrong type is read as what it most likely means, else as a safe default; nothing here raises."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

__all__ = [
    "as_counts",
    "as_mapping",
    "as_number",
    "as_numbers",
    "as_optional_text",
    "as_sequence",
    "as_text",
    "as_whole",
    "as_word",
    "is_mapping",
    "is_sequence",
]

_Word = TypeVar("_Word", bound=str)

_MAX_BITS = 1000  # about 300 digits: what a float and a line of text can still hold


def is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Return whether the value is a mapping of any kind."""
    return isinstance(value, Mapping)


def is_sequence(value: Any) -> TypeGuard[Sequence[Any]]:
    """Return whether the value is a list or a tuple."""
    return isinstance(value, list | tuple)


def as_text(value: Any, default: str = "") -> str:
    """Return the value as text, the same in every process; the default where it has no text form.

    An object whose class tells nothing of its content reads as its class in angle brackets, not as its address.
    """
    if isinstance(value, str):
        return str.__str__(value)
    kind = _kind(value)
    if _tells_nothing(kind):
        return f"<{kind.__qualname__}>"
    try:
        return str(value)
    except Exception:  # noqa: BLE001  # the value's own code runs here and may raise anything
        return default or f"<{kind.__qualname__}>"


def as_optional_text(value: Any) -> str | None:
    """Return the value as text, None as None."""
    return None if value is None else as_text(value)


def as_whole(value: Any, default: int = 0) -> int:
    """Return a whole number: fractions are cut off, digits in text are read, true counts as 1.

    What is none, or has more than 300 digits, gives the default.
    """
    if not isinstance(value, int | float | str):
        return default
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return default
    return number if number.bit_length() <= _MAX_BITS else default


def as_number(value: Any) -> float | None:
    """Return a finite number as it is or from its text; None for anything else, true and false among it."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number):
        return None
    return number if isinstance(value, str) else value


def as_word(value: Any, allowed: Iterable[_Word], default: _Word) -> _Word:
    """Return the word of a closed set that the value is, else the default."""
    if isinstance(value, str):
        for word in allowed:
            if word == value:
                return word
    return default


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping as it is, anything else as an empty one."""
    return value if is_mapping(value) else {}


def as_sequence(value: Any) -> Sequence[Any]:
    """Return a list or tuple as it is, anything else as an empty one."""
    return value if is_sequence(value) else ()


def as_numbers(value: Any) -> dict[str, float]:
    """Return the entries of a mapping that are finite numbers; true and false count as 1 and 0, text is no number."""
    return {
        as_text(key): found
        for key, found in as_mapping(value).items()
        if isinstance(found, bool) or (isinstance(found, int | float) and as_number(found) is not None)
    }


def as_counts(value: Any) -> dict[str, int]:
    """Return the numbers of a mapping as `as_numbers` does, their fractions cut off."""
    return {key: int(found) for key, found in as_numbers(value).items()}


def _kind(value: object) -> type[object]:
    return type(value)


def _tells_nothing(kind: type[object]) -> bool:
    inherited: tuple[object, object] = (object.__str__, object.__repr__)
    return (kind.__str__, kind.__repr__) == inherited
