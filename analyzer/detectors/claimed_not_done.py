"""The agent said that it had done something, and no tool call shows that it was done.

## What it does
Looks for deeds told as done (`I have cancelled your order`, `after visiting the website`, `Ihre Buchung habe ich
storniert`) and for a call that could have done them: by its name, arguments or result. Reported where there was none,
or where all of them failed. Severity high, confidence medium; derived.

## Why is this bad
The user believes it is done and does not look again; the mistake shows days later.

## Example
```json
[
  {"event_type": "message_received", "payload": {"role": "user", "text": "Cancel order W-17, please."}},
  {"event": "tool_call", "tool": "get_order", "args": {"order_id": "W-17"}},
  {"event": "tool_output", "tool": "get_order", "output": {"order_id": "W-17", "status": "pending"}},
  {"event_type": "message_sent", "payload": {"text": "Done! I have cancelled the order for you."}}
]
```

## How to fix
Let the agent quote what the tool returned; tell it to say what it could not do. Give it the tool that it lacked.

## Known limits
A table of deeds in English, German, French, Spanish, Portuguese, Italian, Dutch, Chinese and Japanese, the first most.
A tool that can do anything (a shell, code, another agent) is taken to have done it. Runs whose tool calls are not
carried are passed over.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT
from analyzer.session.jsontext import canonical
from analyzer.session.model import EventKind, Json
from analyzer.timeline.call import Call
from analyzer.timeline.claims import Claim, claims_in, may_claim
from analyzer.timeline.conversation import Role, Utterance
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.sentences import quoted
from analyzer.timeline.tool_purpose import hands_over_to, runs_anything

__all__ = ["DETECTOR"]

TYPE = "claimed_not_done"
IMPACT = -22
MOST_TEXT = 20_000
_CONSULTING = frozenset(("watched", "listened", "visited", "contacted", "searched"))
FIX = "Let the agent quote what the tool returned, and tell it to say what it could not do."
WHY = Why(
    "The model wrote its answer as if a deed had been done that no tool did.",
    "The user relies on something that never happened.",
    FIX,
)


class _Lie(NamedTuple):
    said: Utterance
    sentence: str
    failed: Call | None
    """The last call that could have done it, and failed."""


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for the deeds that nothing shows."""
    if not _can_tell(timeline):
        return
    lies = list(_lies(timeline))
    if lies:
        yield _cause(timeline, lies)


def _can_tell(timeline: Timeline) -> bool:
    """Return whether the run shows an agent with tools, and all that they did."""
    if Fact.TOOL_CALLS in timeline.missing or any(call.tool is None for call in timeline.work):
        return False
    return bool(timeline.work) or timeline.offered.known


def _lies(timeline: Timeline) -> Iterator[_Lie]:
    support: _Support | None = None
    for one in timeline.assertions:
        for sentence in one.sentences if may_claim(one.lower) else ():
            for claim in claims_in(sentence):
                support = support or _Support(timeline)
                done, failed = support.of(claim, one.said.position)
                if not done:
                    yield _Lie(one.said, sentence, failed)


class _Support:
    """What could have done a deed: looked up by its kind, each kind once."""

    def __init__(self, timeline: Timeline) -> None:
        self._calls = timeline.work
        self._told = [
            (one.position, one.text[:MOST_TEXT].lower())
            for one in timeline.conversation.by(Role.USER, Role.SYSTEM, Role.CALLER)
        ]
        self._others = min(
            (
                timeline.position_of[event.event_id]
                for kind in (EventKind.MEMORY_EVENT, EventKind.SKILL_EVENT, EventKind.PROCESS_START)
                for event in timeline.of_kind(kind)
            ),
            default=None,
        )
        self._known: dict[tuple[str, bool], tuple[int | None, list[Call]]] = {}

    def of(self, claim: Claim, position: int) -> tuple[bool, Call | None]:
        """Return whether something before a position may have done the deed, and the last call that failed to."""
        key = (claim.deed.name, claim.by_agent)
        if key not in self._known:
            self._known[key] = self._look(claim)
        first, failed = self._known[key]
        if first is not None and first < position:
            return True, None
        return False, next((call for call in reversed(failed) if call.position < position), None)

    def _look(self, claim: Claim) -> tuple[int | None, list[Call]]:
        """Return the position of the first thing that may have done it, and the calls that failed to."""
        places: list[int] = [] if self._others is None else [self._others]
        failed: list[Call] = []
        for call in self._calls:
            if not _may_do(call, claim):
                continue
            if call.status == "error":
                failed.append(call)
            else:
                places.append(call.position)
        if not claim.by_agent:  # somebody may have told of it, or a result
            places += (position for position, text in self._told if claim.deed.tools.search(text))
        return min(places, default=None), failed


def _may_do(call: Call, claim: Claim) -> bool:
    tool = call.tool or ""
    consulting = claim.deed.name in _CONSULTING
    result = _text(call.result)
    if consulting and call.result is not ABSENT and not result.strip():
        return False  # nothing was seen there
    if hands_over_to(tool) is not None or (runs_anything(tool) and not consulting):
        return True
    texts = (tool, _text(call.arguments), "" if claim.by_agent and not consulting else result)
    return any(claim.deed.tools.search(text) for text in texts)


def _text(value: Json) -> str:
    if value is ABSENT:
        return ""
    text = value if isinstance(value, str) else canonical(value)[:MOST_TEXT].decode("utf-8", "replace")
    return re.sub(r"\s+", " ", text[:MOST_TEXT]).lower()


def _cause(timeline: Timeline, lies: Sequence[_Lie]) -> FailureCause:
    first = lies[0]
    how = "no call did it" if first.failed is None else f"the call of {first.failed.tool} failed"
    others = f" So with {len(lies) - 1} more." if len(lies) > 1 else ""
    failed = [lie.failed.position for lie in lies if lie.failed is not None]
    positions = dict.fromkeys((*(lie.said.position for lie in lies), *failed))
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH,
        impact=IMPACT,
        description=f"The agent said {quoted(first.sentence)}; {how}.{others}",
        root_cause=WHY.root_cause(IMPACT),
        recommendation=FIX,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="claim-without-a-call",
        fingerprint=fingerprint(TYPE, first.said.agent),
        **shown_by(timeline.events[position] for position in positions),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="The agent said it had done what no tool did",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.MESSAGES}),
    steps=("request", "no_call", "claim"),
    find={Profile.STANDARD: find},
)
