"""Attribute values as JSON values: bytes and odd numbers in the spelling of OTLP JSON."""

import base64
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["as_json", "attributes_as_json"]

_PLAIN = (str, bool, int, type(None))
_DEEPEST = 100  # what nests deeper than this is nobody's attribute


def attributes_as_json(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attributes themselves where they are JSON already, or a copy in which they are."""
    if all(isinstance(value, _PLAIN) for value in attributes.values()):
        return attributes
    return {key: as_json(value) for key, value in attributes.items()}


def as_json(value: Any, depth: int = 0) -> Any:
    """Return the value with bytes as `{"bytesValue": base64}` and NaN or infinity as `{"doubleValue": text}`."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"doubleValue": _ODD_NUMBERS.get(value, "NaN")}
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode()}
    return _container_as_json(value, depth)


def _container_as_json(value: Any, depth: int) -> Any:
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {str(key): as_json(inner, depth + 1) for key, inner in value.items()}
    if depth < _DEEPEST and isinstance(value, list | tuple):
        return [as_json(inner, depth + 1) for inner in value]
    return "[nested too deep]" if isinstance(value, Mapping | list | tuple) else str(value)


_ODD_NUMBERS = {math.inf: "Infinity", -math.inf: "-Infinity"}
