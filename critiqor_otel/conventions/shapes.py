"""What plain value an attribute holds: text, a count, a yes or no.

Each shape is one small pure function from an attribute's value to the fact: None when it says nothing (an empty text,
a redaction marker), BadValueError when it says something the fact cannot be.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.conventions.convention import BadValueError, Salvaged
from critiqor_otel.conventions.jsontext import loads, looks_cut, structured

__all__ = [
    "PLAIN",
    "REDACTED",
    "always",
    "composed",
    "encoded",
    "flag",
    "inner",
    "integer",
    "json_value",
    "number",
    "one_of",
    "signed",
    "strings",
    "text",
]

REDACTED = frozenset({"<REDACTED>", "[REDACTED]", "__REDACTED__", "<redacted>", "[redacted]"})
"""What Claude Code, Codex and OpenInference write in place of content that was not captured."""

_LONGEST_NUMBER = 24  # digits and a point: longer is no count of anything


def text(value: Any) -> str | None:
    """Return a text; a number becomes its digits, since ids and names come as numbers too."""
    if isinstance(value, str):
        return None if not value.strip() or value in REDACTED else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise BadValueError(f"{_shown(value)} is no text")


def integer(value: Any) -> int | None:
    """Return a count: zero or more, read from digits too."""
    if type(value) is int and value >= 0:
        return value
    if isinstance(value, str):
        return _digits(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValueError(f"{_shown(value)} is no count")
    if value < 0 or not math.isfinite(value) or value != int(value):
        raise BadValueError(f"{value!r} is no count")
    return int(value)


def _digits(value: str) -> int | None:
    stripped = value.strip()
    if not stripped:
        return None
    whole, _, fraction = stripped.partition(".")
    if len(stripped) > _LONGEST_NUMBER or not (whole.isascii() and whole.isdigit()) or fraction.strip("0"):
        raise BadValueError(f"{_shown(value)} is no count")
    return int(whole)


def number(value: Any) -> float | None:
    """Return a finite number, read from text too."""
    if isinstance(value, str):
        stripped = value.strip()
        if not stripped:
            return None
        try:
            value = float(stripped) if len(stripped) <= _LONGEST_NUMBER else math.nan
        except ValueError:
            raise BadValueError(f"{_shown(value)} is no number") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValueError(f"{_shown(value)} is no number")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise BadValueError(f"{_shown(value)} is no number")
    return found


PLAIN = frozenset({text, integer, number})
"""Shapes that cost next to nothing, whatever they are given."""

_FLAGS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}


def signed(value: Any) -> int | None:
    """Return a whole number of either sign: a process that a signal ended exits with a negative code."""
    if isinstance(value, str) and value.strip().startswith("-"):
        found = integer(value.strip()[1:])
        return None if found is None else -found
    return -(integer(-value) or 0) if isinstance(value, int | float) and value < 0 else integer(value)


def flag(value: Any) -> bool | None:
    """Return a yes or no, in any of its spellings."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else str(value)
    if not word:
        return None
    if word not in _FLAGS:
        raise BadValueError(f"{_shown(value)} is no yes or no")
    return _FLAGS[word]


def strings(value: Any) -> list[str] | None:
    """Return a list of texts, also where it came as JSON text or as one text alone."""
    value = structured(value)
    items = value if is_list(value) else [value]
    found = [item for item in items if isinstance(item, str) and item]
    if not found and any(item not in (None, "") for item in items):
        raise BadValueError(f"{_shown(value)} is no list of texts")
    return found or None


def json_value(value: Any) -> Any:
    """Return a JSON value: text that spells an object, a list or quoted text is decoded; other text stays text.

    Text that was cut stays text, with a note.
    """
    if not isinstance(value, str):
        return value
    if not value or value in REDACTED:
        return None
    found = structured(value)
    if found is value and looks_cut(value):
        return Salvaged(value, "JSON text was cut; it is kept as text")
    return None if isinstance(found, str) and found in REDACTED else found


def encoded(shape: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the shape for families that JSON-encode every value, plain words too."""

    def read(value: Any) -> Any:
        if isinstance(value, str):
            with suppress(ValueError):
                value = loads(value)
        return None if value is None else shape(value)

    return read


def inner(*path: str, shape: Callable[[Any], Any] = json_value) -> Callable[[Any], Any]:
    """Return the shape that decodes an object and reads what stands at a path of keys in it; None where nothing is."""

    def read(value: Any) -> Any:
        value = structured(value)
        for key in path:
            value = value.get(key) if is_object(value) else None
        return None if value is None else shape(value)

    return read


def composed(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the shape that hands what the first shape finds to the second."""

    def read(value: Any) -> Any:
        found = first(value)
        return None if found is None else second(found)

    return read


def one_of(words: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return the shape that translates a family's words; a word that is not among them says nothing."""

    def read(value: Any) -> Any:
        return words.get(value.strip().lower()) if isinstance(value, str) else None

    return read


def always(answer: Any) -> Callable[[Any], Any]:
    """Return the shape for attributes whose mere presence says it: `error.type` is set on failures only."""

    def read(value: Any) -> Any:
        return None if value in ("", None) else answer

    return read


def _shown(value: Any) -> str:
    """Return the value's first characters for a message."""
    shown = f"{value!r:.60}" if isinstance(value, str | int | float | bytes) else f"a {type(value).__name__}"
    return shown[:60]
