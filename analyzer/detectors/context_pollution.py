"""The model's context was nearly full, or had to be compacted.

## What it does
Reports context events with a saturation of 85 percent or more, or with the action `compaction`. Severity medium, high
when any reaches 95. Fractions are read as such: 0.92 is 92 percent; where an event tells tokens used and the size of
the window, these count.

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
Only context events are looked at. A saturation of 1 is one percent, 1.0 is a full window.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Find, Options, Why, fingerprint, shown_by
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
from analyzer.timeline.index import Timeline

__all__ = ["DETECTOR"]

TYPE = "context_pollution"
SATURATED = 85
HIGH = 95
COMPACTION = "compaction"
FIX = "Keep large outputs out of the context, split sub-tasks off, and write the goal where a compaction keeps it."
WHY = Why(
    "The context grew until the window was nearly full or had to be cut.",
    "Goals, constraints and earlier results may be overlooked or gone.",
    FIX,
)
_PERCENT = re.compile(r"\s*(-?[0-9]{1,12}(?:\.[0-9]{1,12})?)\s*(%?)\s*")


class _State(NamedTuple):
    event: Event
    percent: float
    """0 when it is not known."""
    compacted: bool

    @property
    def polluted(self) -> bool:
        return self.percent >= SATURATED or self.compacted


def _find_with(state_of: Callable[[Event], _State]) -> Find:
    def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
        states = map(state_of, timeline.of_kind(EventKind.CONTEXT_EVENT))
        polluted = [state for state in states if state.polluted]
        if polluted:
            yield _cause(polluted)

    return find


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
    number = _number(value)
    percent = 0 if number is None else math.trunc(number)
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


def _cause(polluted: Sequence[_State]) -> FailureCause:
    impact = -min(22, 7 + 5 * len(polluted))
    fullest = max(state.percent for state in polluted)
    compactions = sum(state.compacted for state in polluted)
    said = [f"was up to {math.floor(fullest)} percent full"] if fullest >= SATURATED else []
    said += [f"was compacted {'once' if compactions == 1 else f'{compactions} times'}"] if compactions else []
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH if fullest >= HIGH else Severity.MEDIUM,
        impact=impact,
        description=f"The context {' and '.join(said)}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        fingerprint=fingerprint(
            TYPE, sorted({"compaction" if state.compacted else "saturation" for state in polluted})
        ),
        **shown_by(state.event for state in polluted),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.CONTEXT_HEALTH,
    summary="The context was nearly full or had to be compacted",
    since="0.1.0",
    needs=frozenset(),
    steps=("context_growth", "saturation_or_compaction", "key_state_risk"),
    find={Profile.STANDARD: _find_with(_state), Profile.CRITIQOR_V1: _find_with(_recorded_state)},
)
