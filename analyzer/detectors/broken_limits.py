"""The answer breaks a limit that the instructions set: too many words, or not the format.

## What it does
Reads limits out of instructions and of the user's last words (`at most 50 words`, `in one sentence`, `no more than
3 bullet points`, `answer only with JSON`, `answer yes or no`) and counts in the final answer. A tenth more words or
characters is let pass. Severity medium, confidence medium; derived.

## Why is this bad
Who reads the answer by program gets text that does not parse, or that does not fit where it has to go.

## Example
```json
[
  {"event_type": "before_provider_request", "payload": {
    "system_instructions": "Answer in at most 5 words.",
    "messages": [{"role": "user", "text": "How long do refunds take?"}], "messages_total": 1}},
  {"event": "token_usage", "payload": {"messages": [
    {"role": "assistant", "text": "Refunds usually take about five working days from the day we get the parcel."}]}}
]
```

## How to fix
Check the answer by program and ask again; use structured output where a format matters.

## Known limits
English limits on the answer as a whole. Where two limits of a kind are set, none is checked: one may be for a part.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.pattern import mentions, pattern
from analyzer.profile import Profile
from analyzer.timeline.conversation import Role
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.sentences import plain, quoted, sentences

__all__ = ["DETECTOR"]

TYPE = "broken_limits"
IMPACT = -10
MOST_TEXT = 100_000
_SLACK = {"words": 1.1, "characters": 1.1}
_NUMBERS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}
_NUMBER = rf"(\d{{1,5}}|{'|'.join(_NUMBERS)}|a single)"
_ABOUT_ANSWER = pattern(
    r"\b(?:answer|repl(?:y|ies)|respon[ds]e?|responses?|output|return|summar\w+|write|keep (?:it|your|the|answers)"
    r"|final)\b|^\W*(?:in|use|at most|no more than|max\w*|limit)\b",
    re.IGNORECASE,
)
_ABOUT_PART = pattern(
    r"\b(?:each|every|per|title|subject|headline|thought|thinking|reason\w*|query|queries|quot\w+|paragraphs? of|if"
    r"|unless|when|for example|e\.g|tool|argument|step|field|slug|tweet|name|least|minimum"
    r"|more than \d+ \w+ (?:is|are))\b",
    re.IGNORECASE,
)
# What ends so goes on: initials, titles, and words with stops inside.
_ABBREVIATED = pattern(
    r"\b(?:[A-Za-z]|\w{1,3}\.\w{1,3}|dr|mrs?|ms|prof|inc|ltd|corp|co|vs|etc|no|nr|st|jr|sr|approx|fig|ca|bzw|usw|vol|cf)\.$",
    re.IGNORECASE,
)
_UNIT = r"(words?|characters?|sentences?|lines?|paragraphs?|bullet points?|bullets)"
_AT_MOST = pattern(
    r"\b(?:at most|no more than|not more than|maximum(?: of)?|max\.?|up to|under|fewer than|less than|within"
    rf"|limit(?:ed)? to|in (?:just |only )?|exceed) ?(?:a total of )?{_NUMBER} {_UNIT}\b(?! (?:or|and) more)",
    re.IGNORECASE,
)
_ANSWER = r"\b(?:answer|reply|respond|return|output)\b"
_ONLY = r"\b(?:only|just|strictly|simply|exclusively|nothing but)\b"
_JSON = pattern(
    rf"{_ANSWER}[^.\n]{{0,40}}(?:{_ONLY}|\bvalid\b)[^.\n]{{0,30}}\bJSON\b"
    r"|\bJSON (?:object |array )?(?:only|and nothing else)\b",
    re.IGNORECASE,
)
_YES_OR_NO = pattern(rf"{_ANSWER}[^.\n]{{0,30}}{_ONLY}[^.\n]{{0,20}}['\"]?yes['\"]? or ['\"]?no\b", re.IGNORECASE)
_STEMS = ("word", "character", "sentence", "line", "paragraph", "bullet", "json", "yes")
"""One of these is in every sentence that sets a limit."""
_FENCE = pattern(r"^```[\w-]*\s*\n(.*?)\n?```\s*$", re.DOTALL)
_WORD = pattern(r"[\w'.,-]*\w")
_BULLET = pattern(r"^\s*(?:[-*•]|\d{1,3}[.)])\s", re.MULTILINE)
_COUNTS: Mapping[str, Callable[[str], int]] = {
    "words": lambda text: len(_WORD.findall(text)),
    "characters": len,
    "sentences": lambda text: sum(1 for one in sentences(text) if _WORD.search(one) and not _ABBREVIATED.search(one)),
    "lines": lambda text: sum(1 for line in text.splitlines() if line.strip()),
    "paragraphs": lambda text: len(re.findall(r"\S[^\n]*(?:\n(?!\s*\n)[^\n]*)*", text)),
    "bullet points": lambda text: len(_BULLET.findall(text)),
}
FIX = "Check the answer by program and ask again; use structured output where a format matters."
WHY = Why("The model did not keep a limit of its instructions.", "The answer does not fit where it has to go.", FIX)


class _Limit(NamedTuple):
    kind: str
    most: int
    text: str


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for the limits that the final answer breaks."""
    answer = timeline.conversation.answer
    if answer is None:
        return
    text = plain(answer.text[:MOST_TEXT])
    broken = [said for limit in _limits(timeline, answer.position) if (said := _breaks(limit, text)) is not None]
    if broken:
        yield FailureCause(
            type=TYPE,
            severity=Severity.MEDIUM,
            impact=IMPACT,
            description=f"The answer breaks a limit that was set: {'; '.join(broken)}.",
            root_cause=WHY.root_cause(IMPACT),
            recommendation=FIX,
            confidence=Confidence.MEDIUM,
            basis="derived",
            rule="counted-in-the-answer",
            fingerprint=fingerprint(TYPE, sorted(broken)),
            **shown_by((timeline.events[answer.position],)),
        )


def _limits(timeline: Timeline, before: int) -> list[_Limit]:
    """Return the limits on the whole answer, by kind; of a kind that is set twice none."""
    talk = timeline.conversation
    heard = [one for one in talk.by(Role.USER) if one.position < before][-1:]
    found: dict[str, list[_Limit]] = {}
    for one in (*talk.by(Role.SYSTEM), *heard):
        for sentence in sentences(plain(one.text)):
            for limit in _read(sentence):
                found.setdefault(limit.kind, []).append(limit)
    return [limits[0] for limits in found.values() if len({limit.most for limit in limits}) == 1]


def _read(sentence: str) -> Iterator[_Limit]:
    if not mentions(sentence, _STEMS) or _ABOUT_PART.search(sentence):
        return
    if _JSON.search(sentence):
        yield _Limit("json", 1, sentence)
    if _YES_OR_NO.search(sentence):
        yield _Limit("yes or no", 1, sentence)
    if _ABOUT_ANSWER.search(sentence) is None:
        return
    for number, unit in _AT_MOST.findall(sentence):
        kind = unit.lower().rstrip("s") + "s"
        most = 1 if number.lower() == "a single" else _NUMBERS.get(number.lower()) or int(number)
        yield _Limit("bullet points" if kind == "bullets" else kind, most, sentence)


def _breaks(limit: _Limit, text: str) -> str | None:
    """Return how an answer breaks a limit, in words."""
    if limit.kind == "json":
        return None if _is_json(text) else f"{quoted(limit.text)}, and it is no JSON"
    if limit.kind == "yes or no":
        said = text.strip(" .!*\"'").lower() in ("yes", "no")
        return None if said else f"{quoted(limit.text)}, and it says more"
    count = _COUNTS[limit.kind](text)
    if count <= limit.most * _SLACK.get(limit.kind, 1):
        return None
    return f"{quoted(limit.text)}, and it has {count} {limit.kind}"


def _is_json(text: str) -> bool:
    fenced = _FENCE.match(text)
    try:
        msgspec.json.decode(fenced[1] if fenced else text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return len(text) >= MOST_TEXT
    except RecursionError:
        return True
    return True


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.SKILL_ADHERENCE,
    summary="The answer breaks a limit of words or format that the instructions set",
    since="0.1.0",
    needs=frozenset({Fact.MESSAGES}),
    steps=("limit_set", "answer", "limit_broken"),
    find={Profile.STANDARD: find},
)
