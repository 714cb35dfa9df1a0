"""Text that may hold JSON: decoded whole, decoded as far as it goes, or left as it is.

Attributes carry JSON in every degree of honesty: quoted twice, as a Python `repr`, cut at an attribute limit. Nothing
here raises anything but ValueError, whatever the text holds.
"""

import ast
import json
import warnings
from typing import Any

import msgspec

from analyzer.pattern import pattern

__all__ = ["decoded", "loads", "looks_cut", "salvaged", "structured"]

_LAYERS = 3  # JSON text inside JSON text inside JSON text was seen; more was not
_LITERAL_LIMIT = 1_000_000  # characters; beyond that a Python literal is not worth its cost
_DECODER = json.JSONDecoder()
_decode = msgspec.json.Decoder().decode


def loads(text: str) -> Any:
    """Return the JSON value the text holds; NaN, infinities and lone surrogates are let through.

    Raises:
        ValueError: the text holds something else.
    """
    try:
        return _decode(text)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error


def structured(value: Any) -> Any:
    """Return what a text really is: the object, list or quoted text it spells, through several layers, or itself.

    A bare number or word stays text: `19.50` is what the tool said, not a float.
    """
    for _ in range(_LAYERS):
        if not isinstance(value, str):
            return value
        inner = decoded(value)
        if inner is value:
            return value
        value = inner
    return value


def decoded(text: str) -> Any:
    """Return the object, list or quoted text that a text spells in JSON or as a Python literal, or the very text."""
    start = text.lstrip()[:1]
    if not start or start not in '{["(':
        return text
    if start != "(":
        try:
            return loads(text)
        except ValueError:
            pass
    return text if start == '"' else _literal(text)


def _literal(text: str) -> Any:
    """Return the value of a Python literal made of what JSON can hold, or the very text."""
    if len(text) > _LITERAL_LIMIT or text.rstrip()[-1] not in "}])":
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in foreign text concern nobody
            value = ast.literal_eval(text.strip())
        return json.loads(json.dumps(value))  # tuples become lists; a set has no order to keep, so it stays text
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, OverflowError):
        return text


_STARTS = pattern(r'\s*(?:\{\s*"|\[\s*(?:\{\s*)?"|\[\s*\[)')


def looks_cut(text: str) -> bool:
    """Tell whether a text that spells no JSON begins like it: what an attribute length limit leaves."""
    return _STARTS.match(text) is not None


def salvaged(text: str, *, key: str | None = None) -> list[Any]:
    """Return the whole items of a list in JSON text that was cut, in order; linear in the text.

    With a `key` the list is the one under the first such key of an object.
    """
    at = _list_start(text, key)
    items: list[Any] = []
    while 0 <= at < len(text):
        at = _skip_to_value(text, at)
        try:
            item, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        items.append(item)
    return items


def _list_start(text: str, key: str | None) -> int:
    if key is None:
        start = text.find("[")
        return -1 if start < 0 or text[:start].strip() else start + 1
    at = text.find(f'"{key}"')
    start = text.find("[", at) if at >= 0 else -1
    return start + 1 if start >= 0 and text[at + len(key) + 2 : start].strip() == ":" else -1


def _skip_to_value(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n,":
        at += 1
    return at
