"""How many tokens the model calls consumed, and whether that is all of them."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

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
_GROUPED = pattern(r"\s*(-?[0-9][0-9_, ]{0,40})(?:\.[0-9]{1,40})?\s*")


class Usage(Struct, frozen=True, kw_only=True):
    """What one event reports; None where it says nothing."""

    input: int | None = None
    output: int | None = None
    cached_input: int | None = None
    total: int | None = None
    cache_write: int | None = None
    """The part of the input that was written to a cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
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
    for block in (extra.get("usage"), extra.get("token_usage"), _own_totals(extra), payload.get("usage")):
        if block is not None and (usage := _usage(block)) is not None:
            return usage
    return None


def total_of(usages: Iterable[Usage | None], *, complete: bool) -> Tokens:
    """Return the sums of what is known."""
    sums: dict[str, int] = {}
    for usage in usages:
        if usage is None:
            continue
        for name in _NAMES:
            value = getattr(usage, name)
            if value is not None:
                sums[name] = sums.get(name, 0) + value
    return Tokens(**sums, complete=complete and bool(sums))


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
        return _whole(extra.get("tokens")) or 0
    return _whole(usage["total"] if "total" in usage else usage.get("total_tokens")) or 0


def _own_totals(extra: dict[str, Any]) -> dict[str, Any] | None:
    return {name: value for name, value in extra.items() if name in _OWN} if not _OWN.isdisjoint(extra) else None


def _usage(block: Json) -> Usage | None:
    if not is_object(block):
        total = _count(block)
        return None if total is None else Usage(total=total)
    found = {name: _first(block, names) for name, names in _NAMES.items()}
    given, written = found["input"], _first(block, _CACHE_WRITES)
    if given is not None:
        cached = (found["cached_input"] or 0) + (written or 0)
        found["input"] = whole_input(given, found["output"], found["total"], cached=cached)
        if found["input"] != given and found["total"] == given + (found["output"] or 0):
            found["total"] = None  # it leaves the cached input out
    if found["total"] is None and (parts := [found[name] for name in ("input", "output") if found[name] is not None]):
        found["total"] = sum(part for part in parts if part is not None)
    return Usage(**found, cache_write=written) if any(value is not None for value in found.values()) else None


def _first(block: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        if name in block and (value := _count(block[name])) is not None:
            return value
    return None


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
