"""Numbers, bytes, times and enums as JSON writes them: every spelling that is legal or was seen.

Sources: the protobuf JSON mapping (64-bit integers are text or numbers, bytes are base64 of either alphabet, NaN and
the infinities are text), OTLP/JSON (enums are numbers), old JavaScript exporters (a long is `{low, high}`, a time
`[seconds, nanoseconds]`), protobuf's own JSON writers (enums by name), hand-written senders (a time as ISO-8601 text or
with a decimal point).
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from analyzer.session.instants import parse_instant
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.span import SpanKind, StatusCode

__all__ = [
    "KINDS",
    "STATUS_CODES",
    "BadScalarError",
    "as_bytes",
    "as_count",
    "as_double",
    "as_enum",
    "as_integer",
    "as_severity",
    "as_time",
]

_Member = TypeVar("_Member")


class BadScalarError(ValueError):
    """A value is none of the spellings; the message is a reason without the value."""


KINDS: Mapping[Any, SpanKind] = {
    **{int(kind): kind for kind in SpanKind},
    **{f"SPAN_KIND_{kind.name}": kind for kind in SpanKind},
}
"""Span kinds by number and by name."""
STATUS_CODES: Mapping[Any, StatusCode] = {
    **{int(code): code for code in StatusCode},
    **{f"STATUS_CODE_{code.name}": code for code in StatusCode},
}
"""Status codes by number and by name."""

_SEVERITIES = {"TRACE": 1, "DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17, "FATAL": 21}
_SEVERITY_NAME = re.compile(r"SEVERITY_NUMBER_([A-Z]+?)([2-4]?)")
_INT64 = 1 << 63
_UINT64 = 1 << 64
_SECOND = 1_000_000_000
_URL_SAFE = str.maketrans("-_", "+/")


def as_integer(value: Any) -> int | str:
    """Return the integer exactly; one beyond 64 bits stays text, since nothing else in OTLP can hold it.

    Raises:
        BadScalarError: it is no integer.
    """
    if _is_digits(value, _INT64_DIGITS):
        return int(value)
    number = _integer(value)
    return number if -_INT64 <= number < _INT64 else str(number)


def as_double(value: Any) -> float:
    """Return the double; text is read, `NaN` and `Infinity` among it.

    Raises:
        BadScalarError: it is no number.
    """
    if is_object(value):  # a bare NaN or Infinity, as the reader of JSON hands it over
        value = value.get("doubleValue")
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise BadScalarError("a double that is no number")


def as_bytes(value: Any) -> bytes:
    """Return the bytes that base64 of either alphabet spells, padded or not.

    Raises:
        BadScalarError: it is no base64.
    """
    if isinstance(value, str):
        body = value.translate(_URL_SAFE).rstrip("=")
        try:
            return base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
        except (binascii.Error, ValueError):
            pass
    raise BadScalarError("bytes that are no base64")


def as_time(value: Any, findings: Findings) -> int:
    """Return nanoseconds since the epoch; 0 where there is no time, or none that can be read (told)."""
    if not value:
        return 0
    if _is_digits(value, _UINT64_DIGITS):
        return int(value)
    try:
        time_ns = _pair_of_numbers(value) if is_list(value) else _integer(value)
    except BadScalarError:
        instant = parse_instant(value) if isinstance(value, str) else None
        if instant is None:
            findings.add(Finding.BAD_VALUE, "a time that is no number")
            return 0
        time_ns = instant
    if 0 <= time_ns < _UINT64:
        return time_ns
    findings.add(Finding.BAD_VALUE, "a time outside 64 bits")
    return 0


def as_count(value: Any, findings: Findings) -> int:
    """Return a number of dropped things, 0 where none is given or it can't be read (told)."""
    if not value:
        return 0
    try:
        count = _integer(value)
    except BadScalarError:
        count = -1
    if 0 <= count < _UINT64:
        return count
    findings.add(Finding.BAD_VALUE, "a count that is none")
    return 0


def as_enum(value: Any, members: Mapping[Any, _Member], findings: Findings, *, absent: _Member) -> _Member:
    """Return the member by number or by name, `absent` where none is given or it is not known (told)."""
    if value is None:
        return absent
    if isinstance(value, int):
        found = members.get(value)
    elif isinstance(value, str):
        found = members.get(int(value) if value.isdecimal() and len(value) == 1 else value)
    else:
        found = None
    if found is None:
        findings.add(Finding.BAD_VALUE, f"a {type(absent).__name__} OTLP does not know")
        return absent
    return found


def as_severity(value: Any, findings: Findings) -> int:
    """Return a severity number from its number or name, 0 where none is given or it can't be read (told)."""
    match = _SEVERITY_NAME.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[1] == "UNSPECIFIED":
        return as_count(0 if match else value, findings)
    return _SEVERITIES.get(match[1], 0) + int(match[2] or 1) - 1


_INT64_DIGITS, _UINT64_DIGITS = 18, 19  # so many always fit


def _is_digits(value: Any, most: int) -> bool:
    """Tell whether this is a number as everybody writes it: digits, and not too many of them."""
    return isinstance(value, str) and len(value) <= most and value.isdecimal()


def _integer(value: Any) -> int:
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError as error:
            raise BadScalarError("an integer that is no number") from error
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if is_object(value):
        return _long(value)
    raise BadScalarError("an integer that is no number")


def _long(halves: dict[str, Any]) -> int:
    low, high = halves.get("low"), halves.get("high")
    if not isinstance(low, int) or not isinstance(high, int):
        raise BadScalarError("an integer that is no number")
    return (high << 32) + (low & 0xFFFF_FFFF)


def _pair_of_numbers(pair: list[Any]) -> int:
    if len(pair) != 2:  # noqa: PLR2004  # seconds and nanoseconds
        raise BadScalarError("a time that is no number")
    return _integer(pair[0]) * _SECOND + _integer(pair[1])
