"""Trace and span ids: from every spelling to lower-case hex.

Sources: OTLP 1.x (JSON ids are hex, an all-zero id is invalid), the protobuf JSON mapping (bytes are base64, which
plain protobuf libraries write for ids too). The two spellings differ in length, so none is guessed.
"""

import base64
import binascii
import re

__all__ = ["SPAN_ID", "TRACE_ID", "BadIdError", "id_from_bytes", "id_from_text", "optional_id"]

TRACE_ID = 16
"""Bytes of a trace id."""
SPAN_ID = 8
"""Bytes of a span id."""

_NAMES = {TRACE_ID: "trace id", SPAN_ID: "span id"}
_HEX = re.compile(r"[0-9a-fA-F]+", re.ASCII)
_URL_SAFE = str.maketrans("-_", "+/")


class BadIdError(ValueError):
    """Something stands where an id should, and is none; the message is a reason without the value."""


def id_from_bytes(raw: bytes, size: int) -> str:
    """Return the hex id.

    Raises:
        BadIdError: the id is empty, of another size or all zero.
    """
    if len(raw) == size and any(raw):
        return raw.hex()
    if len(raw) == size:
        raise BadIdError(f"{_NAMES[size]} all zero")
    raise BadIdError(f"{_NAMES[size]} of {len(raw)} bytes" if raw else f"{_NAMES[size]} empty")


def id_from_text(text: object, size: int) -> str:
    """Return the hex id that hex of either case, or base64 of either alphabet, spells.

    Raises:
        BadIdError: the text spells no id of that size, or one that is all zero.
    """
    return id_from_bytes(_bytes_of(text, size), size)


def optional_id(text: object, size: int) -> str | None:
    """Return the hex id, or None where no id is given: absent, empty, all zero.

    Raises:
        BadIdError: something else stands there.
    """
    if text is None or text == "":
        return None
    raw = _bytes_of(text, size)
    return raw.hex() if any(raw) else None


def _bytes_of(text: object, size: int) -> bytes:
    if not isinstance(text, str):
        raise BadIdError(f"{_NAMES[size]} missing" if text is None else f"{_NAMES[size]} not text")
    if len(text) == 2 * size and _HEX.fullmatch(text):
        return bytes.fromhex(text)
    return _from_base64(text, size)


def _from_base64(text: str, size: int) -> bytes:
    if not text:
        raise BadIdError(f"{_NAMES[size]} empty")
    body = text.rstrip("=")
    if len(body) != (size * 8 + 5) // 6:
        raise BadIdError(f"{_NAMES[size]} of {len(text)} characters")
    try:
        return base64.b64decode(body.translate(_URL_SAFE) + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadIdError(f"{_NAMES[size]} neither hex nor base64") from error
