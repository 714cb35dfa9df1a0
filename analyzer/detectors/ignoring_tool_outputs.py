"""A tool gave something back and the agent did not use it.

## What it does
Reports tool outputs that are marked as unused: `used` or `referenced` is false, or the status is `ignored`. Severity
medium, high from two on.

## Why is this bad
The call was paid for, and the step after it rests on something else than the evidence: a guess, or an old assumption.

## Example
```json
[
  {"event": "tool_call", "tool": "search", "args": {"q": "return policy"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "search", "output": "30 days", "used": false, "timestamp": "2025-06-01T12:00:01Z"}
]
```

## How to fix
Put the output where the model reads it, ask for a citation of it in the answer, and leave out calls nobody needs.

## Known limits
Only what is marked is seen: whether a value of the output turns up later is not looked at here.
"""

from collections.abc import Iterator, Sequence

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Find, Options, Why, fingerprint, shown_by
from analyzer.profile import Profile
from analyzer.session.accessors import (
    REFERENCED,
    STATUS,
    USED,
    LookUp,
    first_given,
    first_present,
    tool_of,
    word_of,
)
from analyzer.session.model import Event
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

TYPE = "ignoring_tool_outputs"
HIGH = 2
FIX = "Put tool outputs where the model reads them, and leave out calls whose output nobody needs."
WHY = Why(
    "The step after the call was decided without what the tool gave back.",
    "The call was for nothing, and the answer may contradict the evidence.",
    FIX,
)


def _find_with(look_up: LookUp) -> Find:
    def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
        unused = [event for event in timeline.output_events if _is_unused(event, look_up)]
        if unused:
            yield _cause(unused)

    return find


def _is_unused(event: Event, look_up: LookUp) -> bool:
    if event.status is not None and event.status.lower() == "ignored":
        return True
    if look_up(event, USED) is False or look_up(event, REFERENCED) is False:
        return True
    return word_of(look_up(event, STATUS)) == "ignored"


def _cause(unused: Sequence[Event]) -> FailureCause:
    count = len(unused)
    impact = -min(30, 10 + 7 * count)
    tools = sorted({tool for event in unused if (tool := tool_of(event)) is not None})
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH if count >= HIGH else Severity.MEDIUM,
        impact=impact,
        description=f"{count} tool output{'' if count == 1 else 's'}{_from(tools)} went unused.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        fingerprint=fingerprint(TYPE, tools),
        **shown_by(unused),
    )


def _from(tools: list[str]) -> str:
    return f" of {', '.join(tools)}" if tools else ""


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="What a tool gave back was not used",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS}),
    steps=("tool_call", "tool_output", "decision_skipped_output", "unsupported_agent_step"),
    find={Profile.STANDARD: _find_with(first_given), Profile.CRITIQOR_V1: _find_with(first_present)},
)
