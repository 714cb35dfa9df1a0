"""The agent called one tool again and again with the same arguments and learned nothing.

## What it does
Reports three or more calls with one fingerprint: the tool and its arguments, key order ignored. Results are looked at:
a repetition whose results keep changing (polling, paging) is marked `progressing`, one whose failures end in an equal
call that succeeds is marked `recovered`; both are of severity low and cost nothing. Where the results are equal, where
the calls fail to the end, or where no result is known, the severity is high, and critical from five calls or three
retries on. Only retries that belong to the repeated call count, and only calls with no word of the user in between.

## Why is this bad
Nothing new was learned after the first call, so every further one costs time and tokens, and an agent that does not
notice seldom ends by itself.

## Example
`search("opening hours")` gives `[]`, three times.

```json
[
  {"event": "tool_call", "tool": "search", "args": {"q": "opening hours"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "search", "output": [], "timestamp": "2025-06-01T12:00:01Z"},
  {"event": "tool_call", "tool": "search", "args": {"q": "opening hours"}, "timestamp": "2025-06-01T12:00:02Z"},
  {"event": "tool_output", "tool": "search", "output": [], "timestamp": "2025-06-01T12:00:03Z"},
  {"event": "tool_call", "tool": "search", "args": {"q": "opening hours"}, "timestamp": "2025-06-01T12:00:04Z"},
  {"event": "tool_output", "tool": "search", "output": [], "timestamp": "2025-06-01T12:00:05Z"}
]
```

## How to fix
Tell the model that the result is final, return an error after the second equal call, or bound the calls of a turn.

## Known limits
Calls whose arguments differ only in a timestamp or a nonce count as different. Results that carry noise of their own
beside the usual ids and times look like progress. Equal calls of sub-agents that share a name count together.
"""

from collections.abc import Iterator, Sequence

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.options import names
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT
from analyzer.session.model import Event, EventKind
from analyzer.timeline.call import Call
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.repeats import LOOP, Lesson, Mark, Repetition
from analyzer.timeline.tool_purpose import waits
from analyzer.timeline.tool_words import name_words

__all__ = ["DETECTOR"]

TYPE = "infinite_tool_loop"
CRITICAL = 5
MANY_STEPS = 10
_STEPS = frozenset(("key", "keys", "keypress", "scroll", "swipe", "undo", "redo", "zoom"))
CRITICAL_RETRIES = 3
SHOWN_RETRIES = 3  # critiqor 0.1.4 shows the first three retries as evidence
FIX = "Make the tool's answer final for the model, or stop the turn after the second equal call."
WHY = Why(
    "The agent repeats a call instead of using what the first one gave.",
    "Every further call costs time and tokens and brings nothing; the run may never end.",
    FIX,
)
PAUSE = "Nothing has to be mended; a longer pause between the calls makes them fewer."
HARMLESS = Why("The agent repeats a call whose result changes or whose failure passes.", "None.", PAUSE)
WORDS: dict[Mark, str] = {
    "progressing": "its results keep changing",
    "recovered": "its failures end in a success",
}
WHAT_IT_TAUGHT: dict[frozenset[Lesson], str] = {
    frozenset({Lesson.NEWS, Lesson.SAME}): " and gave the same result each time",
    frozenset({Lesson.FAILED}): " and failed each time",
    frozenset({Lesson.UNKNOWN}): "; what it gave is not known",
}


def find(timeline: Timeline, options: Options) -> Iterator[FailureCause]:
    """Yield one cause a habit, in order of first occurrence; tools that are meant to poll have none."""
    for repetition in timeline.repetitions:
        if len(repetition.calls) < options.loop_calls or names(options.polling_tools, repetition.calls[0].tool):
            continue
        if _lets_time_pass(timeline, repetition) or _moves_on(repetition):
            continue
        if repetition.mark is None:
            yield _loop(timeline, repetition, options.critical_loop_calls)
        else:
            yield _habit(timeline, repetition, repetition.mark)


def _moves_on(repetition: Repetition) -> bool:
    """Return whether each call goes one step further, as keys and wheels do, and there are not many of them."""
    words = name_words(repetition.calls[0].tool or "")
    failed = any(call.status == "error" for call in repetition.calls)
    return not failed and not _STEPS.isdisjoint(words) and len(repetition.calls) < MANY_STEPS


def _lets_time_pass(timeline: Timeline, repetition: Repetition) -> bool:
    """Return whether the tool only waits, and something else is called in between."""
    first, last = repetition.calls[0], repetition.calls[-1]
    if not waits(first.tool or ""):
        return False
    between = sum(first.position < call.position < last.position for call in timeline.work)
    return between >= 2 * len(repetition.calls) - 3


def find_recorded(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause a fingerprint that occurs three times; every retry of the run counts (critiqor 0.1.4)."""
    retries = timeline.of_kind(EventKind.RETRY_EVENT)
    for calls in timeline.calls_by_fingerprint.values():
        if len(calls) < LOOP:
            continue
        impact = _impact(len(calls), len(retries))
        yield FailureCause(
            type=TYPE,
            severity=_severity(len(calls), len(retries)),
            impact=impact,
            description=f"{call_text(calls[0])} was called {len(calls)} times with the same arguments.",
            root_cause=WHY.root_cause(impact),
            recommendation=FIX,
            fingerprint=_fingerprint(calls),
            **shown_by((*_starts(timeline, calls), *retries[:SHOWN_RETRIES])),
        )


def _loop(timeline: Timeline, repetition: Repetition, critical: int) -> FailureCause:
    calls, count = repetition.calls, repetition.fruitless
    retries = _retries(timeline, calls)
    impact = _impact(count, len(retries))
    return FailureCause(
        type=TYPE,
        severity=_severity(count, len(retries), critical),
        impact=impact,
        description=(
            f"{call_text(calls[0])} was called {len(calls)} times with the same arguments"
            f"{_what_it_taught(repetition)}{_with_retries(retries)}."
        ),
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.MEDIUM if Lesson.UNKNOWN in repetition.lessons else Confidence.HIGH,
        fingerprint=_fingerprint(calls),
        **shown_by((*_starts(timeline, calls), *retries)),
    )


def _habit(timeline: Timeline, repetition: Repetition, mark: Mark) -> FailureCause:
    calls = repetition.calls
    return FailureCause(
        type=TYPE,
        severity=Severity.LOW,
        impact=0,
        description=f"{call_text(calls[0])} was called {len(calls)} times with the same arguments; {WORDS[mark]}.",
        root_cause=HARMLESS.root_cause(0),
        recommendation=PAUSE,
        confidence=Confidence.LOW,
        marks=(mark,),
        fingerprint=_fingerprint(calls),
        **shown_by((*_starts(timeline, calls), *_retries(timeline, calls))),
    )


def _severity(calls: int, retries: int, critical: int = CRITICAL) -> Severity:
    return Severity.CRITICAL if calls >= critical or retries >= CRITICAL_RETRIES else Severity.HIGH


def _impact(calls: int, retries: int) -> int:
    return -min(30, 8 + 4 * calls + 3 * retries)


def _starts(timeline: Timeline, calls: Sequence[Call]) -> Iterator[Event]:
    return (timeline.events[call.position] for call in calls)


def _retries(timeline: Timeline, calls: Sequence[Call]) -> list[Event]:
    return [retry for call in calls for retry in timeline.retries_of.get(call.event_id, ())]


def _what_it_taught(repetition: Repetition) -> str:
    alike = repetition.fruitless == len(repetition.calls)
    said = WHAT_IT_TAUGHT.get(frozenset(repetition.lessons)) if alike else None
    return said or f"; the last {repetition.fruitless} brought nothing new"


def _with_retries(retries: list[Event]) -> str:
    return f", with {len(retries)} retr{'y' if len(retries) == 1 else 'ies'}" if retries else ""


def _fingerprint(calls: Sequence[Call]) -> str:
    first = calls[0]
    if first.arguments is ABSENT or first.fingerprint is None:
        return fingerprint(TYPE, first.tool)  # a keyed digest of the arguments differs from run to run
    return fingerprint(TYPE, first.tool, first.fingerprint[1].decode("utf-8", "replace"))


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.LOOP_CONTROL,
    summary="The same tool call, again and again, with nothing learned",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ARGUMENTS}),
    steps=("tool_call", "tool_failure_or_no_progress", "retry_same_action", "loop_flagged"),
    find={Profile.STANDARD: find, Profile.CRITIQOR_V1: find_recorded},
)
