"""How many tokens the model calls consumed, and whether that is all of them."""

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from analyzer.lenient import as_whole
from analyzer.pattern import pattern
from analyzer.session.accessors import payload_of
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_number, is_object

__all__ = ["Tokens", "Usage", "recorded_total", "total_of", "usage_of", "whole_input"]

_NAMES: Mapping[str, tuple[str, ...]] = {
    "input": ("input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "input"),
    "output": ("output_tokens", "completion_tokens", "outputTokens", "completionTokens", "output"),
    "cached_input": (
        "cached_input_tokens",
        "cache_read_input_tokens",
        "cachedInputTokens",
        "cached_tokens",
        "cacheRead",
    ),
    "total": ("total", "total_tokens", "totalTokens", "tokens"),
}
_CACHE_WRITES = ("cache_write_tokens", "cache_creation_input_tokens", "cacheWriteTokens", "cacheWrite")
_OWN = frozenset(name for names in _NAMES.values() for name in names) - {"input", "output"}
_KNOWN = frozenset(name for names in (*_NAMES.values(), _CACHE_WRITES) for name in names)
_GROUPED = pattern(r"\s*(-?[0-9][0-9_, ]{0,40})(?:\.[0-9]{1,40})?\s*")


class Usage(Struct, frozen=True, kw_only=True):
    """What one event reports; None where it says nothing."""

    input: int | None = None
    output: int | None = None
    cached_input: int | None = None
    total: int | None = None
    cache_write: int | None = None
    """The part of the input that was written to a cache."""


class Tokens(Struct, frozen=True, kw_only=True):
    """What the model calls consumed; None where no call reports it."""

    input: int | None = None
    """Cached input counted in."""
    output: int | None = None
    cached_input: int | None = None
    """The part of the input that came from a cache."""
    total: int | None = None
    complete: bool = False
    """False when a visible model call reports no usage: the figures are then a lower bound."""


def usage_of(event: Event) -> Usage | None:
    """Return the usage an event reports, or None: `usage`, the event's own totals, `payload.usage`.

    A missing total is input and output together; numeric text is read, negative and other values are not.
    """
    extra, payload = event.extra, payload_of(event)
    own = (extra.get("usage"), extra.get("token_usage"), _own_totals(extra)) if extra else ()
    for block in (*own, payload.get("usage")):
        if block is not None and (usage := _usage(block)) is not None:
            return usage
    return None


def total_of(usages: Iterable[Usage | None], *, complete: bool) -> Tokens:
    """Return the sums of what is known."""
    known = [usage for usage in usages if usage is not None]
    sums = {
        "input": _sum([usage.input for usage in known]),
        "output": _sum([usage.output for usage in known]),
        "cached_input": _sum([usage.cached_input for usage in known]),
        "total": _sum([usage.total for usage in known]),
    }
    return Tokens(**sums, complete=complete and any(found is not None for found in sums.values()))


def _sum(counts: list[int | None]) -> int | None:
    found = [count for count in counts if count is not None]
    return sum(found) if found else None


def whole_input(given: int, output: int | None, total: int | None, *, cached: int) -> int:
    """Return the input with its cached part counted in; `cached` is what was read from a cache and written to one.

    Many report it beside the input. Where nothing else tells, the numbers do: a part is never more than the whole, and
    a total that only all of them together make holds them all.
    """
    beside = cached > given or (cached > 0 and total == given + (output or 0) + cached)
    return given + cached if beside else given


def recorded_total(event: Event) -> int:
    """Return an event's total as critiqor 0.1.4 counts it; in the payload too, where its plugin writes usage.

    `total` hides `total_tokens`; input and output are never added up; a `usage` that is no object leaves `tokens`.
    """
    extra, payload = event.extra, payload_of(event)
    usage: Json = extra
    if "usage" in extra:
        usage = extra["usage"]
    elif "usage" in payload and not ("total" in extra or "total_tokens" in extra):
        usage = payload["usage"]
    if not is_object(usage):
        return _recorded(extra.get("tokens"))
    return _recorded(usage["total"] if "total" in usage else usage.get("total_tokens"))


def _recorded(value: Json) -> int:
    return as_whole(value, _whole(value) or 0)


def _own_totals(extra: dict[str, Any]) -> dict[str, Any] | None:
    return {name: value for name, value in extra.items() if name in _OWN} if not _OWN.isdisjoint(extra) else None


def _usage(block: Json) -> Usage | None:
    if not is_object(block):
        total = _count(block)
        return None if total is None else Usage(total=total)
    places = _places_of(tuple(filter(_KNOWN.__contains__, block)))
    given, output, cached, total, written = _counts(block, places)
    whole = given
    if given is not None and (beside := (cached or 0) + (written or 0)):
        whole = whole_input(given, output, total, cached=beside)
        if whole != given and total == given + (output or 0):
            total = None  # it leaves the cached input out
    if total is None and (whole is not None or output is not None):
        total = (whole or 0) + (output or 0)
    if total is None and cached is None:
        return None
    return Usage(input=whole, output=output, cached_input=cached, total=total, cache_write=written)


@lru_cache(maxsize=256)
def _places_of(known: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return where a block with these of the known names tells of what: input, output, cached, total, cache writes."""
    return tuple(tuple(name for name in names if name in known) for names in (*_NAMES.values(), _CACHE_WRITES))


def _counts(block: dict[str, Any], places: tuple[tuple[str, ...], ...]) -> list[int | None]:
    """Return at each place the first of its names that holds a count."""
    found: list[int | None] = []
    for names in places:
        count = None
        for name in names:
            value = block[name]
            count = value if type(value) is int and value >= 0 else _count(value)
            if count is not None:
                break
        found.append(count)
    return found


def _count(value: Json) -> int | None:
    whole = _whole(value)
    return None if whole is None or whole < 0 else whole


def _whole(value: Json) -> int | None:
    if isinstance(value, str):
        match = _GROUPED.fullmatch(value)
        return None if match is None else int(re.sub("[_, ]", "", match[1]))
    if not is_number(value) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return int(value)
