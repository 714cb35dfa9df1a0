"""The agent did the same thing twice: sent, paid, created, with the same arguments and success each time.

## What it does
Reports equal calls of one agent, with no word of the user in between, that succeeded twice or more, where the tool
changes something outside: one that the option `side_effect_tools` names (severity high), or one whose name or
description says so (severity medium, confidence low): send, create, book, pay. Setting, updating or deleting the same
twice changes nothing and is passed over, and so is a second call that gives back the first one's id. Three or more
equal calls that learn nothing are an `infinite_tool_loop`.

## Why is this bad
The mail goes out twice, the card is charged twice, and nothing in the run looks wrong.

## Example
```json
[
  {"event": "tool_call", "tool": "send_email", "args": {"to": "ada@x.test"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "send_email", "output": "sent", "timestamp": "2025-06-01T12:00:01Z"},
  {"event": "tool_call", "tool": "send_email", "args": {"to": "ada@x.test"}, "timestamp": "2025-06-01T12:00:02Z"},
  {"event": "tool_output", "tool": "send_email", "output": "sent", "timestamp": "2025-06-01T12:00:03Z"}
]
```

## How to fix
Give the tool an idempotency key, or let it refuse an equal call; let its result say plainly that it is done.

## Known limits
What a tool does is guessed from words where no option says it. A tool that takes an equal call for the same one by
itself looks the same when its result has no id. Equal calls of different agents are not compared.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.options import names
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT
from analyzer.session.jsontext import canonical
from analyzer.session.shapes import is_object
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Role
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.outcome import unblocked
from analyzer.timeline.repeats import Repetition
from analyzer.timeline.tool_purpose import hands_over_to
from analyzer.timeline.tool_words import writes

__all__ = ["DETECTOR"]

TYPE = "duplicate_side_effect"
TWICE = 2
MOST_TEXT = 2_000
_IN_WORDS = {
    2: "two|twice|zwei(?:mal)?|deux|dos|dois|duas|два|две",
    3: "three|thrice|drei(?:mal)?|trois|tres|tre|três|три",
    4: "four|vier|quatre|cuatro|quattro|quatro|четыре",
    5: "five|fünf|cinq|cinco|cinque|пять",
}
_IN_HAN = {2: "两|二", 3: "三", 4: "四", 5: "五"}
WHY = Why(
    "The agent did again what it had done, as if the first call had not succeeded.",
    "What should happen once has happened twice, outside of the run.",
    "Give the tool an idempotency key, or let it refuse an equal call; let its result say that it is done.",
)


def find(timeline: Timeline, options: Options) -> Iterator[FailureCause]:
    """Yield one cause a call that was done again, in order of the first one."""
    failed = {one.call.position for one in timeline.failures.of_tools} if timeline.repetitions else set[int]()
    for repetition in timeline.repetitions:
        tool = repetition.calls[0].tool
        is_declared = names(options.side_effect_tools, tool)
        if tool is None or not (is_declared or _seems_to_write(timeline, tool)):
            continue
        if repetition.mark is None and len(repetition.calls) >= options.loop_calls:
            continue
        done = _since_asked(timeline, _done(repetition, failed))
        if len(done) >= TWICE and not _was_counted(timeline, done):
            yield _cause(timeline, done, is_declared=is_declared)


def _seems_to_write(timeline: Timeline, tool: str) -> bool:
    return hands_over_to(tool) is None and writes(tool, timeline.offered.description(tool))


def _done(repetition: Repetition, failed: set[int]) -> list[Call]:
    """Return the calls that took effect, each by itself: one that gives back the id of another is that one again."""
    done: list[Call] = []
    known: set[bytes] = set()
    for call in repetition.calls:
        if call.position in failed or call.output_id is None:
            continue
        ids = _ids(call)
        if not ids or ids not in known:
            done.append(call)
        known.add(ids)
    return done


def _since_asked(timeline: Timeline, done: list[Call]) -> list[Call]:
    """Return the calls without those before which the user had spoken anew: what is asked for again is done again.

    Turns of the user, which part repetitions, are fewer: a word in the middle of the work begins none.
    """
    asked = [one.position for one in timeline.conversation.by(Role.USER)]
    turns = [bisect_right(asked, call.position) for call in done]
    return [call for place, call in enumerate(done) if turns.count(turns[place]) >= TWICE]


def _was_counted(timeline: Timeline, done: Sequence[Call]) -> bool:
    """Return whether the user's last words before the calls hold how many there are: two tickets, 3 rows."""
    heard = [one for one in timeline.conversation.by(Role.USER) if one.position < done[-1].position]
    if not heard:
        return False
    # A count stands before what is counted; `task 2.` is a name.
    number = len(done)
    spaced = rf"\b(?:{number}|{_IN_WORDS.get(number, number)})\s+[^\W\d_]"
    han = rf"(?:{_IN_HAN[number]})[^\W\d_]" if number in _IN_HAN else spaced
    return re.search(f"{spaced}|{han}", heard[-1].text[:MOST_TEXT], re.IGNORECASE) is not None


def _ids(call: Call) -> bytes:
    """Return the ids in a result, empty without any."""
    result = unblocked(call.result)
    if not is_object(result):
        return b""
    ids = {name: value for name, value in result.items() if str(name).lower().endswith(("id", "number"))}
    return canonical(ids) if ids else b""


def _cause(timeline: Timeline, done: Sequence[Call], *, is_declared: bool) -> FailureCause:
    impact = -18 if is_declared else -10
    first = done[0]
    issuers = timeline.failures.issuers
    trail = [place for call in done[1:] for place in (issuers.get(call.call_id or ""), call.position)]
    outputs = [call.output_position for call in done]
    places = dict.fromkeys(place for place in (*trail, first.position, *outputs) if place is not None)
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH if is_declared else Severity.MEDIUM,
        impact=impact,
        description=f"{call_text(first)} was done {'twice' if len(done) == TWICE else f'{len(done)} times'}.",
        root_cause=WHY.root_cause(impact),
        recommendation=WHY.fix,
        confidence=Confidence.HIGH if is_declared else Confidence.LOW,
        basis="observed" if is_declared else "derived",
        rule=None if is_declared else "writing-tool",
        fingerprint=fingerprint(TYPE, first.tool, *(() if first.arguments is ABSENT else (first.arguments,))),
        **shown_by(timeline.events[place] for place in places),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="The same thing was sent, paid or created twice",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ARGUMENTS, Fact.TOOL_RESULTS}),
    steps=("tool_call", "success_passed_over", "same_call_again"),
    find={Profile.STANDARD: find},
)
