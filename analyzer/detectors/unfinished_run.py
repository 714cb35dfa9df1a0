"""The run has no end: an agent was started and nobody saw it finish.

## What it does
Reports a run in which an agent began and did not end, and no process or session ended either. Severity medium; evidence
is what was under way: the last call without an output, else the last event.

## Why is this bad
The process was killed, hung or crashed without a word, or its traces were lost: who asked got no answer, and what the
agent was changing may be half done.

## Example
```json
[
  {"event_type": "agent_start", "payload": {"input": "Book it"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_call", "tool": "book", "args": {"room": 4}, "timestamp": "2025-06-01T12:00:01Z"}
]
```

## How to fix
Look at the call that was open: give it a time limit. Make the process flush its spans when it is stopped.

## Known limits
A run that is still going on, or whose root span has not been sent yet, looks the same.
"""

from collections.abc import Iterator

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.profile import Profile
from analyzer.timeline.call import Call
from analyzer.timeline.ending import RunStatus
from analyzer.timeline.index import Timeline

__all__ = ["DETECTOR"]

TYPE = "unfinished_run"
IMPACT = -12
FIX = "Give the call that was open a time limit, and make the process send its spans when it is stopped."
WHY = Why(
    "The run stopped without an end: it was killed, hung, or its traces were lost.",
    "There is no answer, and a change may be half done.",
    FIX,
)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause when a run never ended."""
    if timeline.status is not RunStatus.UNFINISHED or not timeline.events:
        return
    call = _open_call(timeline)
    last = timeline.events[-1]
    under_way = "" if call is None else f"; {call_text(call)} was under way"
    shown = last if call is None else timeline.events[call.position]
    yield FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM,
        impact=IMPACT,
        description=f"The run never ended{under_way}.",
        root_cause=WHY.root_cause(IMPACT),
        recommendation=FIX,
        confidence=Confidence.MEDIUM,
        fingerprint=fingerprint(TYPE, None if call is None else call.tool),
        **shown_by((shown,) if shown is last else (shown, last)),
    )


def _open_call(timeline: Timeline) -> Call | None:
    """Return the last call, where nothing answers it."""
    work = timeline.work
    return work[-1] if work and work[-1].output_id is None else None


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.LOOP_CONTROL,
    summary="The run has no end",
    since="0.1.0",
    needs=frozenset(),
    steps=("agent_start", "no_end_seen", "no_answer"),
    find={Profile.STANDARD: find},
)
