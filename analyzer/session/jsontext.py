"""JSON in, as tolerant as evidence needs; JSON out, strict: what programs may rely on.

Tolerated on reading, each with a remark: bytes that are no UTF-8, lone surrogates, numbers JSON has no spelling for,
nesting no parser follows. Written is strict JSON; where a value can't be spelled in UTF-8 its text is ASCII-escaped.
"""

import codecs
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from analyzer.pattern import pattern
from analyzer.session.model import Json
from analyzer.session.shapes import is_list, is_object

__all__ = ["MAX_DEPTH", "Remark", "canonical", "read_json", "strict_json"]

Remark = tuple[str, str]
"""A note's code and message."""

MAX_DEPTH = 200
"""Levels kept as values when a document is nested too deep for the parser; what lies below stays as its text."""

_MAX_DIGITS = 4300  # what Python converts to an integer by default
# A string without an end is one token too: looked for from each of its quotes, the end would cost their square.
_TOKENS = pattern(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)
_ORDERED = msgspec.json.Encoder(order="deterministic")


def read_json(data: bytes) -> tuple[Json, list[Remark]]:
    """Return the document and what had to be mended in it.

    Raises:
        ValueError: it is no JSON; the message tells where.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return msgspec.json.decode(data), []
    except (msgspec.DecodeError, RecursionError):
        return _read_leniently(data)


def strict_json(value: Json) -> bytes:
    """Return the value as compact strict JSON; NaN and infinities become `{"doubleValue": "NaN"}`."""
    try:
        text = msgspec.json.encode(value)
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError, OverflowError):
        return _spell(value, in_order=False)
    # The encoder turns NaN into null without a word.
    return _spell_checked(value, text) if b"null" in text else text


def canonical(value: Json) -> bytes:
    """Return the value as compact JSON with sorted keys: equal values give equal bytes."""
    try:
        return _ORDERED.encode(value)
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError, OverflowError):
        return _spell(value, in_order=True)


def _read_leniently(data: bytes) -> tuple[Json, list[Remark]]:
    remarks: list[Remark] = []
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text = data.decode(encoding, "replace")
        remarks.append(("invalid-utf8", f"bytes that are no {encoding} were replaced, the first at byte {error.start}"))
    odd: set[str] = set()
    try:
        value = _parse(text, odd)
    except RecursionError:
        text, cut = _cut_deep(text)
        remarks.append(("deep-nesting", f"{cut} values nested deeper than {MAX_DEPTH} levels were kept as text"))
        value = _parse_cut(text, odd)
    if odd:
        remarks.append(
            ("odd-number", f"numbers JSON has no spelling for were kept as objects: {', '.join(sorted(odd))}")
        )
    return value, remarks


def _parse_cut(text: str, odd: set[str]) -> Json:
    try:
        return _parse(text, odd)
    except RecursionError as error:
        raise ValueError("values are nested deep, and their ends are missing") from error


def _parse(text: str, odd: set[str]) -> Json:
    def integer(digits: str) -> Json:
        if len(digits) <= _MAX_DIGITS:
            return int(digits)
        odd.add(f"an integer of {len(digits)} digits")
        return {"intValue": digits}

    def double(digits: str) -> Json:
        number = float(digits)
        return number if math.isfinite(number) else constant("Infinity" if number > 0 else "-Infinity")

    def constant(name: str) -> Json:
        odd.add(name)
        return {"doubleValue": name}

    return json.loads(text, parse_int=integer, parse_float=double, parse_constant=constant)


def _cut_deep(text: str) -> tuple[str, int]:
    pieces: list[str] = []
    depth = start = done = cut = 0
    for token in _TOKENS.finditer(text):
        sign = token.group()
        if sign in "[{":
            depth += 1
            if depth == MAX_DEPTH + 1:
                start = token.start()
        elif sign in "]}":
            if depth == MAX_DEPTH + 1:
                pieces += (text[done:start], json.dumps(text[start : token.end()]))
                done = token.end()
                cut += 1
            depth -= 1
    return "".join((*pieces, text[done:])), cut


def _spell_checked(value: Json, text: bytes) -> bytes:
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return _spell(value, in_order=False)
    return text


def _spell(value: Json, *, in_order: bool) -> bytes:
    return "".join(_tokens(value, in_order=in_order)).encode("ascii")


class _Sign(str):
    """Text that goes out as it is."""

    __slots__ = ()


def _tokens(value: Json, *, in_order: bool) -> Iterator[str]:
    """Yield the pieces of a value's JSON text with a stack of our own: no depth is too much."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Sign):
            yield item
        elif is_object(item):
            stack += reversed(list(_members(item, in_order=in_order)))
        elif is_list(item):
            stack += reversed(list(_elements(item)))
        else:
            yield _scalar(item)


def _members(value: dict[Any, Any], *, in_order: bool) -> Iterator[Any]:
    items = [(key if isinstance(key, str) else _scalar(key), item) for key, item in value.items()]
    if in_order:
        items.sort(key=lambda pair: pair[0])
    yield _Sign("{")
    for position, (key, item) in enumerate(items):
        yield _Sign(f"{',' if position else ''}{json.dumps(key)}:")
        yield item
    yield _Sign("}")


def _elements(value: list[Any]) -> Iterator[Any]:
    yield _Sign("[")
    for position, item in enumerate(value):
        if position:
            yield _Sign(",")
        yield item
    yield _Sign("]")


def _scalar(value: Json) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f'{{"doubleValue":"{name}"}}'
    try:
        return json.dumps(value)
    except ValueError:
        return f'{{"intValue":"{value:#x}"}}'
    except TypeError:
        return json.dumps(str(value))
