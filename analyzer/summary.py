"""How much evidence there is, and how the run went seen from outside."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from msgspec import Struct, field, structs

from analyzer.cause import EvidenceLevel
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT, EXIT_CODE, RESULT, first_given, payload_of
from analyzer.session.model import Event, EventKind, Note
from analyzer.session.shapes import is_number
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.outcome import message_text, outcome_of
from analyzer.timeline.repeats import Lesson
from analyzer.timeline.tokens import Tokens

__all__ = ["EvidenceSummary", "RunMetrics", "evidence_level", "measure", "summarise", "unknown_usage"]

_SHOWN_ERRORS = 20
_UNNAMED = "(unnamed)"
_MESSAGES = frozenset(("message_received", "message_sent", "message_start", "message_update", "message_end", "input"))


class EvidenceSummary(Struct, frozen=True, kw_only=True):
    """How much evidence there is; None where the run's traces don't carry the fact."""

    event_count: int = 0
    event_counts: dict[str, int] = field(default_factory=dict[str, int])
    """Events by kind, in order of first appearance."""
    tool_calls: int | None = None
    tool_calls_by_name: dict[str, int] | None = None
    """Sorted by name."""
    tool_outputs: int | None = None
    memory_events: int = 0
    tool_errors: int | None = None
    """Calls that failed."""
    retries: int = 0
    errors: int = 0
    state_transitions: int = 0
    model_calls: int | None = None
    tokens: Tokens = field(default_factory=Tokens)
    missing: tuple[str, ...] = ()
    """Facts not carried, or known to be carried in part, in a fixed order."""


class RunMetrics(Struct, frozen=True, kw_only=True):
    """How the run went, seen from outside."""

    latency: float | None = None
    """Seconds from the first event to the last, without the pauses between an agent's runs; None: no time is known."""
    retries: int = 0
    errors: tuple[str, ...] = ()
    """The different error texts in order of first appearance, shortened, the first twenty."""
    exit_code: int | None = None
    """Of the agent's process, the last one's where there were several, tools' own apart; None where none is known."""


def summarise(timeline: Timeline, profile: Profile) -> EvidenceSummary:
    """Return how much evidence a run has."""
    counts = {kind: len(events) for kind, events in timeline.by_kind.items()}
    lacks_tools = Fact.TOOL_CALLS in timeline.missing
    standard = EvidenceSummary(
        event_count=len(timeline.events),
        event_counts=counts,
        tool_calls=None if lacks_tools else len(timeline.calls),
        tool_calls_by_name=None if lacks_tools else _by_name(timeline),
        tool_outputs=None if lacks_tools else len(timeline.output_events),
        memory_events=len(timeline.memory),
        tool_errors=_tool_errors(timeline),
        retries=_retries(timeline),
        errors=counts.get(EventKind.ERROR_EVENT, 0),
        state_transitions=counts.get(EventKind.STATE_TRANSITION, 0),
        model_calls=len(timeline.model_calls) or None,
        tokens=timeline.tokens,
        missing=tuple(fact.value for fact in timeline.missing),
    )
    return structs.replace(standard, **_RECOUNTS[profile](timeline))


def measure(timeline: Timeline, summary: EvidenceSummary) -> RunMetrics:
    """Return how a run went."""
    return RunMetrics(
        latency=_latency(timeline),
        retries=summary.retries,
        errors=_error_texts(timeline),
        exit_code=_exit_code(timeline),
    )


def unknown_usage(timeline: Timeline, profile: Profile) -> list[Note]:
    """Return a note where the token total is a lower bound because some model calls report no usage."""
    tokens, calls = timeline.tokens, timeline.model_calls
    silent = sum(call.usage is None for call in calls)
    if profile is Profile.CRITIQOR_V1 or tokens.total is None or tokens.complete or not silent:
        return []
    message = f"usage is unknown for {silent} of {len(calls)} model calls: the token total is a lower bound"
    return [Note(code="unknown-usage", message=message)]


def evidence_level(timeline: Timeline, profile: Profile) -> EvidenceLevel:
    """Return what kind of evidence it is: of the runtime, messages only, or next to nothing (design §7)."""
    if not timeline.events:
        return "response_only"
    if profile is Profile.CRITIQOR_V1:
        return "fully_instrumented"
    if all(event.event_type in _MESSAGES and event.span is None for event in timeline.events):
        return "trace_available"
    return "fully_instrumented"


def _latency(timeline: Timeline) -> float | None:
    """Return the time of the run: where all of it lies within an agent's runs, that of these runs together."""
    times = sorted([event.time_ns for event in timeline.events if event.time_ns is not None])
    if not times:
        return None
    pauses = [(before[1], after[0]) for before, after in pairwise(timeline.spells)]
    busy = any(_lies_between(times, pause) for pause in pauses)
    starts_and_ends = [timeline.spells[0][0], timeline.spells[-1][1]] if pauses else []
    idle = 0 if busy or starts_and_ends != [times[0], times[-1]] else sum(max(0, end - start) for start, end in pauses)
    return (times[-1] - times[0] - idle) / 1e9


def _lies_between(times: list[int], pause: tuple[int, int]) -> bool:
    return bisect_right(times, pause[0]) < bisect_left(times, pause[1])


def _no_recount(_: Timeline) -> dict[str, Any]:
    return {}


def _recorded_counts(timeline: Timeline) -> dict[str, Any]:
    """Return what critiqor 0.1.4 counts: events of a kind, zero where there are none."""
    return {
        "tool_calls": len(timeline.calls),
        "tool_calls_by_name": _by_name(timeline),
        "tool_outputs": len(timeline.output_events),
        "memory_events": len(timeline.of_kind(EventKind.MEMORY_EVENT)),
        "retries": len(timeline.of_kind(EventKind.RETRY_EVENT)),
    }


_RECOUNTS = {Profile.STANDARD: _no_recount, Profile.CRITIQOR_V1: _recorded_counts}


def _by_name(timeline: Timeline) -> dict[str, int]:
    return dict(sorted(Counter(call.tool or _UNNAMED for call in timeline.calls).items()))


def _tool_errors(timeline: Timeline) -> int | None:
    orphans = (outcome_of(event, first_given(event, RESULT)).status for event in timeline.orphan_outputs)
    known = [status for status in (*(call.status for call in timeline.calls), *orphans) if status is not None]
    if not known and Fact.TOOL_ERRORS in timeline.missing:
        return None
    return known.count("error")


def _retries(timeline: Timeline) -> int:
    """Return the retries: those that an event tells of, and failed calls that were made again without one."""
    told = timeline.retries_of
    implied = 0
    for repetition in timeline.repetitions:
        following = zip(repetition.calls, repetition.lessons, repetition.calls[1:], strict=False)
        implied += sum(
            lesson is Lesson.FAILED and call.event_id not in told and again.event_id not in told
            for call, lesson, again in following
        )
    return len(timeline.retries) + implied


def _exit_code(timeline: Timeline) -> int | None:
    ends = [event for event in timeline.of_kind(EventKind.PROCESS_END) if payload_of(event).get("in_call") is not True]
    code = first_given(ends[-1], EXIT_CODE) if ends else None
    return int(code) if is_number(code) and math.isfinite(code) else None


def _error_texts(timeline: Timeline) -> tuple[str, ...]:
    """Return each error once, where it was last told: what the run ended with stands at the end, and is never cut."""
    seen: dict[str, None] = {}
    for text in filter(None, _all_errors(timeline)):
        seen.pop(text, None)
        seen[text] = None
    return tuple(seen)[-_SHOWN_ERRORS:]


def _all_errors(timeline: Timeline) -> Iterator[str | None]:
    yield from (call.error for call in timeline.calls if call.status == "error")
    yield from (_message(event) for event in timeline.of_kind(EventKind.ERROR_EVENT))


def _message(event: Event) -> str | None:
    payload = payload_of(event)
    fields: Mapping[str, Any] = {**payload, **event.extra}
    for value in (event.error, fields.get("message"), fields.get("error"), fields.get("error_type")):
        if value is not ABSENT and (text := message_text(value)) is not None:
            return text
    return None
