"""A skill that was there was not used, did not fit, or failed.

## What it does
Reports skill events that say so: `invoked` is false, or the status is `ignored`, `mismatch`, `failed` or `error`.
Severity medium, high from two on.

Where events do not say it, calls do. Rule `skill-call-failed`: the call that loads, reads or runs a skill fails;
severity low where a later one for that skill succeeds, else medium. Rule `other-skill-instead`, severity low: a skill
is loaded, the next thing the agent does is to load another, and the first is never touched again.

## Why is this bad
A skill holds how a task is done here. Without it the agent does the task in a generic way, slower and with other
mistakes.

## Example
```json
[
  {"event": "skill_event", "skill": "refund_policy", "status": "mismatch", "timestamp": "2025-06-01T12:00:00Z"}
]
```

## How to fix
Say in the skill's description when it applies, in the words users use; make its failure visible to the model.

## Known limits
A skill that should have been used and left no event is not seen, nor is one that was read and not followed.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.profile import Profile
from analyzer.session.accessors import (
    INVOKED,
    STATUS,
    LookUp,
    call_id_of,
    first_given,
    first_present,
    skill_of,
    word_of,
)
from analyzer.session.model import Event, EventKind
from analyzer.timeline.call import Call
from analyzer.timeline.index import Timeline

__all__ = ["DETECTOR"]

TYPE = "skill_failure"
HIGH = 2
RECORDED = frozenset(("ignored", "mismatch", "failed"))
BAD = RECORDED | {"error"}
FIX = "Say in the skill's description when it applies, and make its failure visible to the model."
WHY = Why(
    "The agent passed over a skill, chose one that did not fit, or the skill failed.",
    "The task was done in a generic way, without what the skill knows.",
    FIX,
)


WHAT_HAPPENED = {
    "skill-call-failed": "called for, and the call failed",
    "other-skill-instead": "loaded, and another was taken instead",
}
LOW_IMPACT = -4
MEDIUM_IMPACT = -14


class _Use(NamedTuple):
    """A skill, the event that tells of it, and the call by which it was loaded, read or run, if one is known."""

    skill: str
    event: Event
    call: Call | None


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield what skill events say, then what the calls around them imply."""
    events = timeline.of_kind(EventKind.SKILL_EVENT)
    bad = [event for event in events if _is_bad(event, first_given, BAD)]
    if bad:
        yield _cause(bad)
    said = {event.event_id for event in bad}
    uses = _uses(timeline, [event for event in events if event.event_id not in said])
    failed = [use for use in uses if use.call is not None and use.call.status == "error"]
    if failed:
        grave = any(_stayed_failed(use, uses) for use in failed)
        severity, impact = (Severity.MEDIUM, MEDIUM_IMPACT) if grave else (Severity.LOW, LOW_IMPACT)
        yield _derived(timeline, failed, severity, impact, "skill-call-failed")
    passed_over = list(_passed_over(timeline, uses))
    if passed_over:
        yield _derived(timeline, passed_over, Severity.LOW, LOW_IMPACT, "other-skill-instead")


def find_recorded(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for all skill events that say so (critiqor 0.1.4)."""
    bad = [event for event in timeline.of_kind(EventKind.SKILL_EVENT) if _is_bad(event, first_present, RECORDED)]
    if bad:
        yield _cause(bad)


def _uses(timeline: Timeline, events: Sequence[Event]) -> list[_Use]:
    if not events:
        return []
    by_span = {call.span: call for call in timeline.calls if call.span is not None}
    by_id: dict[str | None, Call] = {call.call_id: call for call in timeline.calls if call.call_id is not None}
    return [
        _Use(skill, event, by_id.get(call_id_of(event)) if event.span is None else by_span.get(event.span))
        for event in events
        if (skill := skill_of(event)) is not None
    ]


def _stayed_failed(failed: _Use, uses: Sequence[_Use]) -> bool:
    after = (use.call for use in uses if use.skill == failed.skill and use.call is not None)
    start = -1 if failed.call is None else failed.call.position
    return not any(call.status == "ok" and call.position > start for call in after)


def _passed_over(timeline: Timeline, uses: Sequence[_Use]) -> Iterator[_Use]:
    """Yield the skills after which nothing is done but load another, and which do not come up again."""
    last_of = {use.skill: place for place, use in enumerate(uses)}
    skill_calls = {use.call.position for use in uses if use.call is not None}
    work = [call.position for call in timeline.work if call.position not in skill_calls]
    for place, (use, following) in enumerate(pairwise(uses)):
        start, end = (timeline.position_of[one.event.event_id] for one in (use, following))
        alone = bisect_left(work, start) == bisect_left(work, end)
        if last_of[use.skill] == place and following.skill != use.skill and alone and not _side_by_side(use, following):
            yield use


def _side_by_side(first: _Use, second: _Use) -> bool:
    """Return whether two skills were loaded at once: the second before the first was there."""
    return first.call is not None and second.call is not None and second.call.position < first.call.output_position


def _is_bad(event: Event, look_up: LookUp, bad_words: frozenset[str]) -> bool:
    words = (word_of(event.status), word_of(look_up(event, STATUS)))
    return look_up(event, INVOKED) is False or any(word in bad_words for word in words)


def _cause(bad: Sequence[Event]) -> FailureCause:
    count = len(bad)
    impact = -min(24, 8 + 6 * count)
    skills = sorted({skill for event in bad if (skill := skill_of(event)) is not None})
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH if count >= HIGH else Severity.MEDIUM,
        impact=impact,
        description=f"{_names(skills)} ignored, did not fit or failed {'once' if count == 1 else f'{count} times'}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        fingerprint=fingerprint(TYPE, skills),
        **shown_by(bad),
    )


def _names(skills: list[str]) -> str:
    if not skills:
        return "A skill was"
    return f"The skill {skills[0]} was" if len(skills) == 1 else f"The skills {', '.join(skills)} were"


def _derived(timeline: Timeline, uses: Sequence[_Use], severity: Severity, impact: int, rule: str) -> FailureCause:
    skills = sorted({use.skill for use in uses})
    shown: list[Event] = []
    for use in uses:
        ended = use.call is not None and use.call.output_position >= 0 and rule == "skill-call-failed"
        shown += [use.event, timeline.events[use.call.output_position]] if use.call and ended else [use.event]
    return FailureCause(
        type=TYPE,
        severity=severity,
        impact=impact,
        description=f"{_names(skills)} {WHAT_HAPPENED[rule]}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.LOW if severity is Severity.LOW else Confidence.MEDIUM,
        basis="derived",
        rule=rule,
        fingerprint=fingerprint(TYPE, rule, skills),
        **shown_by(shown),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.SKILL_ADHERENCE,
    summary="A skill was passed over, did not fit or failed",
    since="0.1.0",
    needs=frozenset(),
    steps=("skill_available", "skill_not_selected_or_failed", "generic_execution"),
    find={Profile.STANDARD: find, Profile.CRITIQOR_V1: find_recorded},
)
