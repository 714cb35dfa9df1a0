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
from analyzer.timeline.delegation import handed_over_to, handed_to_and_fro
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

TYPE = "handoff_ping_pong"
MANY = 8
IMPACT = {Severity.HIGH: -22, Severity.CRITICAL: -30}
FIX = "Say in both agents' instructions which tasks are theirs, and refuse a hand-over that goes back at once."
WHY = Why("Each of two agents takes the task for the other's.", "Nobody works on the task, and every turn costs.", FIX)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause a stretch of hand-overs to and fro."""
    for stretch in handed_to_and_fro(timeline.work):
        yield _cause(timeline, stretch)


def _cause(timeline: Timeline, stretch: Sequence[Call]) -> FailureCause:
    severity = Severity.CRITICAL if len(stretch) >= MANY else Severity.HIGH
    impact = IMPACT[severity]
    pair = sorted({handed_over_to(call) or "" for call in stretch})
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
