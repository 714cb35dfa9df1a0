"""All the agent looked up came back empty, and its answer does not say so.

## What it does
Reports answers to a user that come after look-ups (tools whose name says search, get, list and the like) which all
succeeded and gave nothing: an empty list, an empty text, "no results found". No other tool gave anything for that
question either, and the answer neither asks nor says in any way that something is missing. Derived, severity medium,
confidence low.

## Why is this bad
An answer that rests on nothing reads like any other: what stands in it was made up, or known from elsewhere at best.

## Example
```json
[
  {"event_type": "input", "payload": {"text": "When does the library open?"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_call", "tool": "search", "args": {"q": "opening hours"}, "timestamp": "2025-06-01T12:00:01Z"},
  {"event": "tool_output", "tool": "search", "output": [], "timestamp": "2025-06-01T12:00:02Z"},
  {"event_type": "agent_end", "payload": {"output": "The library opens at nine."}, "timestamp": "2025-06-01T12:00:03Z"}
]
```

## How to fix
Let the tool say that nothing was found, and how to search otherwise; ask in the instructions to tell of it.

## Known limits
An answer that is right all the same, from what the model or the user knew, is reported too. Any word for nothing or
not in the answer counts as telling of it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.pattern import pattern
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT
from analyzer.session.model import Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.admission import admits_nothing
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Role, Utterance
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.outcome import unblocked
from analyzer.timeline.sentences import quoted
from analyzer.timeline.tool_words import is_lookup

__all__ = ["DETECTOR"]

TYPE = "empty_result_as_success"
IMPACT = -10
SHOWN = 10
SHORTEST = 12  # characters; a shorter answer claims nothing
LONGEST_EMPTY = 80
WHY = Why(
    "The agent took an empty result for an answer, and went on as if it had found something.",
    "What the answer says was made up, or rests on what the model knew.",
    "Let the tool say that nothing was found, and ask for an answer that tells of it.",
)
_EMPTY = pattern(
    r"\W*(?:(?:sorry,? )?no (?:\w+ ){0,3}?(?:results?|match(?:es)?|records?|documents?|data|items?|entries|rows|hits)\b"
    r"|nothing (?:was )?found|0 (?:results|matches|records|documents|rows|hits)\b|none|null|empty|n/a"
    "|未找到|没有找到|没有结果|无结果|見つかりませんでした|結果なし|결과 없음"
    "|keine (?:ergebnisse|treffer)|aucun résultat|sin resultados|nenhum resultado|nessun risultato|ничего не найдено)",
    re.IGNORECASE,
)
_COUNTS = frozenset(("count", "total", "total_count", "totalcount", "num_results", "hits", "page", "limit", "offset"))


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause an answer that rests on empty look-ups alone, in order."""
    empty = {call.position for call in timeline.work if _found_nothing(call)}
    if not empty:
        return
    asked = [one.position for one in timeline.conversation.by(Role.USER)]
    answers = _answers(timeline, asked)
    turns: dict[int, list[Call]] = {}
    for call in timeline.work:
        if call.status != "error":  # a call that failed found nothing either, and is told by another type
            turns.setdefault(bisect_right(asked, call.position), []).append(call)
    for turn, calls in turns.items():
        answer = answers.get(turn)
        if answer is None or any(call.position not in empty for call in calls):
            continue
        if calls[-1].output_position < answer.position and _claims(answer.text):
            yield _cause(timeline, calls, answer)


def _found_nothing(call: Call) -> bool:
    if call.status != "ok" or call.result is ABSENT or not is_lookup(call.tool or ""):
        return False
    return _is_empty(unblocked(call.result))


def _is_empty(value: Json) -> bool:
    if isinstance(value, str):
        text = value.strip()
        return not text or (len(text) <= LONGEST_EMPTY and _EMPTY.match(text) is not None)
    if is_object(value):
        return all(_is_nothing(item) or name.lower() in _COUNTS for name, item in value.items())
    return value is None or (is_list(value) and not value)


def _is_nothing(value: Json) -> bool:
    """Return whether a member of an object holds nothing: an empty list or object, null, zero, a word for success."""
    if is_object(value) or is_list(value) or isinstance(value, str):
        return not value or (isinstance(value, str) and value.lower() in {"ok", "success"})
    return value is None or value is True or value == 0


def _answers(timeline: Timeline, asked: Sequence[int]) -> dict[int, Utterance]:
    """Return the last thing the agent said after each word of the user, without what it said while asking for tools."""
    said = (one for one in timeline.conversation.by(Role.ASSISTANT) if not one.asks)
    return {bisect_right(asked, one.position): one for one in said}


def _claims(answer: str) -> bool:
    return len(answer) >= SHORTEST and not answer.rstrip().endswith(("?", "\uff1f")) and not admits_nothing(answer)


def _cause(timeline: Timeline, calls: Sequence[Call], answer: Utterance) -> FailureCause:
    shown = calls[:SHOWN]
    places = (answer.position, *(place for call in shown for place in (call.position, call.output_position)))
    others = f" ({len(calls) - 1} more look-up{'s' if len(calls[2:]) else ''} too)" if len(calls) > 1 else ""
    return FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM,
        impact=IMPACT,
        description=f"{call_text(calls[0])}{others} found nothing; the answer does not say so: {quoted(answer.text)}",
        root_cause=WHY.root_cause(IMPACT),
        recommendation=WHY.fix,
        confidence=Confidence.LOW,
        basis="derived",
        rule="answer-on-empty-results",
        fingerprint=fingerprint(TYPE, sorted({call.tool or "" for call in calls})),
        **shown_by(timeline.events[place] for place in places),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="All look-ups came back empty and the answer does not say so",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_RESULTS, Fact.MESSAGES}),
    steps=("look_up", "empty_result", "answer_as_if_found"),
    find={Profile.STANDARD: find},
)
