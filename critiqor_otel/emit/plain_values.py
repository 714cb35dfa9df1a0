"""What can stand as a span's attribute? Every value, once it is made plain: no hop and no encoder stumbles over it."""

import base64
import binascii
import math
import re
from collections.abc import Mapping
from typing import Any

from analyzer.session.jsontext import strict_json
from analyzer.session.model import Json
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.span import AttributeValue

__all__ = ["attribute_of_json", "known_attributes", "plain_text", "text_of_json"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_DOUBLES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def plain_text(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 can't hold, as U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def text_of_json(value: Json) -> str:
    """Return text as it is, and any other value as its JSON text."""
    if isinstance(value, str):
        return plain_text(value)
    return plain_text(strict_json(value).decode())


def known_attributes(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes that are known."""
    return {
        name: plain_text(value) if isinstance(value, str) else value
        for name, value in facts.items()
        if value is not None
    }


def attribute_of_json(value: Json) -> AttributeValue:
    """Return the attribute that a session file spells as JSON: bytes and odd numbers are objects there."""
    if isinstance(value, str):
        return plain_text(value)
    if is_list(value):
        return [attribute_of_json(item) for item in value]
    if is_object(value):
        return _special(value) if len(value) == 1 else _object(value)
    scalar: AttributeValue = value
    return scalar


def _special(value: Mapping[str, Any]) -> AttributeValue:
    ((name, held),) = value.items()
    if name == "doubleValue" and held in _DOUBLES:
        return _DOUBLES[held]
    if name == "bytesValue" and isinstance(held, str):
        try:
            return base64.b64decode(held, validate=True)
        except (binascii.Error, ValueError):
            return _object(value)
    return _object(value)


def _object(value: Mapping[str, Any]) -> AttributeValue:
    return {plain_text(str(key)): attribute_of_json(item) for key, item in value.items()}
