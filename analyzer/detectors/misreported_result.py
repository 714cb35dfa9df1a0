"""The agent said something else than what its tool had told it.

## What it does
Compares what an agent says about things with an id with the latest result that tells of them: another state (`order 17
is delivered`, the result says `processed`), a denied value (`it has no tracking number`, the result holds one), and,
right after a result that is the only list of its tool since the user spoke, a number that neither stands in it nor is
any count of it. Severity high, confidence medium, low for counts; derived.

## Why is this bad
The tool was right and the user is told something wrong; what the agent does next rests on it as well.

## Example
```json
[
  {"event": "tool_call", "tool": "get_order", "args": {"id": "W-17"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "get_order", "timestamp": "2025-06-01T12:00:01Z",
   "output": {"order_id": "W-17", "status": "processed", "tracking_id": ["5409"]}},
  {"event_type": "message_sent", "payload": {"text": "Order W-17 has no tracking number yet."},
   "timestamp": "2025-06-01T12:00:02Z"}
]
```

## How to fix
Give results in a short form with only the fields that are asked for, and let the agent quote the field it reports.

## Known limits
Results must be JSON with ids and states under usual names; a number is compared only where one list was returned and
one number is said. English sentences only.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.pattern import pattern
from analyzer.profile import Profile
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Role, Utterance
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.records import Record, collections_in, numbers_in, records_of
from analyzer.timeline.sentences import plain, quoted, sentences

__all__ = ["DETECTOR"]

TYPE = "misreported_result"
MOST_TOLD = 20
IMPACT = {"wrong-state": -20, "denied-value": -20, "wrong-count": -14}
_TOKEN = pattern(r"[\w\-./]+")
_COUNTED = pattern(
    r"\b(?:there (?:are|were)|we (?:currently )?(?:have|offer|carry)|you have|total of)(?: currently)?"
    r"(?: exactly| only)?(?: a total of)? (\d{1,4}) (?:[\w'-]{1,30} ){0,4}?"
    r"(?:options|items|results|variants|entries|records|matches|products|orders|documents|files|users|flights|hotels"
    r"|rows|issues|tickets|messages|events)\b",
    re.IGNORECASE,
)
# Some of them were picked out.
_PICKED = pattern(
    r"\b(?:under|over|less|more|fewer|between|match\w*|meet\w*|fit\w*|within|cheap\w*|best|suit\w*|near\w*|after|before"
    r"|that|which|for you|remaining|left|other|about|around|least|most)\b|:$|\d.*\d+\D*\d{1,4}\b",
    re.IGNORECASE,
)
_CLAUSE = pattern(r"[:;]|, (?!and)| [-\u2013\u2014] ")
_STATE_LIST = pattern(r"\b(?:status|state)\b", re.IGNORECASE)
_QUOTED_WORD = pattern(r"['\"`]([A-Za-z]{3,30}(?: [a-z]{2,20})?)['\"`]")
# What is asked, planned, supposed or denied is no report of a state.
_NO_REPORT = pattern(
    r"\b(?:not|no|never|cannot|can|could|would|should|will|may|might|must|if|once|when|until|unless|before|after|whether"
    r"|only|or|to be|want|wish|like to|please|request\w*|eligible|need\w*|instead|rather|was|were|previously|from)\b"
    r"|n't|\?"
)
_DENIED = r"\b(?:no|not|without|lacks?|missing|isn't|hasn't|haven't|doesn't|didn't|don't)\b[^.?!]{{0,40}}\b{word}s?\b"
_DENIES = pattern(r"\b(?:no|not|without|lacks?|missing)\b|n't\b", re.IGNORECASE)
_HOLDS = pattern(
    r"\b(?:ha(?:s|ve|d)|contains?|includes?|there (?:is|are)|available|listed|found|provided)\b", re.IGNORECASE
)
_DUTY = pattern(
    r"\b(?:need|require|must|should|can|could|will|would|may|if|want|change|chang\w+|modif\w+)\b|\?", re.IGNORECASE
)
_SHORTEST_WORD = 5
_COMMON = frozenset(
    ("order", "items", "value", "number", "status", "state", "price", "total", "first", "other", "users")
)
FIX = "Give results in a short form, and let the agent quote the field that it reports."
WHY = Why(
    "The agent misread a result, or wrote its answer from memory.",
    "The user is told something wrong, and the next steps rest on it.",
    FIX,
)


_Told: TypeAlias = list[Record]
"""What results tell of one thing, in order."""


class _Report(NamedTuple):
    rule: str
    said: Utterance
    sentence: str
    source: int
    """Position of the output."""
    truth: str


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause a rule, shown by the sentences that differ from their results."""
    found: dict[str, list[_Report]] = {}
    for report in _reports(timeline):
        found.setdefault(report.rule, []).append(report)
    yield from (_cause(timeline, reports) for _, reports in sorted(found.items()))


def _reports(timeline: Timeline) -> Iterator[_Report]:
    if not timeline.assertions:
        return
    records = records_of(timeline.work)
    states = _states(records, timeline)
    answered = [call for call in timeline.work if call.output_position >= 0 and call.status != "error"]
    answered.sort(key=lambda call: call.output_position)
    several = _in_parts(answered)
    places = [call.output_position for call in answered]
    possible = [(signs, rule) for of_records, signs, rule in _RULES if records or not of_records]
    known: dict[str, _Told] = {}
    taken = 0
    for one in timeline.assertions:
        while taken < len(records) and records[taken].position < one.said.position:
            record = records[taken]
            known.setdefault(record.key, []).append(record)
            taken += 1
        rules = [rule for signs, rule in possible if one.mentions(signs or states)]
        if not rules:
            continue
        place = bisect_left(places, one.said.position)
        sources = answered[max(0, place - MOST_TOLD) : place] if place - 1 not in several else []
        for sentence in one.sentences:
            for rule in rules:
                truth = rule(sentence, known, states, sources)
                if truth is not None:
                    yield _Report(truth[0], one.said, sentence, truth[1], truth[2])


def _in_parts(answered: Sequence[Call]) -> frozenset[int]:
    """Return the places of calls whose tool had answered before since the user spoke: pages, or a list a thing."""
    seen: set[tuple[str | None, int]] = set()
    found: set[int] = set()
    for place, call in enumerate(answered):
        key = (call.tool, call.user_turn)
        if key in seen:
            found.add(place)
        seen.add(key)
    return frozenset(found)


def _states(records: Sequence[Record], timeline: Timeline) -> Sequence[str]:
    """Return the states that results tell of, and those that the instructions list in quotation marks, sorted."""
    texts = (plain(one.text) for one in timeline.conversation.by(Role.SYSTEM))
    lines = (line for text in texts for line in sentences(text) if _STATE_LIST.search(line))
    declared = (word.lower() for line in lines for word in _QUOTED_WORD.findall(line))
    return sorted({*declared, *(record.state for record in records if record.state is not None)})


_Truth = tuple[str, int, str] | None
"""The rule, the position of the output, and what it says."""
_Rule = Callable[[str, Mapping[str, _Told], Sequence[str], Sequence[Call]], _Truth]


def _wrong_state(sentence: str, known: Mapping[str, _Told], states: Sequence[str], _: Sequence[Call]) -> _Truth:
    """Look at each clause of a sentence: all that it names is said to be in the one state that it holds."""
    lower = sentence.lower()
    if not any(state in lower for state in states):
        return None
    for clause in _CLAUSE.split(lower):
        said = [state for state in states if _holds_word(clause, state)]
        if len(said) != 1:
            continue
        told = [record for key in _named(clause, known) for record in _latest(known[key])]
        other = next((record for record in told if record.state is not None), None)
        if other is None or any(_agree(record.state, said[0]) for record in told) or _NO_REPORT.search(clause):
            continue
        return "wrong-state", other.position, f"the state is {quoted(other.state or '')}"
    return None


def _holds_word(text: str, word: str) -> bool:
    """Return whether a text holds a word as a word of its own."""
    return word in text and re.search(rf"\b{re.escape(word)}\b", text) is not None


def _agree(state: str | None, said: str) -> bool:
    return state is None or said in state or state in said


def _denied_value(sentence: str, known: Mapping[str, _Told], _: Sequence[str], __: Sequence[Call]) -> _Truth:
    if _DENIES.search(sentence) is None or _HOLDS.search(sentence) is None or _DUTY.search(sentence):
        return None
    lower = sentence.lower()
    for record in _of_the_one(sentence, known):
        for word in sorted(record.words()):
            if len(word) < _SHORTEST_WORD or word not in lower or word in _COMMON:
                continue
            if re.search(_DENIED.format(word=re.escape(word)), lower):
                return "denied-value", record.position, f"there is something under {quoted(word)}"
    return None


def _wrong_count(sentence: str, _: Mapping[str, _Told], __: Sequence[str], sources: Sequence[Call]) -> _Truth:
    """Compare a number with the latest result, if that is a list; one that an earlier list gives is about that list."""
    counted = _COUNTED.findall(sentence)
    if _PICKED.search(sentence) or not sources or len(counted) != 1 or int(counted[0]) < 2:  # noqa: PLR2004  # one is an article as often as a count
        return None
    collections = collections_in(sources[-1].result)
    if len(collections) != 1 or any(_gives(source, int(counted[0])) for source in sources):
        return None
    return "wrong-count", sources[-1].output_position, f"it holds {collections[0].size} of them"


def _gives(source: Call, count: int) -> bool:
    return count in numbers_in(source.result) or any(count in one.counts for one in collections_in(source.result))


# Whether it is about records, and pieces of text of which a sentence must hold one; none: one of the states.
_RULES: tuple[tuple[bool, tuple[str, ...], _Rule], ...] = (
    (True, (), _wrong_state),
    (True, ("n't", " no ", " not ", "without", "lack", "missing"), _denied_value),
    (
        False,
        ("there are", "there were", "we have", "we currently", "we offer", "we carry", "you have", "total of"),
        _wrong_count,
    ),
)


def _of_the_one(sentence: str, known: Mapping[str, _Told]) -> Iterable[Record]:
    """Return what is told of the one known thing a sentence names; nothing where it names several, or none."""
    named = _named(sentence, known)
    return _latest(known[named[0]]) if len(named) == 1 else ()


def _latest(told: _Told) -> Iterable[Record]:
    """Return the latest record of each kind of result, which is told by its fields."""
    return {tuple(record.fields): record for record in told[-MOST_TOLD:]}.values()


def _named(text: str, known: Mapping[str, _Told]) -> list[str]:
    found = (token.strip("-./").lower() for token in _TOKEN.findall(text))
    return list(dict.fromkeys(key for key in found if key in known))


def _cause(timeline: Timeline, reports: Sequence[_Report]) -> FailureCause:
    first = reports[0]
    impact = IMPACT[first.rule]
    others = f" So with {len(reports) - 1} more." if len(reports) > 1 else ""
    positions = dict.fromkeys(place for report in reports for place in (report.said.position, report.source))
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH,
        impact=impact,
        description=f"The agent said {quoted(first.sentence)}; by the result, {first.truth}.{others}",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.LOW if first.rule == "wrong-count" else Confidence.MEDIUM,
        basis="derived",
        rule=first.rule,
        fingerprint=fingerprint(TYPE, first.rule),
        **shown_by(timeline.events[place] for place in positions),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="The agent said something else than its tool had told it",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_RESULTS, Fact.MESSAGES}),
    steps=("tool_output", "misread", "wrong_report"),
    find={Profile.STANDARD: find},
)
