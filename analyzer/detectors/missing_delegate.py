"""A task was handed to an agent that never began.

## What it does
Reports hand-overs (`transfer_to_billing`) that did not fail, whose result is a receipt at most, and after which no
agent of that name, nor any other agent than before, is seen in the run. Severity high, confidence medium; derived.

## Why is this bad
The one that handed over believes the task is being done; it is not.

## Example
```json
[
  {"event_type": "agent_start", "payload": {"agent": "support", "input": "My invoice is wrong"}},
  {"event": "tool_call", "tool": "transfer_to_billing", "payload": {"agent": "support", "input": {}}},
  {"event": "tool_output", "tool": "transfer_to_billing", "output": "Transferred."},
  {"event_type": "agent_end", "status": "ok", "payload": {"agent": "support"}}
]
```

## How to fix
Compare the name in the hand-over with the agents that are registered; let the tool fail when there is none.

## Known limits
Only runs whose traces name their agents; where one alone is named, only hand-overs that nothing follows. A delegate
that writes its traces elsewhere looks as if it never began. Hand-overs to people are not looked at.
"""

from collections.abc import Iterator
from typing import NamedTuple

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.profile import Profile
from analyzer.session.accessors import name_of, payload_of
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Role
from analyzer.timeline.delegation import answered_in_place
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.tool_purpose import hands_over_to
from analyzer.timeline.tool_words import name_words

__all__ = ["DETECTOR"]

TYPE = "missing_delegate"
IMPACT = -18
_ENDS = frozenset(("agent_end", "agent_finish", "turn_end"))
_EMPTY = frozenset(("agent", "assistant", "expert", "specialist", "team", "bot", "the"))
FIX = "Compare the name in the hand-over with the agents that are registered; let the tool fail when there is none."
WHY = Why("The task was handed to an agent that is not there.", "Nobody does it, and nobody knows.", FIX)


class _Seen(NamedTuple):
    position: int
    agent: str


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause a hand-over after which nobody began."""
    handed = [call for call in timeline.work if call.tool is not None and hands_over_to(call.tool)]
    if not handed:
        return
    seen = list(_agents(timeline))
    for call in handed:
        if call.status == "error" or call.agent is None or answered_in_place(call) or _goes_on(timeline, seen, call):
            continue
        if not _began(seen, call):
            yield _cause(timeline, call)


def _agents(timeline: Timeline) -> Iterator[_Seen]:
    """Yield where each agent is seen at work for the first and the last time; to end is no work."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for position, event in enumerate(timeline.events):
        agent = payload_of(event).get("agent")
        if isinstance(agent, str) and name_of(event) not in _ENDS:
            first.setdefault(agent, position)
            last[agent] = position
    for agent, position in first.items():
        yield _Seen(position, agent)
        yield _Seen(last[agent], agent)


def _began(seen: list[_Seen], call: Call) -> bool:
    """Return whether the one that was named is in the run at all, or somebody else works after the hand-over."""
    named = _words(hands_over_to(call.tool or "") or "")
    return any(
        not named.isdisjoint(_words(one.agent)) or (one.position > call.position and one.agent != call.agent)
        for one in seen
        if one.agent != call.agent or named == _words(one.agent)
    )


def _goes_on(timeline: Timeline, seen: list[_Seen], call: Call) -> bool:
    """Return whether only one agent is named in the run, and the talk or the work goes on: by whom, nobody can tell."""
    if any(one.agent != call.agent for one in seen):
        return False
    place = max(call.position, call.output_position)
    spoke = any(one.position > place for one in timeline.conversation.by(Role.USER))
    return spoke or any(later.position > place for later in timeline.work)


def _words(name: str) -> frozenset[str]:
    words = frozenset(name_words(name))
    return words - _EMPTY or words


def _cause(timeline: Timeline, call: Call) -> FailureCause:
    to = hands_over_to(call.tool or "") or ""
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH,
        impact=IMPACT,
        description=f"{call_text(call)} handed the task to {to}, which never began.",
        root_cause=WHY.root_cause(IMPACT),
        recommendation=FIX,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="handed-over-to-nobody",
        fingerprint=fingerprint(TYPE, to),
        **shown_by(timeline.events[position] for position in timeline.places_of(call)),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.SKILL_ADHERENCE,
    summary="A task was handed to an agent that never began",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS}),
    steps=("hand_over", "nobody_begins", "task_not_done"),
    find={Profile.STANDARD: find},
)
