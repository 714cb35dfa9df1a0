"""Attribute values as JSON values: bytes and odd numbers in the spelling of OTLP JSON."""

import base64
import math
from collections.abc import Mapping
from itertools import compress
from operator import not_
from typing import Any, TypeGuard

from analyzer.session.shapes import is_list, is_object

__all__ = ["as_json", "attributes_as_json"]

_PLAIN = (str, bool, int, type(None))
_PLAIN_TYPES = frozenset(_PLAIN)
_TEXT = frozenset({str})
_CONTAINERS = (dict, list, tuple)
_DEEPEST = 100  # what nests deeper than this is nobody's attribute


def attributes_as_json(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attributes themselves where they are JSON already, or a copy in which they are."""
    if _PLAIN_TYPES.issuperset(map(type, attributes.values())):
        return attributes
    are_plain = map(_PLAIN_TYPES.__contains__, map(type, attributes.values()))
    others = compress(attributes.items(), map(not_, are_plain))
    changed = {key: told for key, value in others if (told := as_json(value)) is not value}
    return {**attributes, **changed} if changed else attributes


def as_json(value: Any, depth: int = 0) -> Any:
    """Return the value with bytes as `{"bytesValue": base64}` and NaN or infinity as `{"doubleValue": text}`.

    What is JSON already may be the very value that was given: nobody changes values.
    """
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"doubleValue": _ODD_NUMBERS.get(value, "NaN")}
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode()}
    return _container_as_json(value, depth)


def _container_as_json(value: Any, depth: int) -> Any:
    if depth >= _DEEPEST:
        return "[nested too deep]" if isinstance(value, _CONTAINERS) else str(value)
    if is_list(value):
        if _PLAIN_TYPES.issuperset(map(type, value)):
            return value
    elif is_object(value):
        if _PLAIN_TYPES.issuperset(map(type, value.values())) and _TEXT.issuperset(map(type, value)):
            return value
        return {str(key): as_json(inner, depth + 1) for key, inner in value.items()}
    elif not _is_tuple(value):
        return str(value)
    return [as_json(inner, depth + 1) for inner in value]


def _is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


_ODD_NUMBERS = {math.inf: "Infinity", -math.inf: "-Infinity"}
