"""The agent went to work before it knew whom it was talking to, although its instructions want the identity first.

## What it does
Where the instructions demand that a user's identity is verified at the beginning or before anything else, reports tools
that were called before one that finds or verifies a user. Severity high where one of them changes something or nobody
was ever verified, low where they only looked something up and the verification came later. Confidence medium; derived.

## Why is this bad
Somebody may get data, or change things, that are not theirs; the order of the steps is the safeguard.

## Example
```json
[
  {"event_type": "before_provider_request", "payload": {
    "system_instructions": "At the beginning of each chat you have to verify the identity of the customer.",
    "tools": [{"name": "verify_customer"}, {"name": "cancel_order"}],
    "messages": [{"role": "user", "text": "Cancel order W-17, yes, I confirm."}], "messages_total": 1}},
  {"event": "tool_call", "tool": "cancel_order", "args": {"id": "W-17"}},
  {"event": "tool_output", "tool": "cancel_order", "output": "done"}
]
```

## How to fix
Offer the other tools only after the verification has succeeded, or let them fail without it.

## Known limits
English instructions, and tools whose names tell that they verify or find a user. Without such a tool nothing is
reported: the agent may have asked for the identity in words.
"""

import re
from collections.abc import Iterator, Sequence

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.pattern import mentions, pattern
from analyzer.profile import Profile
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Role
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.sentences import plain, sentences
from analyzer.timeline.tool_purpose import changes_something, hands_over_to
from analyzer.timeline.tool_words import name_words

__all__ = ["DETECTOR"]

TYPE = "skipped_verification"
IMPACT = {Severity.LOW: -5, Severity.HIGH: -18}
_WHO = r"(?:user|customer|caller|client|member|patient|guest|account holder)"
_THEIRS = (
    r"(?:intent|needs?|goals?|requests?|questions?|problems?|language|issues?|input|data|code|claims?|order|answers?)"
)
_DEMANDED = pattern(
    rf"(?:authenticat|verif|validat)\w*[^.\n]{{0,40}}\b(?:{_WHO}(?!'s? (?:\w+ )?{_THEIRS})|identity)\b"
    rf"|\bidentify (?:the|each|your) {_WHO}\b(?!'s?)|\bidentity\b[^.\n]{{0,40}}(?:verified|checked|established)"
    rf"|\b{_WHO}\b[^.\n]{{0,30}}(?:authenticated|verified|identified)",
    re.IGNORECASE,
)
_STEMS = ("authenticat", "verif", "validat", "identi")
"""One of these is in every text that `_DEMANDED` finds something in."""
_FIRST = pattern(
    r"\b(?:at the (?:beginning|start|outset)|first\b|before (?:anything|doing|helping|providing|assisting|proceeding)"
    r"|before (?:any|you)|prior to (?:any|doing|providing)|start (?:by|with)|begin by)",
    re.IGNORECASE,
)
_VERIFIES = frozenset(("verify", "authenticate", "auth", "login", "identify", "identity", "validate"))
_FINDS = frozenset(("find", "lookup", "look", "get", "search", "locate", "check"))
_PEOPLE = frozenset(("user", "customer", "caller", "client", "member", "patient", "guest", "account"))
_THOUGHTS = frozenset(("think", "plan", "calculate", "reason", "reflect", "note"))
_CHALLENGES = frozenset(("otp", "mfa", "totp", "passcode", "challenge", "verification", "captcha"))
_ASIDE = _THOUGHTS | _CHALLENGES
FIX = "Offer the other tools only after the verification has succeeded, or let them fail without it."
WHY = Why(
    "The instructions want the user's identity first, and the agent called other tools before it.",
    "Somebody may get or change what is not theirs.",
    FIX,
)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for the calls before the verification."""
    if not _demanded(timeline):
        return
    work = [call for call in timeline.work if call.tool and (_verifies(call.tool) or not _is_aside(call.tool))]
    place = next((place for place, call in enumerate(work) if _verifies(call.tool or "")), None)
    early = work[:place]
    if place is None and not any(map(_verifies, timeline.offered.tools)):
        return
    if early:
        yield _cause(timeline, early, verified=place is not None)


def _demanded(timeline: Timeline) -> bool:
    told = (one.text for one in timeline.conversation.by(Role.SYSTEM) if mentions(one.text, _STEMS))
    lines = (line for text in told for line in sentences(plain(text)))
    return any(_DEMANDED.search(line) and _FIRST.search(line) for line in lines)


def _is_aside(tool: str) -> bool:
    return hands_over_to(tool) is not None or not _ASIDE.isdisjoint(name_words(tool))


def _verifies(tool: str) -> bool:
    words = frozenset(name_words(tool))
    return not _VERIFIES.isdisjoint(words) or not (_FINDS.isdisjoint(words) or _PEOPLE.isdisjoint(words))


def _cause(timeline: Timeline, early: Sequence[Call], *, verified: bool) -> FailureCause:
    grave = not verified or any(changes_something(call.tool or "") for call in early)
    severity = Severity.HIGH if grave else Severity.LOW
    impact = IMPACT[severity]
    others = f" and {len(early) - 1} more" if len(early) > 1 else ""
    return FailureCause(
        type=TYPE,
        severity=severity,
        impact=impact,
        description=(
            f"{call_text(early[0])}{others} came before the user's identity was verified"
            f"{'' if verified else ', which never happened'}; the instructions want it first."
        ),
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="calls-before-verification",
        fingerprint=fingerprint(TYPE, sorted({call.tool or "" for call in early})),
        **shown_by(timeline.events[place] for call in early for place in timeline.places_of(call)),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.SKILL_ADHERENCE,
    summary="Tools were called before the user was verified, against the instructions",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.MESSAGES}),
    steps=("identity_demanded", "not_verified", "action"),
    find={Profile.STANDARD: find},
)
