"""A tool, or the model's provider, refused a call: not known, not allowed, or not approved.

## What it does
Reports calls whose error says that authentication failed or that permission was not given: by status (401, 403, 407),
by the exception's name, or by words in many languages. A user who declines an approval counts too. Severity follows
from what came of it: high where the run failed with it, medium where no later call made up for it and the agent says
nothing of it, low where the agent says so, where what it said is not in the evidence, and, marked `recovered`, where
a later call made up for it.

## Why is this bad
No repetition helps: the agent can't do the task with the rights it has, and an answer that does not say so hides it.

## Example
```json
[
  {"event": "tool_call", "tool": "read_file", "args": {"path": "/srv/plan.md"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "read_file", "error": "PermissionError: [Errno 13] Permission denied",
    "timestamp": "2025-06-01T12:00:30Z"},
  {"event_type": "agent_end", "payload": {"output": "The plan has three steps."}, "timestamp": "2025-06-01T12:00:31Z"}
]
```

## How to fix
Give the agent the key or the role it needs, or take the tool away; let the tool say which right is missing.

## Known limits
A service that hides what it forbids behind `not found` is reported as such.
"""

from analyzer.detectors.detector import Detector, Dimension, Why
from analyzer.detectors.failing_calls import Kind, find_class
from analyzer.profile import Profile
from analyzer.timeline.error_classes import ErrorClass
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

KIND = Kind(
    failure_type="permission_refused",
    verb="was refused permission",
    why=Why(
        "The agent lacks a key, a role or an approval that the call needs.",
        "The task can't be done as asked, however often it is tried.",
        "Give the agent the right it needs, or take the tool away from it.",
    ),
)

DETECTOR = Detector(
    failure_type=KIND.failure_type,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="A call was refused for want of rights",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ERRORS}),
    steps=("tool_call", "permission_refused", "result_missing"),
    find={Profile.STANDARD: find_class(KIND, ErrorClass.PERMISSION)},
)
