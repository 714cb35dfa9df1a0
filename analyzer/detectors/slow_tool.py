"""One call of a tool took far longer than the tool's other calls.

## What it does
Reports a call that took 30 seconds or more and at least ten times the median of that tool's other calls, of which there
must be three. A call during which a sub-agent worked or another call started is not measured: it waited for them.

## Why is this bad
The agent, and who waits for it, stood still for a call that is quick as a rule: the tool hung, waited for a lock or
tried again inside, and the next time it may not come back.

## Example
```json
[
  {"event": "tool_call", "tool": "query", "args": {"id": 1}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "query", "output": "a", "timestamp": "2025-06-01T12:00:01Z"},
  {"event": "tool_call", "tool": "query", "args": {"id": 2}, "timestamp": "2025-06-01T12:00:02Z"},
  {"event": "tool_output", "tool": "query", "output": "b", "timestamp": "2025-06-01T12:00:03Z"},
  {"event": "tool_call", "tool": "query", "args": {"id": 3}, "timestamp": "2025-06-01T12:00:04Z"},
  {"event": "tool_output", "tool": "query", "output": "c", "timestamp": "2025-06-01T12:00:05Z"},
  {"event": "tool_call", "tool": "query", "args": {"id": 4}, "timestamp": "2025-06-01T12:00:06Z"},
  {"event": "tool_output", "tool": "query", "output": "d", "timestamp": "2025-06-01T12:01:06Z"}
]
```

## How to fix
Give the tool a time limit of its own, and let it answer with an error that says so; look at what it waited for.

## Known limits
A tool that is slow each time is not reported, nor one that was called fewer than four times. Work that is rightly
larger than before looks slow.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.profile import Profile
from analyzer.session.model import Event
from analyzer.timeline.call import Call
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

TYPE = "slow_tool"
SECONDS = 30
TIMES = 10  # of the median: below that a tool may just vary with its work
OTHERS = 3
IMPACT = -8
BILLION = 1_000_000_000
FIX = "Give the tool a time limit of its own that ends in a clear error, and look at what it waited for."
WHY = Why(
    "A call took far longer than the same tool's other calls.",
    "The run stood still, and who waits for it with it.",
    FIX,
)


class _Timed(NamedTuple):
    call: Call
    seconds: float


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause a tool with slow calls, in order of the tools' first call."""
    by_tool: dict[str, list[_Timed]] = {}
    for timed in _timed(timeline):
        by_tool.setdefault(timed.call.tool or "", []).append(timed)
    for calls in by_tool.values():
        if len(calls) <= OTHERS:
            continue
        usual = _median([timed.seconds for timed in calls])
        slow = [timed for timed in calls if timed.seconds >= max(SECONDS, TIMES * usual)]
        if slow:
            yield _cause(timeline, slow, usual)


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _timed(timeline: Timeline) -> Iterator[_Timed]:
    """Yield the calls that nothing else was waited for in."""
    work = timeline.work
    for place, call in enumerate(work):
        if call.tool is None or call.output_id is None:
            continue
        following = work[place + 1].position if place + 1 < len(work) else len(timeline.events)
        seconds = _seconds(call, timeline.events[call.output_position])
        if seconds is not None and call.position < call.output_position < following:
            yield _Timed(call, seconds)


def _seconds(call: Call, output: Event) -> float | None:
    if output.duration_ms is not None:
        return output.duration_ms / 1000
    return None if call.start_ns is None or call.end_ns is None else (call.end_ns - call.start_ns) / BILLION


def _cause(timeline: Timeline, slow: Sequence[_Timed], usual: float) -> FailureCause:
    slowest = max(slow, key=lambda timed: timed.seconds)
    others = f" So did {len(slow) - 1} more." if len(slow) > 1 else ""
    return FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM,
        impact=IMPACT,
        description=(
            f"{call_text(slowest.call)} took {slowest.seconds:.0f} seconds; "
            f"half of that tool's calls take no more than {usual:.1f}.{others}"
        ),
        root_cause=WHY.root_cause(IMPACT),
        recommendation=FIX,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="slow-beside-the-others",
        fingerprint=fingerprint(TYPE, slowest.call.tool),
        **shown_by(
            timeline.events[call.position]
            for call in (slowest.call, *(timed.call for timed in slow if timed is not slowest))
        ),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.COST_EFFICIENCY,
    summary="A tool took far longer than it usually does",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS}),
    steps=("tool_call", "tool_waits", "run_stands_still"),
    find={Profile.STANDARD: find},
)
