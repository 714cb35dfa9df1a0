"""A point in time as text and as nanoseconds since the epoch (UTC)."""

import math
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from analyzer.pattern import pattern
from analyzer.session.model import Json

__all__ = ["format_instant", "parse_instant"]

_ISO = pattern(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]+))?\s?(Z|z|[+-][0-9]{2}:?[0-9]{2})?"
)
_NUMBER = pattern(r"-?[0-9]{9,40}(\.[0-9]{1,40})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000_000
_BEYOND = 1e40

# Numbers carry no unit; the magnitude tells it: seconds reach 1e11 in the year 5138.
_UNITS = ((1e11, _SECOND), (1e14, 1_000_000), (1e17, 1_000), (math.inf, 1))


def parse_instant(value: Json) -> int | None:
    """Return nanoseconds for ISO-8601 text or an epoch number (s, ms, µs or ns), or None when it is neither.

    Text without a zone is taken as UTC; digits beyond the nanosecond are cut off.
    """
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_number(value)
    return None


def format_instant(time_ns: int) -> str | int:
    """Return ISO-8601 text in UTC with nine decimals and `Z`; the number itself beyond the years 1 to 9999."""
    seconds, nanoseconds = divmod(time_ns, _SECOND)
    try:
        return f"{_second_text(seconds)}.{nanoseconds:09d}Z"
    except (OverflowError, ValueError):
        return time_ns


def _from_text(text: str) -> int | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return _from_number(_number(text)) if _NUMBER.fullmatch(text) else None
    day, clock, fraction, zone = match.groups()
    try:
        seconds = _seconds(day, clock, zone)
    except ValueError:
        return None
    return seconds * _SECOND + (int(fraction[:9].ljust(9, "0")) if fraction else 0)


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _from_number(value: float) -> int | None:
    if not -_BEYOND < value < _BEYOND:  # NaN is neither
        return None
    scale = next(unit for limit, unit in _UNITS if abs(value) < limit or limit == math.inf)
    if isinstance(value, int):
        return value * scale
    # A double holds the microsecond of an epoch second and no more.
    return round(value * scale / 1_000) * 1_000 if scale > 1 else round(value)


@lru_cache(maxsize=4096)
def _seconds(day: str, clock: str, zone: str | None) -> int:
    moment = datetime.fromisoformat(f"{day}T{clock}{_zone(zone)}")
    return (moment - _EPOCH) // timedelta(seconds=1)


def _zone(zone: str | None) -> str:
    return "+00:00" if zone is None or zone in "Zz" else zone


@lru_cache(maxsize=4096)
def _second_text(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
