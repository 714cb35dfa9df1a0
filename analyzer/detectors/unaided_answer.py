"""The agent answered from memory although it had a tool for the question.

## What it does
Reports runs without a single call of a tool where tools were offered, the question asks for something that changes or
is somebody's own (`latest`, `current`, `my order`, `status of`) and shares a word with an offered tool, and the answer
states numbers or ids that nobody had mentioned. Severity medium, confidence low; derived.

## Why is this bad
The model's memory is old, and knows nothing of this user; what it says sounds as sure as a fact.

## Example
```json
[
  {"event_type": "before_provider_request", "payload": {
    "tools": [{"name": "get_price", "description": "Get the current price of a product"}],
    "messages": [{"role": "user", "text": "What is the current price of the A-17?"}], "messages_total": 1}},
  {"event": "token_usage", "payload": {"messages": [{"role": "assistant", "text": "The A-17 costs $24.99."}]}}
]
```

## How to fix
Say in the instructions for which questions the tool must be used; where it matters, force the first call.

## Known limits
Whether a question needs a tool is guessed from its words, in English, German, French and Spanish.
"""

import re
from collections.abc import Iterator

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.pattern import pattern
from analyzer.profile import Profile
from analyzer.timeline.conversation import Role, Utterance
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.sentences import plain, quoted
from analyzer.timeline.tool_words import telling_words

__all__ = ["DETECTOR"]

TYPE = "unaided_answer"
IMPACT = -10
MOST_TEXT = 4_000
_NEEDS = pattern(
    r"\b(?:latest|current(?:ly)?|today|tonight|tomorrow|right now|at the moment|live|real[- ]time|up to date|in stock"
    r"|my (?:\w+ ){0,2}(?:order|account|balance|booking|reservation|invoice|ticket|subscription|calendar|files?)"
    r"|status of|price of|weather|forecast|exchange rate|look up|search for|check (?:the|my|if|whether)|find (?:me|out)"
    r"|aktuell\w*|heute|derzeit|mein\w* (?:konto|bestellung|buchung)|actuel\w*|aujourd'hui|ma commande|mon compte"
    r"|actual(?:mente)?|hoy|mi (?:pedido|cuenta|reserva))\b",
    re.IGNORECASE,
)
_IN_GENERAL = pattern(
    r"\b(?:in general|generally|usually|typical\w*|normally|on average|historically|im allgemeinen|normalerweise"
    r"|meistens|en général|d'habitude|en general|normalmente|em geral|in genere|di solito)\b",
    re.IGNORECASE,
)
_FACT = pattern(r"\w*\d[\w.,]*\d|\d")
_WORD = pattern(r"[^\W\d_]{4,}")
FIX = "Say in the instructions for which questions the tool must be used; where it matters, force the first call."
WHY = Why("The model answered from memory instead of calling a tool.", "The answer may be old or made up.", FIX)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause when a question that needed a tool was answered without."""
    talk = timeline.conversation
    asked, answer = talk.by(Role.USER), talk.answer
    if timeline.calls or Fact.TOOL_CALLS in timeline.missing or not timeline.offered.known:
        return
    if answer is None or not asked or answer.position < asked[0].position:
        return
    question = plain(" ".join(one.text[:MOST_TEXT] for one in asked))
    if (
        _NEEDS.search(question)
        and not _IN_GENERAL.search(question)
        and _fits(timeline, question)
        and _states_news(timeline, answer, question)
    ):
        yield _cause(timeline, asked[-1], answer)


def _fits(timeline: Timeline, question: str) -> bool:
    """Return whether the question shares a word with an offered tool's name or description."""
    words = {word.lower().rstrip("s") for word in _WORD.findall(question)}
    for tool in timeline.offered.tools.values():
        told = {*telling_words(tool.name), *(word.lower() for word in _WORD.findall(tool.description or ""))}
        if not words.isdisjoint(word.rstrip("s") for word in told):
            return True
    return False


def _states_news(timeline: Timeline, answer: Utterance, question: str) -> bool:
    """Return whether the answer holds a number that nobody mentioned; one that asks back does not count."""
    if plain(answer.text).rstrip().endswith("?"):
        return False
    told = " ".join((question, *(one.text[:MOST_TEXT] for one in timeline.conversation.by(Role.SYSTEM))))
    known = frozenset(_FACT.findall(told))
    return any(fact not in known for fact in _FACT.findall(answer.text[:MOST_TEXT]))


def _cause(timeline: Timeline, question: Utterance, answer: Utterance) -> FailureCause:
    return FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM,
        impact=IMPACT,
        description=f"The agent answered {quoted(question.text)} without any of the tools that it was offered.",
        root_cause=WHY.root_cause(IMPACT),
        recommendation=FIX,
        confidence=Confidence.LOW,
        basis="derived",
        rule="question-needed-a-tool",
        fingerprint=fingerprint(TYPE, sorted(timeline.offered.tools)),
        **shown_by((timeline.events[answer.position],)),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="A question that needed a tool was answered without one",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.MESSAGES}),
    steps=("question", "no_tool_call", "answer_from_memory"),
    find={Profile.STANDARD: find},
)
