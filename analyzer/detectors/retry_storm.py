"""One tool failed again and again, each time with other arguments, or a call was retried again and again.

## What it does
Reports five or more calls of a tool by one agent that failed one after the other, with no success in between, and five
or more retry events of one call or one model. Severity medium, high from ten on. Where a success follows it is marked
`recovered`, of severity low. Calls made side by side count as one attempt. Equal calls that fail to the end are an
`infinite_tool_loop`, and are left out here. Tools that are meant to poll (setting `polling_tools`) have none.

## Why is this bad
Each attempt costs a step and fills the context with errors, and a service that is down is kept down by it.

## Example
```json
[
  {"event": "tool_call", "tool": "query", "args": {"sql": "select a"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "query", "error": "no column a", "timestamp": "2025-06-01T12:00:01Z"},
  {"event": "tool_call", "tool": "query", "args": {"sql": "select b"}, "timestamp": "2025-06-01T12:00:02Z"},
  {"event": "tool_output", "tool": "query", "error": "no column b", "timestamp": "2025-06-01T12:00:03Z"},
  {"event": "tool_call", "tool": "query", "args": {"sql": "select c"}, "timestamp": "2025-06-01T12:00:04Z"},
  {"event": "tool_output", "tool": "query", "error": "no column c", "timestamp": "2025-06-01T12:00:05Z"},
  {"event": "tool_call", "tool": "query", "args": {"sql": "select d"}, "timestamp": "2025-06-01T12:00:06Z"},
  {"event": "tool_output", "tool": "query", "error": "no column d", "timestamp": "2025-06-01T12:00:07Z"},
  {"event": "tool_call", "tool": "query", "args": {"sql": "select e"}, "timestamp": "2025-06-01T12:00:08Z"},
  {"event": "tool_output", "tool": "query", "error": "no column e", "timestamp": "2025-06-01T12:00:09Z"}
]
```

## How to fix
Let the error say what would work (the columns there are), bound the attempts, and wait longer before each.

## Known limits
Retries inside a client that leave no event are not seen. A success of the same tool for something else ends the count.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analyzer.cause import Basis, Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.options import names
from analyzer.profile import Profile
from analyzer.session.accessors import payload_of
from analyzer.session.model import Event
from analyzer.timeline.call import Call
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

TYPE = "retry_storm"
MANY = 5
HIGH = 10
SHOWN = 10
WHY = Why(
    "The agent, or a client below it, tried again and again what did not work.",
    "Every attempt costs time and tokens, and a service that is down stays down.",
    "Let the error say what would work, bound the attempts, and wait longer before each.",
)


class _Storm(NamedTuple):
    subject: str
    words: str
    events: Sequence[Event]
    recovered: bool
    basis: Basis
    start: int


def find(timeline: Timeline, options: Options) -> Iterator[FailureCause]:
    """Yield one cause a storm, in order of its first attempt."""
    storms = [*_of_failures(timeline, options), *_of_retries(timeline, options)]
    for storm in sorted(storms, key=lambda one: one.start):
        yield _cause(storm)


def _of_failures(timeline: Timeline, options: Options) -> Iterator[_Storm]:
    failed = {one.call.position for one in timeline.failures.of_tools}
    if len(failed) < MANY:
        return
    looping = {
        call.position
        for repetition in timeline.repetitions
        if repetition.mark is None and len(repetition.calls) >= options.loop_calls
        for call in repetition.calls
    }
    streaks: dict[tuple[str | None, str | None, int], list[Call]] = {}
    for call in timeline.work:
        if _polls(call, options):
            continue
        key = (call.agent, call.tool, call.user_turn)
        if call.position not in failed:
            yield from _storm(timeline, streaks.pop(key, []), recovered=call.output_id is not None)
        elif call.position not in looping:
            streak = streaks.setdefault(key, [])
            if not streak or _follows(timeline, call, streak[-1]):
                streak.append(call)
    for streak in streaks.values():
        yield from _storm(timeline, streak, recovered=False)


def _polls(call: Call, options: Options) -> bool:
    return bool(options.polling_tools) and names(options.polling_tools, call.tool)


def _follows(timeline: Timeline, call: Call, before: Call) -> bool:
    """Return whether a call was made in the knowledge that the one before had failed."""
    issuers = timeline.failures.issuers
    asked, asked_before = issuers.get(call.call_id or ""), issuers.get(before.call_id or "")
    return call.position > before.output_position and (asked is None or asked != asked_before)


def _storm(timeline: Timeline, streak: Sequence[Call], *, recovered: bool) -> Iterator[_Storm]:
    if len(streak) < MANY:
        return
    tool = streak[0].tool or "an unnamed tool"
    events = [timeline.events[call.position] for call in streak]
    words = f"{tool} failed {len(streak)} times in a row"
    yield _Storm(tool, words, events, recovered, "derived", streak[0].position)


def _of_retries(timeline: Timeline, options: Options) -> Iterator[_Storm]:
    groups: dict[int | str, list[Event]] = {}
    for retry in timeline.retries:
        subject: object = payload_of(retry.event).get("model") if retry.call is None else retry.call
        if isinstance(subject, int | str):
            groups.setdefault(subject, []).append(retry.event)
    looping = {call.position for one in timeline.repetitions if one.mark is None for call in one.calls}
    answered = max((answer.position for answer in timeline.answers if answer.error is None), default=-1)
    for subject, events in groups.items():
        call = timeline.calls[subject] if isinstance(subject, int) else None
        if len(events) < MANY or (call is not None and (call.position in looping or _polls(call, options))):
            continue
        name = f"the model {subject}" if call is None else (call.tool or "an unnamed tool")
        last = timeline.position_of[events[-1].event_id]
        recovered = answered > last if call is None else call.status == "ok"
        words = f"A call of {name} was retried {len(events)} times"
        yield _Storm(name, words, events, recovered, "observed", timeline.position_of[events[0].event_id])


def _cause(storm: _Storm) -> FailureCause:
    count = len(storm.events)
    severity = Severity.HIGH if count >= HIGH else Severity.MEDIUM
    impact = 0 if storm.recovered else -min(25, 5 + 2 * count)
    return FailureCause(
        type=TYPE,
        severity=Severity.LOW if storm.recovered else severity,
        impact=impact,
        description=f"{storm.words}{'; then it succeeded' if storm.recovered else ''}.",
        root_cause=WHY.root_cause(impact),
        recommendation=WHY.fix,
        confidence=Confidence.LOW if storm.recovered else Confidence.HIGH,
        basis=storm.basis,
        rule="failures-in-a-row" if storm.basis == "derived" else None,
        marks=("recovered",) if storm.recovered else (),
        fingerprint=fingerprint(TYPE, storm.subject),
        **shown_by(storm.events[:SHOWN]),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.LOOP_CONTROL,
    summary="What did not work was tried again and again",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ERRORS}),
    steps=("tool_call", "tool_error", "next_attempt", "attempts_without_bound"),
    find={Profile.STANDARD: find},
)
