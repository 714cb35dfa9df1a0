"""The agent went round in circles: a few different calls, then the same ones again in the same order.

## What it does
Reports rounds of two to six calls (A-B-A-B, A-B-C-A-B-C) that one agent made twice or more, one after the other,
where no call of a later round taught anything new: equal results, or the same failure. Severity medium. Where each
call of the round was made three times, an `infinite_tool_loop` is reported for each, and this type keeps silent; so it
does of hand-overs to and fro (`handoff_ping_pong`).

## Why is this bad
Each step looks sensible by itself, so nothing stops it; together they lead back to where they began.

## Example
```json
[
  {"event": "tool_call", "tool": "read", "args": {"path": "a.py"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "read", "output": "import b", "timestamp": "2025-06-01T12:00:01Z"},
  {"event": "tool_call", "tool": "read", "args": {"path": "b.py"}, "timestamp": "2025-06-01T12:00:02Z"},
  {"event": "tool_output", "tool": "read", "output": "import a", "timestamp": "2025-06-01T12:00:03Z"},
  {"event": "tool_call", "tool": "read", "args": {"path": "a.py"}, "timestamp": "2025-06-01T12:00:04Z"},
  {"event": "tool_output", "tool": "read", "output": "import b", "timestamp": "2025-06-01T12:00:05Z"},
  {"event": "tool_call", "tool": "read", "args": {"path": "b.py"}, "timestamp": "2025-06-01T12:00:06Z"},
  {"event": "tool_output", "tool": "read", "output": "import a", "timestamp": "2025-06-01T12:00:07Z"}
]
```

## How to fix
Keep what was found where the model sees it, and ask for another way when a step has been made before.

## Known limits
Rounds whose results are not in the evidence are not reported, nor those of tools that wait or are meant to poll. Rounds
that differ in one argument look like progress.
"""

from collections.abc import Iterator

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.options import names
from analyzer.profile import Profile
from analyzer.session.accessors import name_of
from analyzer.session.model import EventKind
from analyzer.timeline.cycles import Cycle, cycles_in
from analyzer.timeline.delegation import handed_to_and_fro
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.tool_purpose import waits

__all__ = ["DETECTOR"]

TYPE = "alternating_loop"
WHY = Why(
    "The agent took up again what it had just done, step by step.",
    "The rounds cost time and tokens and bring nothing; the run may never end.",
    "Keep what was found where the model sees it, and ask for another way when a step has been made before.",
)


def find(timeline: Timeline, options: Options) -> Iterator[FailureCause]:
    """Yield one cause a cycle, in order of its first call."""
    if not timeline.repetitions:
        return
    starts = [
        place
        for place, event in enumerate(timeline.events)
        if event.event == EventKind.STATE_TRANSITION and name_of(event) == "agent_start"
    ]
    harmless, told = _repeated(timeline, options)
    told.update(call.position for row in handed_to_and_fro(timeline.work) for call in row)
    for cycle in cycles_in(timeline.work, starts):
        positions = {call.position for call in cycle.calls}
        is_patient = any(_waits(call.tool, options) for call in cycle.calls[: cycle.length])
        if cycle.fruitless and not is_patient and positions.isdisjoint(harmless) and not positions <= told:
            yield _cause(timeline, cycle)


def _repeated(timeline: Timeline, options: Options) -> tuple[set[int], set[int]]:
    """Return the positions of calls whose repetition was worth it, and of those that are a loop of their own."""
    harmless: set[int] = set()
    told: set[int] = set()
    for repetition in timeline.repetitions:
        positions = (call.position for call in repetition.calls)
        if repetition.mark is not None:
            harmless.update(positions)
        elif len(repetition.calls) >= options.loop_calls:
            told.update(positions)
    return harmless, told


def _waits(tool: str | None, options: Options) -> bool:
    return names(options.polling_tools, tool) or waits(tool or "")


def _cause(timeline: Timeline, cycle: Cycle) -> FailureCause:
    repeated = len(cycle.calls) - cycle.length
    impact = -min(20, 6 + 2 * repeated)
    texts = " → ".join(call_text(call) for call in cycle.calls[: cycle.length])
    tools = [call.tool or "" for call in cycle.calls[: cycle.length]]
    return FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM,
        impact=impact,
        description=f"{texts}: {cycle.rounds} rounds, and the later ones brought nothing new.",
        root_cause=WHY.root_cause(impact),
        recommendation=WHY.fix,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="same-round-again",
        fingerprint=fingerprint(TYPE, sorted(tools)),
        **shown_by(
            timeline.events[call.position] for call in (*cycle.calls[cycle.length :], *cycle.calls[: cycle.length])
        ),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.LOOP_CONTROL,
    summary="A few calls in turns, round after round, with nothing learned",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ARGUMENTS, Fact.TOOL_RESULTS}),
    steps=("tool_call", "another_tool_call", "first_call_again", "loop_flagged"),
    find={Profile.STANDARD: find},
)
