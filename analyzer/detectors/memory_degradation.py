"""The agent's memory lost something, or did not find it, or was passed over.

## What it does
Reports memory events whose action or status says `recall_failed`, `ignored`, `lost` or `miss`: severity medium, high
from three on. Look-ups that failed or came back empty without anybody saying so are reported apart, as derived (rule
`memory-miss`): severity medium from two on, where one of them failed or the run had put something into its memory
before, else low, since of a user who is new there is nothing to find. A tool whose name says that it searches a memory
or recalls something is a look-up too. What reports one operation (start and end, a plugin's copies) counts once.

## Why is this bad
What the agent stored and can't recall it has to find out again, or it goes on without, and its answer rests on less
than it seems.

## Example
```json
[
  {"event": "memory_event", "key": "plan", "action": "stored", "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "memory_event", "key": "plan", "action": "recall_failed", "timestamp": "2025-06-01T12:00:01Z"}
]
```

## How to fix
Look at how the keys or the query of the look-up differ from what was stored; make a miss visible to the model instead
of an empty text.

## Known limits
An empty look-up may be right: nothing was there yet. What an earlier run put into the memory is not known to this one.
"""

from collections.abc import Iterator, Sequence

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT, ACTION, STATUS, first_given, first_present, word_of
from analyzer.session.model import Event, EventKind
from analyzer.timeline.index import Timeline
from analyzer.timeline.memory import MemoryOperation, keeps, recalls

__all__ = ["DETECTOR"]

TYPE = "memory_degradation"
BAD = frozenset(("recall_failed", "ignored", "lost", "miss"))
HIGH = 3
MEDIUM_DERIVED = 2
LOW_IMPACT = -5
FIX = "Compare the keys and queries of the look-ups with what was stored, and tell the model of a miss."
WHY = Why(
    "What was stored was not there when it was needed, or was not used.",
    "The agent rebuilds what it knew, or goes on without it.",
    FIX,
)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield what the evidence says in so many words, then what it implies."""
    said: list[Event] = []
    implied: list[MemoryOperation] = []
    for operation in timeline.memory:
        event = _said(operation)
        if event is not None:
            said.append(event)
        elif operation.failed or operation.found_nothing:
            implied.append(operation)
    by_tools = recalls(timeline.work, timeline.events, timeline.memory)
    implied += [operation for operation in by_tools if operation.failed or operation.found_nothing]
    if said:
        yield _explicit(said)
    if implied:
        yield _derived(implied, worrying=any(one.failed for one in implied) or _had_stored(timeline, implied[-1]))


def find_recorded(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for all bad memory events; an action hides the status (critiqor 0.1.4)."""
    bad = [event for event in timeline.of_kind(EventKind.MEMORY_EVENT) if _recorded_verdict(event) in BAD]
    if bad:
        yield _explicit(bad)


def _recorded_verdict(event: Event) -> str | None:
    action = first_present(event, ACTION)
    if action is not ABSENT:
        return word_of(action)
    return word_of(event.status) or word_of(first_present(event, STATUS))


def _said(operation: MemoryOperation) -> Event | None:
    """Return the event of an operation that says in so many words that it went wrong."""
    for event in operation.events:
        words = (first_given(event, ACTION), event.status, first_given(event, STATUS))
        if any(word_of(word) in BAD for word in words):
            return event
    return None


def _explicit(bad: Sequence[Event]) -> FailureCause:
    count = len(bad)
    impact = _impact(count)
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH if count >= HIGH else Severity.MEDIUM,
        impact=impact,
        description=f"Memory failed {_times(count)}: the events say that something was lost, ignored or not recalled.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        fingerprint=fingerprint(TYPE, "observed"),
        **shown_by(bad),
    )


def _had_stored(timeline: Timeline, look_up: MemoryOperation) -> bool:
    """Return whether the run had put something into a memory before that look-up."""
    end = timeline.position_of[look_up.event.event_id]
    stored = [timeline.position_of[one.event.event_id] for one in timeline.memory if one.changes and not one.failed]
    stored += [call.position for call in timeline.work if keeps(call) and call.status != "error"]
    return min(stored, default=end) < end


def _derived(implied: Sequence[MemoryOperation], *, worrying: bool) -> FailureCause:
    count = len(implied)
    several = worrying and count >= MEDIUM_DERIVED
    impact = _impact(count) if several else LOW_IMPACT
    failed = sum(operation.failed for operation in implied)
    tools = sorted({operation.tool for operation in implied if operation.tool is not None})
    return FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM if several else Severity.LOW,
        impact=impact,
        description=(
            f"{_of(tools)} failed {_times(failed)} and came back empty {_times(count - failed)}."
            if failed and failed < count
            else f"{_of(tools)} {'failed' if failed else 'came back empty'} {_times(count)}."
        ),
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.MEDIUM if several else Confidence.LOW,
        basis="derived",
        rule="memory-miss",
        fingerprint=fingerprint(TYPE, "derived", tools),
        **shown_by(operation.event for operation in implied),
    )


def _impact(count: int) -> int:
    return -min(25, 8 + 5 * count)


def _of(tools: list[str]) -> str:
    return f"Memory look-ups ({', '.join(tools)})" if tools else "Memory look-ups"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.MEMORY_INTEGRITY,
    summary="Something stored was lost, not found or passed over",
    since="0.1.0",
    needs=frozenset(),
    steps=("memory_stored", "recall_failed_or_ignored", "state_reconstruction_failed"),
    find={Profile.STANDARD: find, Profile.CRITIQOR_V1: find_recorded},
)
