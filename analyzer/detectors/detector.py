"""What a detector is: data about a failure type, and pure functions that find it."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from msgspec import Struct

from analyzer.cause import FailureCause, RootCause
from analyzer.options import Options
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, Json, SpanRef
from analyzer.timeline.call import Call
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact

__all__ = ["Detector", "Dimension", "Find", "Options", "Why", "call_text", "fingerprint", "shown_by"]

_SHORT = 80
_DIGITS = 16


class Dimension(StrEnum):
    """What an agent is scored on, in the documented order."""

    LOOP_CONTROL = "loop_control"
    MEMORY_INTEGRITY = "memory_integrity"
    TOOL_OUTPUT_UTILIZATION = "tool_output_utilization"
    CONTEXT_HEALTH = "context_health"
    COST_EFFICIENCY = "cost_efficiency"
    SKILL_ADHERENCE = "skill_adherence"


Find: TypeAlias = Callable[[Timeline, Options], Iterator[FailureCause]]


class Detector(Struct, frozen=True, kw_only=True):
    """One failure type. The module that defines it is its page: `explain TYPE` prints the docstring."""

    failure_type: str
    dimension: Dimension
    summary: str
    since: str
    needs: frozenset[Fact]
    """Facts without which it can't see anything."""
    steps: tuple[str, ...]
    """How such a failure comes about, in the words of critiqor 0.1.4."""
    find: Mapping[Profile, Find]
    """Pure functions from a timeline to causes, one a profile that knows the type."""


class Why(Struct, frozen=True):
    """What stands behind a failure type, in words."""

    description: str
    impact: str
    fix: str

    def root_cause(self, penalty: int) -> RootCause:
        """Return the root cause of one failure that takes points off."""
        return RootCause(self.description, self.impact, penalty, self.fix)


def shown_by(events: Iterable[Event]) -> dict[str, Any]:
    """Return `evidence` and `spans` of a failure cause: the events' ids, and the spans that are known, in order."""
    shown = tuple(events)
    spans: dict[SpanRef, None] = dict.fromkeys(event.span for event in shown if event.span is not None)
    return {"evidence": tuple(event.event_id for event in shown), "spans": tuple(spans)}


def fingerprint(failure_type: str, *parts: Json) -> str:
    """Return what tells a failure from others in every run: a digest of its type and what it is about."""
    return hashlib.sha256(canonical([failure_type, *parts])).hexdigest()[:_DIGITS]


def call_text(call: Call) -> str:
    """Return a call in words: the tool and its arguments, shortened."""
    name = "an unnamed tool" if call.tool is None else call.tool
    if call.arguments is ABSENT:
        return name
    text = canonical(call.arguments).decode("utf-8", "replace")
    return f"{name}({text if len(text) <= _SHORT else text[: _SHORT - 1] + '…'})"
