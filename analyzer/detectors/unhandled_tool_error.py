"""A tool failed, and the agent went on as if it had not.

## What it does
Reports calls that failed for a reason no other failure type names, where no later call made up for it and the agent
says nothing of it: severity medium, high where the run failed with it, low where what the agent said is not in the
evidence. A later call makes up for it when it succeeds and is of the same tool, or shares a telling word of its name
or a telling value of its arguments. A call that is part of an `infinite_tool_loop` is told there, a look-up in memory
as a `memory_degradation`.

## Why is this bad
The step after the failure rests on nothing: the agent guesses what the tool would have said, or claims what it did not
do.

## Example
```json
[
  {"event": "tool_call", "tool": "book_table", "args": {"at": "19:00"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "book_table", "error": "the table is taken", "timestamp": "2025-06-01T12:00:01Z"},
  {"event_type": "agent_end", "payload": {"output": "Your table is booked!"}, "timestamp": "2025-06-01T12:00:02Z"}
]
```

## How to fix
Let the error say what can be done about it, and ask in the instructions to report what did not work.

## Known limits
Any word for failing in what the agent says afterwards counts as telling of it. A later success of the same tool
counts as making up for it, also where it was for something else. A command that ends with exit code 1 and prints
nothing of a failure (`grep` without a match, `diff`) is passed over.
"""

from collections.abc import Iterator

from analyzer.cause import FailureCause
from analyzer.detectors.detector import Detector, Dimension, Options, Why
from analyzer.detectors.failing_calls import Kind, causes_of, finding_of
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT, EXIT_CODE, call_id_of, first_given
from analyzer.session.shapes import is_object
from analyzer.timeline.admission import admits_failure
from analyzer.timeline.aftermath import Aftermath
from analyzer.timeline.call import Call
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.tool_purpose import runs_anything

__all__ = ["DETECTOR"]

NO = 1
HANDLED = (Aftermath.RECOVERED, Aftermath.REPORTED)
KIND = Kind(
    failure_type="unhandled_tool_error",
    verb="failed",
    why=Why(
        "An error of a tool was left as it was.",
        "The run ends there, or what was done and said next rests on a guess.",
        "Let the error say what can be done about it, and ask for a report of what did not work.",
    ),
    basis="derived",
    rule="not-made-up-for",
)


def find(timeline: Timeline, options: Options) -> Iterator[FailureCause]:
    """Yield one cause a tool whose failures nobody handled, in order of its first one."""
    unnamed = [failed for failed in timeline.failures.of_tools if failed.owner is None]
    if not unnamed:
        return
    looping = _looping(timeline, options.loop_calls)
    of_memory = {call_id_of(event) for operation in timeline.memory for event in operation.events} - {None}
    findings = [
        finding_of(timeline, failed)
        for failed in unnamed
        if failed.outlook.aftermath not in HANDLED
        and failed.call.position not in looping
        and failed.call.call_id not in of_memory
        and not _only_said_no(timeline, failed.call)
    ]
    yield from causes_of(timeline, KIND, findings)


def _only_said_no(timeline: Timeline, call: Call) -> bool:
    """Return whether a command ended with 1 and speaks of no failure: nothing matched, or two files differ."""
    if call.output_id is None or call.result is ABSENT or not runs_anything(call.tool or ""):
        return False
    result = call.result
    inner = result if is_object(result) else {}
    code = first_given(timeline.events[call.output_position], EXIT_CODE)
    codes = (code, *(inner.get(name) for name in EXIT_CODE.payload))
    text = "\n".join(value for value in inner.values() if isinstance(value, str)) if inner else result
    return NO in codes and not admits_failure(text if isinstance(text, str) else "")


def _looping(timeline: Timeline, least: int) -> set[int]:
    loops = (one for one in timeline.repetitions if len(one.calls) >= least and one.mark is None)
    return {call.position for loop in loops for call in loop.calls}


DETECTOR = Detector(
    failure_type=KIND.failure_type,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="A tool failed and the agent went on as if it had not",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ERRORS}),
    steps=("tool_call", "tool_error", "error_passed_over"),
    find={Profile.STANDARD: find},
)
