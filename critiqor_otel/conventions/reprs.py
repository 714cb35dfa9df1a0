"""What a Python `repr` says of one of an object's fields: `TaskOutput(raw='x', messages=[…])`.

Frameworks write objects into attributes that way. A field's value is read where it is a literal, by one pass over the
text; nothing is executed.
"""

from collections.abc import Iterator
from typing import Any

from analyzer.session.shapes import is_list
from critiqor_otel.conventions.jsontext import structured

__all__ = ["literal_after", "literals_after"]

_OPENING = "[{("
_CLOSING = "]})"


def literal_after(text: str, name: str) -> Any:
    """Return the value of the first field of that name whose value is a literal list, object or text; else None."""
    return next(literals_after(text, name), None)


def literals_after(text: str, name: str) -> Iterator[Any]:
    """Yield the values of the fields of that name whose values are literals, in the order of the text.

    The first one that is cut ends it: what follows lies inside.
    """
    at = text.find(f"{name}=")
    while at >= 0:
        begin = at + len(name) + 1
        end = _end_of_literal(text, begin)
        if end > len(text):
            return
        if end > begin:
            found = structured(f"[{text[begin:end]}]")
            yield from found if is_list(found) else ()
        at = text.find(f"{name}=", end)


def _end_of_literal(text: str, begin: int) -> int:
    """Return the place after the literal that begins there, the same place where none does, or one past the end."""
    depth = 0
    at = begin
    while at < len(text):
        character = text[at]
        if character in "'\"":
            at = _end_of_quote(text, at)
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif depth == 0:
            return begin
        at += 1
        if depth <= 0:
            return at
    return len(text) + 1


def _end_of_quote(text: str, at: int) -> int:
    """Return the place of the closing quote, or one past the end when there is none."""
    quote = text[at]
    at += 1
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == quote:
            return at
        at += 1
    return len(text) + 1
