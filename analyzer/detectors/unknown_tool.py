"""The model called a tool that does not exist, or that it was never offered.

## What it does
Reports calls that were refused because no such tool exists, by the words of many frameworks, and calls of a tool that
is none of those the requests of the run offer and that failed or never answered. Severity follows from what came of it:
high where the run failed with it, medium where no later call made up for it and the agent says nothing of it, else low;
one that was made up for is marked `recovered`.

## Why is this bad
The call does nothing but cost a step, and a model that makes up a tool is ready to make up its result.

## Example
```json
[
  {"event": "tool_call", "tool": "send_fax", "args": {"to": "Ada"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "send_fax", "error": "Unknown tool: send_fax", "timestamp": "2025-06-01T12:00:01Z"},
  {"event_type": "agent_end", "payload": {"output": "The fax is on its way."}, "timestamp": "2025-06-01T12:00:02Z"}
]
```

## How to fix
Leave tools that are not offered out of the instructions and examples; let the refusal list the tools there are.

## Known limits
A call that succeeds proves that its tool exists, whatever was offered: a list in the traces may be incomplete.
"""

from collections.abc import Iterator

from analyzer.cause import FailureCause
from analyzer.detectors.detector import Detector, Dimension, Options, Why
from analyzer.detectors.failing_calls import Finding, Kind, causes_of, finding_of, trail_of
from analyzer.profile import Profile
from analyzer.timeline.call import Call
from analyzer.timeline.error_classes import ErrorClass
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.tool_purpose import hands_over_to

__all__ = ["DETECTOR"]

WHY = Why(
    "The model called a tool that is not there.",
    "The step was for nothing, and its result may be made up.",
    "Keep tools that are not offered out of the instructions, and let the refusal list those there are.",
)
REFUSED = Kind(failure_type="unknown_tool", verb="was called, and there is no such tool", why=WHY)
UNANSWERED = Kind(
    failure_type="unknown_tool",
    verb="was called and never answered; no request offers it",
    why=WHY,
    basis="derived",
    rule="not-offered",
)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause a tool that was refused as unknown, then one a tool that was not offered and never answered."""
    refused = [
        finding_of(timeline, failed, made_by_model=True)
        for failed in timeline.failures.of_tools
        if failed.owner is ErrorClass.UNKNOWN_TOOL
    ]
    yield from causes_of(timeline, REFUSED, refused)
    yield from causes_of(timeline, UNANSWERED, list(_unanswered(timeline)))


def _unanswered(timeline: Timeline) -> Iterator[Finding]:
    if not timeline.offered.known or not timeline.work:
        return
    carried = any(call.output_id is not None for call in timeline.work)
    last = max(one.position for ends in (timeline.answers[-1:], timeline.work[-1:]) for one in ends)
    for call in timeline.work:
        # Where no output is carried at all, a run that went on may have got one.
        if call.output_id is not None or not (carried or call.position == last):
            continue
        if timeline.failures.lacks(call) and hands_over_to(call.tool or "") is None:
            yield _finding(timeline, call)


def _finding(timeline: Timeline, call: Call) -> Finding:
    outlook = timeline.failures.aftermaths.of(call)
    trail = trail_of(timeline, call, outlook, made_by_model=True)
    return Finding(call.tool or "", call.tool or "", "", outlook, told=False, trail=trail)


DETECTOR = Detector(
    failure_type=REFUSED.failure_type,
    dimension=Dimension.SKILL_ADHERENCE,
    summary="A tool was called that is not there",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ERRORS}),
    steps=("tool_not_offered", "tool_called", "call_refused"),
    find={Profile.STANDARD: find},
)
