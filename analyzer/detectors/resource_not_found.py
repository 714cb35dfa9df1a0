"""A tool was asked for something that does not exist, and nobody made up for it.

## What it does
Reports calls whose error says that what was asked for is not there: by status (404, 410), by the exception's name
(`KeyError`), or by words in many languages. Missing files, commands and modules are an `environment_error`. Severity
follows from what came of it: high where the run failed with it, medium where no later call made up for it and the
agent says nothing of it, low where the agent says so, where what it said is not in the evidence, and, marked
`recovered`, where a later call made up for it.

## Why is this bad
The name or id was wrong: guessed, mistyped, or out of date. What is answered after that rests on something else.

## Example
```json
[
  {"event": "tool_call", "tool": "get_order", "args": {"id": "W-17"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "get_order", "error": "Error: order not found", "timestamp": "2025-06-01T12:00:30Z"},
  {"event_type": "agent_end", "payload": {"output": "Your order W-17 will arrive on Monday."},
    "timestamp": "2025-06-01T12:00:31Z"}
]
```

## How to fix
Let the agent look ids up before it uses them; let the tool's error name what exists, or how to find it.

## Known limits
Results that say `not found` without being an error count only where they are nothing else. An empty list is no error
(see `empty_result_as_success`).
"""

from analyzer.detectors.detector import Detector, Dimension, Why
from analyzer.detectors.failing_calls import Kind, find_class
from analyzer.profile import Profile
from analyzer.timeline.error_classes import ErrorClass
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

KIND = Kind(
    failure_type="resource_not_found",
    verb="did not find what it was asked for",
    why=Why(
        "The agent named something that does not exist: a guess, a slip, or an old id.",
        "What follows does not rest on what was asked for.",
        "Let ids be looked up before they are used, and let the error name what exists.",
    ),
)

DETECTOR = Detector(
    failure_type=KIND.failure_type,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="What a tool was asked for does not exist",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ERRORS}),
    steps=("id_guessed", "not_found", "result_missing"),
    find={Profile.STANDARD: find_class(KIND, ErrorClass.NOT_FOUND)},
)
