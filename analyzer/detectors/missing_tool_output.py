"""A tool was called and never answered, and the run went on.

## What it does
Reports calls without any output in runs whose other calls have one, where the run went on after them: the model was
asked again, or another tool was called. Severity medium where the agent answers and says nothing of it, low where it
says so, where what it said is not in the evidence, and, marked `recovered`, where a later call made up for it.

## Why is this bad
The agent goes on without what it asked for, or takes the silence for a yes.

## Example
```json
[
  {"event": "tool_call", "tool": "get_price", "args": {"sku": "A-17"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "get_price", "output": 19.5, "timestamp": "2025-06-01T12:00:01Z"},
  {"event": "tool_call", "tool": "get_stock", "args": {"sku": "A-17"}, "timestamp": "2025-06-01T12:00:02Z"},
  {"event": "token_usage", "payload": {"messages": [{"role": "assistant", "text": "It costs 19.50 and is in stock."}]},
   "timestamp": "2025-06-01T12:00:03Z"}
]
```

## How to fix
Let every call end in a result or an error, also one that was cancelled, and let the framework wait for all of them.

## Known limits
Where no output at all is carried, or the source says that it carries them in part only, nothing is known. Handing over
to another agent needs no answer. A run that ends within a call is no such case.
"""

from collections.abc import Iterator

from analyzer.cause import FailureCause
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text
from analyzer.detectors.failing_calls import Finding, Kind, causes_of, trail_of
from analyzer.profile import Profile
from analyzer.session.shapes import is_list
from analyzer.timeline.call import Call
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.tool_purpose import hands_over_to

__all__ = ["DETECTOR"]

KIND = Kind(
    failure_type="missing_tool_output",
    verb="was never answered",
    why=Why(
        "A call was made and nobody waited for its result, or it got lost.",
        "What follows lacks what the call should have brought.",
        "Let every call end in a result or an error, also one that was cancelled, and wait for all of them.",
    ),
    basis="derived",
    rule="never-answered",
)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause a tool whose calls were not answered, in order of the first one."""
    waiting = [call for call in timeline.work if call.output_id is None]
    if not waiting or len(waiting) == len(timeline.work) or _in_part(timeline):
        return
    ends = [one.position for last in (timeline.answers[-1:], timeline.work[-1:]) for one in last]
    last = max(ends)
    findings = [_finding(timeline, call) for call in waiting if call.position < last and _needs_answer(timeline, call)]
    yield from causes_of(timeline, KIND, findings)


def _in_part(timeline: Timeline) -> bool:
    said = timeline.session.extra.get("carried_in_part")
    return is_list(said) and Fact.TOOL_RESULTS.value in said


def _needs_answer(timeline: Timeline, call: Call) -> bool:
    return hands_over_to(call.tool or "") is None and not timeline.failures.lacks(call)


def _finding(timeline: Timeline, call: Call) -> Finding:
    outlook = timeline.failures.aftermaths.of(call)
    trail = trail_of(timeline, call, outlook, made_by_model=False)
    return Finding(call.tool or "", call_text(call), "", outlook, told=False, trail=trail)


DETECTOR = Detector(
    failure_type=KIND.failure_type,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="A call was never answered and the run went on",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_RESULTS}),
    steps=("tool_call", "no_output", "run_goes_on"),
    find={Profile.STANDARD: find},
)
