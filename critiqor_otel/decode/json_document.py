"""The bytes of one JSON document become a value that every later step can take: Unicode throughout, no deep nesting."""

import re
from collections.abc import Iterable
from json import JSONDecodeError
from typing import Any

from analyzer.session.jsontext import read_json
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.errors import DecodeError

__all__ = ["read_document"]

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_FINDINGS = {"invalid-utf8": Finding.INVALID_TEXT, "deep-nesting": Finding.TOO_DEEP}


def read_document(data: bytes, findings: Findings) -> Any:
    """Return the document; of a doubled key the last counts.

    Raises:
        DecodeError: the bytes are no JSON; the message tells where.
    """
    try:
        document, remarks = read_json(data)
    except (ValueError, RecursionError) as error:
        # Lines are counted within the document, which the place of a note has counted already.
        reason = f"{error.msg} at character {error.pos + 1}" if isinstance(error, JSONDecodeError) else str(error)
        raise DecodeError(f"no JSON: {reason}") from error
    for code, message in remarks:
        if code in _FINDINGS:
            findings.add(_FINDINGS[code], message)
    return _mend(document, findings) if _SURROGATE_ESCAPE.search(data) else document


def _mend(document: Any, findings: Findings) -> Any:
    """Replace halves of characters by U+FFFD, with a stack of our own: no depth is too much."""
    whole = [document]
    stack: list[Any] = [whole]
    while stack:
        container = stack.pop()
        items: Iterable[tuple[Any, Any]] = enumerate(container) if is_list(container) else list(container.items())
        for place, item in items:
            if is_object(item) or is_list(item):
                stack.append(item)
            elif isinstance(item, str) and not item.isascii():
                container[place] = _mended(item, findings)
        if is_object(container):
            _mend_keys(container, findings)
    return whole[0]


def _mend_keys(container: dict[str, Any], findings: Findings) -> None:
    if any(not key.isascii() and _SURROGATE.search(key) for key in container):
        mended = {_mended(key, findings): item for key, item in container.items()}
        container.clear()
        container.update(mended)


def _mended(text: str, findings: Findings) -> str:
    if not _SURROGATE.search(text):
        return text
    findings.add(Finding.INVALID_TEXT, "half a surrogate pair")
    return _SURROGATE.sub("\ufffd", text)
