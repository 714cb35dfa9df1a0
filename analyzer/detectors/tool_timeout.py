"""A tool, or the model's provider, did not answer in time, and nobody made up for it.

## What it does
Reports calls whose error says that the time was up: by status (408, 504), by the exception's name, or by words in
many languages. Severity follows from what came of it: high where the run failed with it, medium where no later call
made up for it and the agent says nothing of it, low where the agent says so, where what it said is not in the
evidence, and, marked `recovered`, where a later call made up for it.

## Why is this bad
What the call should have brought is not there. A write that timed out may or may not have been done.

## Example
```json
[
  {"event": "tool_call", "tool": "search", "args": {"q": "opening hours"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "search", "error": "ReadTimeout: the request timed out after 30 s",
    "timestamp": "2025-06-01T12:00:30Z"},
  {"event_type": "agent_end", "payload": {"output": "We are open from 9 to 5."}, "timestamp": "2025-06-01T12:00:31Z"}
]
```

## How to fix
Give the tool a time limit that fits its work, let it try again by itself where that is safe, and tell the model that
the outcome is unknown.

## Known limits
A call that hangs and is cut off without an error is not seen here. Whether a write took effect is not looked at.
"""

from analyzer.detectors.detector import Detector, Dimension, Why
from analyzer.detectors.failing_calls import Kind, find_class
from analyzer.profile import Profile
from analyzer.timeline.error_classes import ErrorClass
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

KIND = Kind(
    failure_type="tool_timeout",
    verb="timed out",
    why=Why(
        "The service behind the call was slower than somebody was willing to wait.",
        "The answer lacks what the call should have brought; a write may or may not have happened.",
        "Set a fitting time limit, retry where that is safe, and tell the model that the outcome is unknown.",
    ),
)

DETECTOR = Detector(
    failure_type=KIND.failure_type,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="A call timed out and nobody made up for it",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ERRORS}),
    steps=("tool_call", "time_out", "result_missing"),
    find={Profile.STANDARD: find_class(KIND, ErrorClass.TIMEOUT)},
)
