"""A tool, or the model's provider, refused a call because there had been too many.

## What it does
Reports calls whose error says that a rate limit or a quota was reached: by status (429), by the exception's name, or
by words in many languages. Severity follows from what came of it: high where the run failed with it, medium where no
later call made up for it and the agent says nothing of it, low where the agent says so, where what it said is not in
the evidence, and, marked `recovered`, where a later call made up for it.

## Why is this bad
The work was not done, and trying again at once makes it worse: it keeps the limit reached, for other runs too.

## Example
```json
[
  {"event": "tool_call", "tool": "search", "args": {"q": "opening hours"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "search", "error": "429 Too Many Requests: rate limit reached",
    "timestamp": "2025-06-01T12:00:30Z"},
  {"event_type": "agent_end", "payload": {"output": "We are open from 9 to 5."}, "timestamp": "2025-06-01T12:00:31Z"}
]
```

## How to fix
Wait as long as the service says (`Retry-After`), with growing pauses; send fewer calls side by side; ask for a higher
limit.

## Known limits
Retries inside a client that succeed in the end leave no trace here.
"""

from analyzer.detectors.detector import Detector, Dimension, Why
from analyzer.detectors.failing_calls import Kind, find_class
from analyzer.profile import Profile
from analyzer.timeline.error_classes import ErrorClass
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

KIND = Kind(
    failure_type="rate_limited",
    verb="was refused for a rate limit",
    why=Why(
        "More calls were made than the service allows.",
        "The work was not done, and further calls prolong the limit.",
        "Wait as the service says, with growing pauses, and send fewer calls side by side.",
    ),
)

DETECTOR = Detector(
    failure_type=KIND.failure_type,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="A call was refused for a rate limit or a quota",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ERRORS}),
    steps=("many_calls", "rate_limit", "call_refused"),
    find={Profile.STANDARD: find_class(KIND, ErrorClass.RATE_LIMIT)},
)
