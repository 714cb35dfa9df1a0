"""The service behind a tool, or the model's provider, failed or could not be reached.

## What it does
Reports calls whose error tells of a server that failed or of a connection that did not come about: by status (500 to
599), by the exception's name, or by words in many languages. What timed out is a `tool_timeout`. Severity follows
from what came of it: high where the run failed with it, medium where no later call made up for it and the agent says
nothing of it, low where the agent says so, where what it said is not in the evidence, and, marked `recovered`, where
a later call made up for it.

## Why is this bad
What the call should have brought is not there, for a reason the agent has no influence on.

## Example
```json
[
  {"event": "tool_call", "tool": "get_price", "args": {"sku": "A-17"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "get_price", "error": "ConnectionError: connection refused",
    "timestamp": "2025-06-01T12:00:30Z"},
  {"event_type": "agent_end", "payload": {"output": "It costs 19.50."}, "timestamp": "2025-06-01T12:00:31Z"}
]
```

## How to fix
Let the tool try again by itself with growing pauses, offer a second source, and tell the model plainly that the
service is down.

## Known limits
A server's error over bad arguments looks like the server's fault, unless the declared schema shows that they break
it.
"""

from analyzer.detectors.detector import Detector, Dimension, Why
from analyzer.detectors.failing_calls import Kind, find_class
from analyzer.profile import Profile
from analyzer.timeline.error_classes import ErrorClass
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

KIND = Kind(
    failure_type="service_error",
    verb="failed at its service",
    why=Why(
        "The service behind the call was down, overloaded, or not to be reached.",
        "The answer lacks what the call should have brought.",
        "Let the tool retry with growing pauses, offer a second source, and tell the model when the service is down.",
    ),
)

DETECTOR = Detector(
    failure_type=KIND.failure_type,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="The service behind a call failed or could not be reached",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ERRORS}),
    steps=("tool_call", "service_failed", "result_missing"),
    find={Profile.STANDARD: find_class(KIND, ErrorClass.SERVICE)},
)
