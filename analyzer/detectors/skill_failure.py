"""A skill that was there was not used, did not fit, or failed.

## What it does
Reports skill events that say so: `invoked` is false, or the status is `ignored`, `mismatch`, `failed` or `error`.
Severity medium, high from two on.

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
Only skill events are looked at: a skill that should have been used and left no event is not seen.
"""

from collections.abc import Iterator, Sequence

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Find, Options, Why, fingerprint, shown_by
from analyzer.profile import Profile
from analyzer.session.accessors import INVOKED, STATUS, LookUp, first_given, first_present, skill_of, word_of
from analyzer.session.model import Event, EventKind
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


def _find_with(look_up: LookUp, bad_words: frozenset[str]) -> Find:
    def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
        bad = [event for event in timeline.of_kind(EventKind.SKILL_EVENT) if _is_bad(event, look_up, bad_words)]
        if bad:
            yield _cause(bad)

    return find


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


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.SKILL_ADHERENCE,
    summary="A skill was passed over, did not fit or failed",
    since="0.1.0",
    needs=frozenset(),
    steps=("skill_available", "skill_not_selected_or_failed", "generic_execution"),
    find={
        Profile.STANDARD: _find_with(first_given, BAD),
        Profile.CRITIQOR_V1: _find_with(first_present, RECORDED),
    },
)
