"""Values that are plain JSON become attribute values."""

from collections.abc import Mapping
from typing import Any

from analyzer.session.instants import parse_instant
from analyzer.session.jsontext import strict_json
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.span import Attributes, AttributeValue

__all__ = ["MAX_DEPTH", "plain_attributes", "plain_text", "plain_time", "plain_value", "value_as_text"]

MAX_DEPTH = 100
"""Lists and maps inside one another that stay values; a value nested deeper is kept as its JSON text."""

_INT64 = 1 << 63  # of a signed 64-bit integer, and of times
_DOUBLE = "doubleValue"  # how the reader of JSON hands over NaN and the infinities


def plain_attributes(attributes: Any, findings: Findings) -> Attributes:
    """Return a JSON object as attributes; anything else is none (told)."""
    if is_object(attributes):
        return {key: plain_value(value) for key, value in attributes.items()}
    if attributes is not None:
        findings.add(Finding.BAD_VALUE, "attributes that are no object")
    return {}


def plain_value(value: Any) -> AttributeValue:
    """Return a JSON value as an attribute value; what OTLP can't hold is kept as text."""
    if is_object(value) or is_list(value):
        if is_object(value) and list(value) == [_DOUBLE]:
            return _double(value)
        return value if _fits(value) else value_as_text(value)
    held: AttributeValue = value_as_text(value) if _is_too_big(value) else value
    return held


def plain_text(value: Any) -> str:
    """Return a value that should be text as text; empty where there is none."""
    if isinstance(value, str):
        return value
    return "" if value is None else value_as_text(value)


def plain_time(value: Any, findings: Findings) -> int:
    """Return nanoseconds for ISO-8601 text or a number of any usual unit; 0 where there is none that can be read."""
    if value is None or value == "":
        return 0
    time_ns = parse_instant(value)
    if time_ns is None or not 0 <= time_ns < _INT64:
        findings.add(Finding.BAD_VALUE, "a time that is none")
        return 0
    return time_ns


def value_as_text(value: Any) -> str:
    """Return text as it is, anything else as JSON, however deep it is nested."""
    return value if isinstance(value, str) else strict_json(value).decode()


def _double(value: Mapping[str, Any]) -> AttributeValue:
    try:
        return float(value[_DOUBLE])
    except (TypeError, ValueError):
        return dict(value)


def _fits(value: Any) -> bool:
    """Return whether a list or object is nested no deeper than `MAX_DEPTH` and holds no number beyond 64 bits."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            children = list(item.values()) if is_object(item) else item
            if any(_is_too_big(child) for child in children):
                return False
            below += [child for child in children if is_object(child) or is_list(child)]
        if not below:
            return True
        level = below
    return False


def _is_too_big(value: Any) -> bool:
    return isinstance(value, int) and not -_INT64 <= value < _INT64
