"""What a tool needs to run is not there: a module, a command, a file, memory, room on the disk.

## What it does
Reports calls whose error tells of the machine they ran on: a missing module, command, file or folder, a full disk,
too little memory, by the exception's name, the exit code (126, 127), or words in many languages. Severity follows
from what came of it: high where the run failed with it, medium where no later call made up for it and the agent says
nothing of it, low where the agent says so, where what it said is not in the evidence, and, marked `recovered`, where
a later call made up for it.

## Why is this bad
The same call fails each time until somebody mends the machine. Agents tend to work around it: they write what they
could not run, and say it works.

## Example
```json
[
  {"event": "tool_call", "tool": "run_tests", "args": {"path": "tests"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "run_tests", "error": "ModuleNotFoundError: No module named 'pytest'",
    "timestamp": "2025-06-01T12:00:30Z"},
  {"event_type": "agent_end", "payload": {"output": "All tests pass."}, "timestamp": "2025-06-01T12:00:31Z"}
]
```

## How to fix
Install what is missing where the agent runs, or tell the agent in its instructions what is there.

## Known limits
A file that is missing because the agent mistyped its name is reported here too.
"""

from analyzer.detectors.detector import Detector, Dimension, Why
from analyzer.detectors.failing_calls import Kind, find_class
from analyzer.profile import Profile
from analyzer.timeline.error_classes import ErrorClass
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

KIND = Kind(
    failure_type="environment_error",
    verb="lacked something on its machine",
    why=Why(
        "The machine the tool runs on lacks a module, a command, a file or room.",
        "What should have run did not run.",
        "Install what is missing, or tell the agent in its instructions what is there.",
    ),
)

DETECTOR = Detector(
    failure_type=KIND.failure_type,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="A module, command or file that a tool needs is missing",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ERRORS}),
    steps=("tool_call", "environment_incomplete", "result_missing"),
    find={Profile.STANDARD: find_class(KIND, ErrorClass.ENVIRONMENT)},
)
