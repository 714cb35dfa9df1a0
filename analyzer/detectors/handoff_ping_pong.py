"""Two agents handed the task to each other and back again, and neither did anything.

## What it does
Reports four or more hand-overs in a row that go to and fro between two agents, with no other call of a tool and no word
of a user in between. Severity high, critical from eight on.

## Why is this bad
Each agent takes the task for the other's; without a limit they go on for ever.

## Example
```json
[
  {"event": "tool_call", "tool": "transfer_to_billing", "payload": {"agent": "support"}},
  {"event": "tool_call", "tool": "transfer_to_support", "payload": {"agent": "billing"}},
  {"event": "tool_call", "tool": "transfer_to_billing", "payload": {"agent": "support"}},
  {"event": "tool_call", "tool": "transfer_to_support", "payload": {"agent": "billing"}}
]
```

## How to fix
Say in both agents' instructions which tasks are theirs, and let a hand-over carry the reason; refuse one that goes back
at once.

## Known limits
Hand-overs are known by the names of their tools (`transfer_to_…`, `handoff_to_…`, `delegate_to_…`). Three agents in a
circle are not reported here, nor one agent that asks two others in turn and gets an answer within the call.
"""

from collections.abc import Iterator, Sequence

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.profile import Profile
from analyzer.timeline.call import Call
from analyzer.timeline.delegation import answered_in_place
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.tool_purpose import hands_over_to

__all__ = ["DETECTOR"]

TYPE = "handoff_ping_pong"
OFTEN = 4
MANY = 8
IMPACT = {Severity.HIGH: -22, Severity.CRITICAL: -30}
FIX = "Say in both agents' instructions which tasks are theirs, and refuse a hand-over that goes back at once."
WHY = Why("Each of two agents takes the task for the other's.", "Nobody works on the task, and every turn costs.", FIX)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause a stretch of hand-overs to and fro."""
    for stretch in _stretches(timeline.work):
        if len(stretch) >= OFTEN:
            yield _cause(timeline, stretch)


def _stretches(calls: Sequence[Call]) -> Iterator[list[Call]]:
    """Yield the longest rows of hand-overs in which every second goes to the same agent, and no two in a row do."""
    row: list[Call] = []
    for call in calls:
        to = _to(call)
        if to and _is_a_tool(call, row):
            to = None
        if to and row and call.user_turn == row[-1].user_turn and _goes_on(row, to):
            row.append(call)
            continue
        yield row
        row = [call] if to else []
    yield row


def _is_a_tool(call: Call, row: Sequence[Call]) -> bool:
    """Return whether the other agent answered within the call, and who asked had not been handed the task."""
    return answered_in_place(call) and (not row or call.agent == row[-1].agent)


def _goes_on(row: Sequence[Call], to: str) -> bool:
    return _to(row[-1]) != to and (len(row) < 2 or _to(row[-2]) == to)  # noqa: PLR2004  # the one before the last


def _to(call: Call) -> str | None:
    return None if call.tool is None else hands_over_to(call.tool)


def _cause(timeline: Timeline, stretch: Sequence[Call]) -> FailureCause:
    severity = Severity.CRITICAL if len(stretch) >= MANY else Severity.HIGH
    impact = IMPACT[severity]
    pair = sorted({_to(call) or "" for call in stretch})
    return FailureCause(
        type=TYPE,
        severity=severity,
        impact=impact,
        description=f"{' and '.join(pair)} handed the task to each other {len(stretch)} times and did nothing else.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        fingerprint=fingerprint(TYPE, pair),
        **shown_by(timeline.events[call.position] for call in stretch),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.LOOP_CONTROL,
    summary="Two agents handed a task to each other again and again",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS}),
    steps=("hand_over", "hand_back", "nobody_works"),
    find={Profile.STANDARD: find},
)
