"""The model's context was nearly full, or had to be compacted.

## What it does
Reports context events with a saturation of 85 percent or more, or with the action `compaction`. Severity medium, high
when any reaches 95. Fractions are read as such: 0.92 is 92 percent; where an event tells tokens used and the size of
the window, these count.

Where no event tells, model calls do. Rule `input-against-window`: the tokens a call sent, against the window of its
model by a dated table. Rule `input-dropped`: an agent's calls send less than half of what they sent before, and never
as much again; severity medium where its window had been half full, else low. A smaller context that a larger one
follows is a sub-agent's, and one as small as the first is a new conversation. Rule `context-growth`, severity low: a
context ten times as large as it began that fills half of the window.

## Why is this bad
What stands in the middle of a full context is overlooked, and what a compaction leaves out is gone: goals, constraints,
earlier results.

## Example
```json
[
  {"event": "context_event", "saturation": 72, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "context_event", "saturation": 91, "timestamp": "2025-06-01T12:01:00Z"}
]
```

## How to fix
Keep large tool outputs out of the context (files, summaries), start sub-tasks with a context of their own, and write
the goal down where a compaction keeps it.

## Known limits
A saturation of 1 is one percent, 1.0 is a full window. A model that the table does not know is not judged by it: the
settings (`windows`) name others. A sub-agent that bears its caller's name and ends the run looks like a compaction.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.lenient import as_whole
from analyzer.pattern import pattern
from analyzer.profile import Profile
from analyzer.session.accessors import (
    ABSENT,
    ACTION,
    SATURATION,
    Absent,
    first_given,
    first_present,
    payload_of,
    word_of,
)
from analyzer.session.model import Event, EventKind, Json
from analyzer.session.shapes import is_number
from analyzer.timeline.contexts import Context, Fill, contexts_of
from analyzer.timeline.index import Timeline

__all__ = ["DETECTOR"]

TYPE = "context_pollution"
SATURATED = 85
LOW_IMPACT = -3
HALF_FULL = 50
WORTH_A_CUT = 10_000
GROWTH = 10
LARGE = 100_000
COMPACTION = "compaction"
FIX = "Keep large outputs out of the context, split sub-tasks off, and write the goal where a compaction keeps it."
WHY = Why(
    "The context grew until the window was nearly full or had to be cut.",
    "Goals, constraints and earlier results may be overlooked or gone.",
    FIX,
)
_RECORDED = Options()
_PERCENT = pattern(r"\s*(-?[0-9]{1,12}(?:\.[0-9]{1,12})?)\s*(%?)\s*")


class _State(NamedTuple):
    event: Event
    percent: float
    """0 when it is not known."""
    compacted: bool


def find(timeline: Timeline, options: Options) -> Iterator[FailureCause]:
    """Yield what context events say, else what the model calls imply."""
    states = [_state(event) for event in timeline.of_kind(EventKind.CONTEXT_EVENT)]
    polluted = [state for state in states if state.percent >= options.saturation or state.compacted]
    if polluted:
        yield _cause(polluted, options)
    contexts = contexts_of(timeline, options.windows, _told_window(states))
    told = any(state.percent > 0 for state in states)
    full = [] if told else [fill for one in contexts for fill in one.fills if (fill.percent or 0) >= options.saturation]
    if full:
        yield _saturated(timeline, full, options)
    cuts = [] if any(state.compacted for state in states) else _cuts(contexts)
    if cuts:
        yield _dropped(timeline, cuts)
    if not (polluted or full or cuts):
        yield from _grown(timeline, contexts)


def find_recorded(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for all context events that tell of it (critiqor 0.1.4)."""
    states = map(_recorded_state, timeline.of_kind(EventKind.CONTEXT_EVENT))
    polluted = [state for state in states if state.percent >= SATURATED or state.compacted]
    if polluted:
        yield _cause(polluted, _RECORDED)


def _state(event: Event) -> _State:
    action = word_of(first_given(event, ACTION))
    compacted = COMPACTION in (action, event.event_type)
    payload = payload_of(event)
    used, window = payload.get("used"), payload.get("window")
    if is_number(used) and is_number(window) and window > 0:
        return _State(event, 100 * used / window, compacted)
    return _State(event, _percent(first_given(event, SATURATION)), compacted)


def _recorded_state(event: Event) -> _State:
    """Return the state as critiqor 0.1.4 reads it: percent, cut to a whole number; a null hides the other name."""
    value = first_present(event, SATURATION)
    percent = as_whole(value, math.trunc(_number(value) or 0))
    return _State(event, percent, word_of(first_present(event, ACTION)) == COMPACTION)


def _percent(value: Json | Absent) -> float:
    number = _number(value)
    if number is None:
        return 0
    is_fraction = isinstance(number, float) and 0 < number <= 1 and not (isinstance(value, str) and "%" in value)
    return number * 100 if is_fraction else number


def _number(value: Json | Absent) -> float | None:
    if isinstance(value, str):
        match = _PERCENT.fullmatch(value)
        if match is None:
            return None
        return float(match[1]) if "." in match[1] else int(match[1])
    if value is ABSENT or not is_number(value):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def _cause(polluted: Sequence[_State], options: Options) -> FailureCause:
    impact = _impact(len(polluted))
    fullest = max(state.percent for state in polluted)
    compactions = sum(state.compacted for state in polluted)
    said = [f"was up to {math.floor(fullest)} percent full"] if fullest >= options.saturation else []
    said += [f"was compacted {'once' if compactions == 1 else f'{compactions} times'}"] if compactions else []
    return FailureCause(
        type=TYPE,
        severity=_severity(fullest, options),
        impact=impact,
        description=f"The context {' and '.join(said)}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        fingerprint=fingerprint(
            TYPE, sorted({"compaction" if state.compacted else "saturation" for state in polluted})
        ),
        **shown_by(state.event for state in polluted),
    )


def _saturated(timeline: Timeline, full: Sequence[Fill], options: Options) -> FailureCause:
    fullest = max(full, key=lambda fill: (fill.percent or 0, -fill.position))
    impact = _impact(len(full))
    return FailureCause(
        type=TYPE,
        severity=_severity(fullest.percent or 0, options),
        impact=impact,
        description=(
            f"{_calls(len(full))} sent up to {fullest.tokens:,} of the {fullest.window:,} tokens that fit into the "
            f"model's window: {math.floor(fullest.percent or 0)} percent."
        ),
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="input-against-window",
        fingerprint=fingerprint(TYPE, "input-against-window"),
        **shown_by(timeline.events[fill.position] for fill in (fullest, *(one for one in full if one != fullest))),
    )


def _cuts(contexts: Sequence[Context]) -> list[tuple[Fill, Fill]]:
    """Return the calls before and after each cut."""
    pairs = ((one.cut_from.fills[-1], one.fills[0]) for one in contexts if one.cut_from is not None)
    return [(before, after) for before, after in pairs if before.tokens >= WORTH_A_CUT]


def _dropped(timeline: Timeline, cuts: Sequence[tuple[Fill, Fill]]) -> FailureCause:
    before, after = cuts[0]
    grave = any((full.percent or 0) >= HALF_FULL for full, _ in cuts)
    impact = _impact(len(cuts)) if grave else LOW_IMPACT
    times = "" if len(cuts) == 1 else f"; {len(cuts)} times in all"
    return FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM if grave else Severity.LOW,
        impact=impact,
        description=f"The context was cut from {before.tokens:,} to {after.tokens:,} tokens{times}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.MEDIUM if grave else Confidence.LOW,
        basis="derived",
        rule="input-dropped",
        fingerprint=fingerprint(TYPE, "input-dropped"),
        **shown_by(timeline.events[fill.position] for small, large in cuts for fill in (large, small)),
    )


def _grown(timeline: Timeline, contexts: Sequence[Context]) -> Iterator[FailureCause]:
    grown = [
        one for one in contexts if _is_large(one.fills[-1]) and one.fills[-1].tokens >= GROWTH * one.fills[0].tokens
    ]
    if not grown:
        return
    worst = max(grown, key=lambda one: one.fills[-1].tokens)
    first, last = worst.fills[0], worst.fills[-1]
    yield FailureCause(
        type=TYPE,
        severity=Severity.LOW,
        impact=LOW_IMPACT,
        description=(
            f"The context grew from {first.tokens:,} to {last.tokens:,} tokens in {len(worst.fills)} model calls."
        ),
        root_cause=WHY.root_cause(LOW_IMPACT),
        recommendation=FIX,
        confidence=Confidence.LOW,
        basis="derived",
        rule="context-growth",
        fingerprint=fingerprint(TYPE, "context-growth"),
        **shown_by(timeline.events[fill.position] for fill in (last, first)),
    )


def _is_large(fill: Fill) -> bool:
    return fill.tokens >= LARGE if fill.percent is None else fill.percent >= HALF_FULL


def _told_window(states: Sequence[_State]) -> int | None:
    """Return the size of the window where context events tell of one."""
    sizes = (payload_of(state.event).get("window") for state in states)
    return max((int(size) for size in sizes if is_number(size) and math.isfinite(size) and size >= 1), default=None)


def _severity(percent: float, options: Options) -> Severity:
    return Severity.HIGH if percent >= options.high_saturation else Severity.MEDIUM


def _impact(count: int) -> int:
    return -min(22, 7 + 5 * count)


def _calls(count: int) -> str:
    return "A model call" if count == 1 else f"{count} model calls"


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.CONTEXT_HEALTH,
    summary="The context was nearly full or had to be compacted",
    since="0.1.0",
    needs=frozenset(),
    steps=("context_growth", "saturation_or_compaction", "key_state_risk"),
    find={Profile.STANDARD: find, Profile.CRITIQOR_V1: find_recorded},
)
