"""Ids that other systems write: shortened, prefixed, or no hex at all."""

import hashlib
import re
from typing import Any

from analyzer.pattern import pattern
from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID, BadIdError, id_from_bytes, id_from_text

__all__ = ["hashed_id", "optional_padded_id", "padded_id"]

_NAMES = {TRACE_ID: "trace id", SPAN_ID: "span id"}
_HEX = pattern(r"[0-9a-f]+", re.ASCII)


def padded_id(value: Any, size: int) -> str:
    """Return the id of a system that leaves leading zeros out, or sets `0x` before it.

    Raises:
        BadIdError: it is no hex, too long, or all zero.
    """
    if not isinstance(value, str):
        raise BadIdError(f"{_NAMES[size]} {'missing' if value is None else 'not text'}")
    digits = value.lower().removeprefix("0x")
    if len(digits) <= 2 * size and _HEX.fullmatch(digits):
        return id_from_bytes(bytes.fromhex(digits.zfill(2 * size)), size)
    return id_from_text(value, size)


def optional_padded_id(value: Any, size: int) -> str | None:
    """Return the id, or None where no id is given: absent, empty, all zero.

    Raises:
        BadIdError: something else stands there.
    """
    if value is None or (isinstance(value, str) and not value.lower().removeprefix("0x").strip("0")):
        return None
    return padded_id(value, size)


def hashed_id(value: Any, size: int) -> str:
    """Return the id of a system that takes any text: hex of the right length as it is, a UUID without its dashes.

    Everything else becomes the head of its SHA-256, as Langfuse's own SDK derives ids from seeds.

    Raises:
        BadIdError: there is no text.
    """
    if not isinstance(value, str) or not value:
        raise BadIdError(f"{_NAMES[size]} {'not text' if value else 'missing'}")
    digits = value.lower().replace("-", "")
    if len(digits) == 2 * size and _HEX.fullmatch(digits) and digits.strip("0"):
        return digits
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest()[:size].hex()
