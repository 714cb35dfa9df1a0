"""The run stopped because a limit of steps, turns or time was reached, not because it was done.

## What it does
Reports what says so in words: errors of frameworks (`GraphRecursionError`, `MaxTurnsExceeded`), finish reasons, and
last messages like `Agent stopped due to max iterations`; and runs that took more model calls or seconds than the
`step_budget` or `seconds_budget` of `[tool.critiqor]`. Severity high.

## Why is this bad
The work was cut off at an accidental place: what was paid for so far leads to no answer, or to one made up from half of
the facts.

## Example
```json
[
  {"event": "tool_call", "tool": "search", "args": {"q": "a"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "search", "output": "b", "timestamp": "2025-06-01T12:00:01Z"},
  {"event": "error_event", "payload": {"error_type": "MaxTurnsExceeded", "message": "Max turns (10) exceeded"}}
]
```

## How to fix
Look for what used the steps up: loops, retries, a plan of too many steps. Raise the limit only when they were all
needed, and let the agent sum up before it ends.

## Known limits
A limit whose framework says nothing when it is reached is not seen.
"""

import re
from collections.abc import Iterator

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.pattern import mentions, pattern
from analyzer.profile import Profile
from analyzer.timeline.conversation import Role
from analyzer.timeline.index import Timeline
from analyzer.timeline.sentences import quoted

__all__ = ["DETECTOR"]

TYPE = "budget_exhausted"
IMPACT = -20
BEGINNING = 30  # characters before it: a framework says at once why it stopped, an answer mentions limits later
MOST = 200
BILLION = 1_000_000_000
_COUNTED = (
    r"(?:turns?|steps?|iterations?|rounds?|loops?|tool calls?|model calls?|messages?|time|duration|budget|recursion)"
)
_NUMBER = r"(?: \(?[\d.,]+ ?\w{0,8}\)?)?"
_REACHED = r"(?:reached|exceeded|exhausted|hit|used up)"
_LIMIT = pattern(
    rf"GraphRecursionError|MaxTurns\w{{0,20}}(?:Exceeded|Error)|MaxIterations\w{{0,20}}|AgentMaxSteps\w{{0,20}}"
    rf"|UsageLimitExceeded|error_max_turns"
    rf"|\bmax(?:imum)?[ _-]?(?:number of |allowed )?{_COUNTED}{_NUMBER}(?: (?:was|were|has been|is))? {_REACHED}"
    rf"|{_REACHED} (?:the |its |my |your )?(?:max(?:imum)?|limit)(?: of| for| number of| allowed)*{_NUMBER} {_COUNTED}"
    rf"|{_COUNTED} limit(?: of)?{_NUMBER}(?: (?:was|has been|is))? (?:reached|exceeded|hit)"
    rf"|stopped due to (?:max |maximum )?{_COUNTED}(?: limit)?|ran out of {_COUNTED}|recursion limit of \d+ reached",
    re.IGNORECASE,
)
_STEMS = ("max", "limit", "recursion", "stopped due", "ran out")
"""One of these is in every text that `_LIMIT` finds something in."""
_REASONS = frozenset(("max_turns", "max_steps", "max_iterations", "error_max_turns", "tool_calls_limit", "time_limit"))
FIX = "Look for what used the steps up, and raise the limit only when they were all needed."
WHY = Why(
    "A limit of steps, turns, time or money was reached before the work was done.",
    "There is no answer, or one that rests on half of the work.",
    FIX,
)


def find(timeline: Timeline, options: Options) -> Iterator[FailureCause]:
    """Yield one cause for what says that a limit was reached."""
    told = sorted(
        {
            **dict(_spent(timeline, options)),
            **dict(_said(timeline)),
            **dict(_stopped(timeline)),
            **dict(_complained(timeline)),
        }.items()
    )
    if told:
        position, text = told[0]
        yield FailureCause(
            type=TYPE,
            severity=Severity.HIGH,
            impact=IMPACT,
            description=f"The run stopped at a limit: {text}.",
            root_cause=WHY.root_cause(IMPACT),
            recommendation=FIX,
            fingerprint=fingerprint(TYPE),
            **shown_by(timeline.events[place] for place in dict.fromkeys((position, *(place for place, _ in told)))),
        )


def _spent(timeline: Timeline, options: Options) -> Iterator[tuple[int, str]]:
    """Yield the model call with which a budget of the user's was exceeded, and the end of a run that took too long."""
    steps, seconds = options.step_budget, options.seconds_budget
    if steps is not None and len(timeline.model_calls) > steps:
        call = timeline.model_calls[steps]
        position = timeline.position_of[call.request_id or call.response_id or ""]
        yield position, f"it took {len(timeline.model_calls)} model calls, and its budget is {steps}"
    took = sum(end - start for start, end in timeline.spells) / BILLION
    if seconds is not None and took > seconds:
        yield len(timeline.events) - 1, f"it took {took:.0f} seconds, and its budget is {seconds:.0f}"


def _complained(timeline: Timeline) -> Iterator[tuple[int, str]]:
    for complaint in timeline.complaints:
        if mentions(complaint.text, _STEMS) and _LIMIT.search(complaint.text):
            yield complaint.position, quoted(complaint.text)


def _stopped(timeline: Timeline) -> Iterator[tuple[int, str]]:
    for answer in timeline.answers:
        for reason in sorted(answer.reasons & _REASONS):
            yield answer.position, f"a response ended with {reason}"


def _said(timeline: Timeline) -> Iterator[tuple[int, str]]:
    """Yield the last message, where its beginning says why the run ended."""
    for one in timeline.conversation.by(Role.ASSISTANT)[-1:]:
        beginning = one.text[:MOST]
        found = _LIMIT.search(beginning) if mentions(beginning, _STEMS) else None
        if found is not None and found.start() <= BEGINNING:
            yield one.position, quoted(one.text)


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.LOOP_CONTROL,
    summary="The run stopped at a limit of steps, turns or time",
    since="0.1.0",
    needs=frozenset(),
    steps=("many_steps", "limit_reached", "work_cut_off"),
    find={Profile.STANDARD: find},
)
