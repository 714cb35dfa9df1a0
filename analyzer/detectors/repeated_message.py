"""An agent said the same thing again and again and the conversation did not move.

## What it does
Reports three or more messages of one agent, one after the other, that share four fifths of their words, with no word of
a user in between. Messages that ask for a tool do not count. Severity medium, high from five on.

## Why is this bad
Nobody acts on the message: the agent that should is not there, does not understand, or has already failed. The run
costs tokens until a limit ends it.

## Example
```json
[
  {"event_type": "message_sent", "payload": {"agent": "lead", "text": "Please open the page and count its rows."}},
  {"event_type": "message_sent", "payload": {"agent": "web", "text": "The page is open."}},
  {"event_type": "message_sent", "payload": {"agent": "lead", "text": "Please open the page and count its rows."}},
  {"event_type": "message_sent", "payload": {"agent": "web", "text": "I see a table."}},
  {"event_type": "message_sent", "payload": {"agent": "lead", "text": "Please open the page and count its rows!"}}
]
```

## How to fix
Give the agent that is asked a way to say that it can't, and let the one that asks change its plan after
the second time.

## Known limits
Messages of fewer than six words are not compared, nor such that differ in their numbers. A message said in other words
each time is not recognised.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.pattern import pattern
from analyzer.profile import Profile
from analyzer.timeline.conversation import Role, Utterance
from analyzer.timeline.index import Timeline
from analyzer.timeline.sentences import quoted

__all__ = ["DETECTOR"]

TYPE = "repeated_message"
OFTEN = 3
MANY = 5
ALIKE = 0.8
ALIKE_NUMBERS = 0.7
FEWEST_WORDS = 6
MOST_TEXT = 2_000
IMPACT = {Severity.MEDIUM: -12, Severity.HIGH: -20}
_WORD = pattern(r"\w+")
_Stretch: TypeAlias = list[tuple[Utterance, frozenset[str]]]
"""Messages of one agent, each with its words."""
FIX = "Let the agent that is asked say that it can't, and change the plan after the second time."
WHY = Why("An agent repeats a message on which nobody acts.", "The run costs time and tokens and does not move.", FIX)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause a stretch of messages that repeat, in order."""
    stretches: dict[str | None, _Stretch] = {}
    found: list[list[Utterance]] = []
    for one in timeline.conversation.utterances:
        if one.role is Role.USER:
            found += _long(stretches.values())
            stretches.clear()
        elif one.role is Role.ASSISTANT and not one.asks:
            stretch = stretches.get(one.agent)
            words = _words_of(one, stretch[-1] if stretch else None)
            if stretch is not None and _alike(stretch[-1][1], words):
                stretch.append((one, words))
                continue
            found += _long([stretch] if stretch else [])
            stretches[one.agent] = [(one, words)]
    found += _long(stretches.values())
    yield from (_cause(timeline, stretch) for stretch in sorted(found, key=lambda stretch: stretch[0].position))


def _words_of(one: Utterance, before: tuple[Utterance, frozenset[str]] | None) -> frozenset[str]:
    """Return the words of a message, those of the one before where it says the same."""
    if before is not None and before[0].text == one.text:
        return before[1]
    return frozenset(_WORD.findall(one.text[:MOST_TEXT].lower()))


def _long(stretches: Iterable[_Stretch]) -> list[list[Utterance]]:
    return [[one for one, _ in stretch] for stretch in stretches if len(stretch) >= OFTEN]


def _alike(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two messages share most of their words, and most of their numbers: one that counts moves on."""
    if min(len(words), len(others)) < FEWEST_WORDS or not _overlap(words, others, ALIKE):
        return False
    numbers, other_numbers = (frozenset(word for word in one if word.isdigit()) for one in (words, others))
    return _overlap(numbers, other_numbers, ALIKE_NUMBERS)


def _overlap(one: frozenset[str], other: frozenset[str], share: float) -> bool:
    return len(one & other) >= share * len(one | other)


def _cause(timeline: Timeline, stretch: Sequence[Utterance]) -> FailureCause:
    count = len(stretch)
    severity = Severity.HIGH if count >= MANY else Severity.MEDIUM
    impact = IMPACT[severity]
    who = stretch[0].agent or "The agent"
    return FailureCause(
        type=TYPE,
        severity=severity,
        impact=impact,
        description=f"{who} said {count} times in nearly the same words: {quoted(stretch[0].text)}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="same-words-again",
        fingerprint=fingerprint(TYPE, stretch[0].agent),
        **shown_by(timeline.events[one.position] for one in stretch),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.LOOP_CONTROL,
    summary="An agent said the same thing again and again",
    since="0.1.0",
    needs=frozenset(),
    steps=("message", "nobody_acts", "same_message_again"),
    find={Profile.STANDARD: find},
)
