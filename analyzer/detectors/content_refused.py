"""The model, or a filter around it, refused to answer.

## What it does
Reports responses whose finish reason or error names a content filter, a safety rule or a refusal, and answers that are
a refusal and nothing else (`I'm sorry, but I can't help with that.`, in eight languages; derived). Severity high where
the run ended with it, medium where the agent went on, low where the same agent answered after it. Severity low and no
impact where the model itself refused and the user's last words ask for harm: that is what it has to refuse.

## Why is this bad
The user gets nothing, often for a harmless question: filters judge words, and words of a tool's output too.

## Example
```json
[
  {"event": "token_usage", "payload": {"finish_reasons": ["content_filter"]}}
]
```

## How to fix
Look at what was sent: a tool's output or a prompt may hold words the filter knows. Say in the instructions what the
agent is for; adjust the filter; tell the user what was refused.

## Known limits
A refusal that goes on to explain itself is taken for an answer: an agent may have to say no. What asks for harm is
known by plain words in a few languages; a harmless question that holds them looks rightly refused.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.pattern import mentions, pattern
from analyzer.profile import Profile
from analyzer.timeline.answers import Answer
from analyzer.timeline.conversation import Role
from analyzer.timeline.harm import asks_for_harm
from analyzer.timeline.index import Timeline
from analyzer.timeline.sentences import plain, quoted

__all__ = ["DETECTOR"]

TYPE = "content_refused"
# OpenAI and Azure; Anthropic; Gemini; Bedrock; Cohere.
REASONS = frozenset(
    [
        *("content_filter", "content_filtered", "content-filter", "refusal", "safety", "recitation", "blocklist"),
        *("prohibited_content", "spii", "language", "image_safety", "guardrail_intervened", "error_toxic", "blocked"),
    ]
)
_ERROR = pattern(
    r"content[ _-]?(?:management[ _-]policy|filter|policy[ _-]violation)|responsible ?ai ?policy"
    r"|safety (?:system|filter|reasons)"
    r"|blocked by (?:the )?(?:safety|content|guardrail)|guardrail[ _](?:intervened|blocked)",
    re.IGNORECASE,
)
_CANNOT = r"I(?: can't| cant| cannot| can not| won't|(?: am|'m) (?:not able|unable) to)"
_DO = r"(?:assist|help|comply|fulfill|do|discuss|continue|provide|answer|respond)"
_REFUSALS = (
    rf"(?:I'm|I am)?\s?(?:really |very |so )?sorry,?(?: but)? {_CANNOT} {_DO}\b[^.!?]{{0,60}}[.!]?",
    rf"{_CANNOT} (?:assist|help|comply)(?: you)?(?: with)?(?: that| this)?(?: request)?[.!]?",
    r"(?:es )?tut mir leid\W+(?:\w+ ){0,2}kann (?:\w+ ){0,4}nicht (?:helfen|beantworten|tun)[.!]?",
    r"(?:je suis )?désolée?\W+(?:mais )?je ne (?:peux|suis) pas (?:vous |t')?(?:aider|répondre|en mesure).{0,30}",
    r"lo siento,?(?: pero)? no puedo (?:ayudar(?:te|le)?|responder|cumplir|hacer)[^.!?]{0,40}[.!]?",
    r"(?:me )?desculpe,?(?: mas)?(?: eu)? não posso (?:ajudar|responder|fazer)[^.!?]{0,40}[.!]?",
    r"mi dispiace,?(?: ma)? non posso (?:aiutar(?:ti|la)?|rispondere|farlo)[^.!?]{0,40}[.!]?",
    "很?(?:抱歉|对不起)\\W?我(?:无法|不能)[^\u3002\uff01\uff1f]{0,30}[\u3002\uff01]?",
    "申し訳(?:ありません|ございません)が、?[^\u3002]{0,30}(?:できません|お答えできません)\u3002?",
)
_REFUSAL = pattern("|".join(_REFUSALS), re.IGNORECASE)
_STEMS = (
    *("sorry", " can't", " cant", " cannot", " can not", " won't", "not able", "unable", "tut mir leid", "désol"),
    *("lo siento", "desculpe", "mi dispiace", "抱歉", "对不起", "申し訳"),
)
"""One of these is in every text that is a refusal."""
_SHORT = 200
IMPACT = {Severity.LOW: -4, Severity.MEDIUM: -10, Severity.HIGH: -18}
FIX = "Look at what was sent for words the filter knows, say what the agent is for, and tell the user what was refused."
WHY = Why("The model or a filter around it refused the request.", "The user gets no answer.", FIX)

RIGHT = Why("The user asked for what a model has to refuse.", "None.", "Nothing has to be mended.")


class _Refusal(NamedTuple):
    answer: Answer
    said: str
    derived: bool
    by_model: bool


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for the refusals of a run, shown by the first."""
    refusals = [found for answer in timeline.answers if (found := _refusal(answer)) is not None]
    if not refusals:
        return
    questioned = [refusal for refusal in refusals if not _is_right(timeline, refusal)]
    if questioned:
        yield _cause(timeline, questioned)
    else:
        yield _right(timeline, refusals)


def _refusal(answer: Answer) -> _Refusal | None:
    named = answer.reasons & REASONS
    if named:
        return _Refusal(answer, f"the response ended with {min(named)}", derived=False, by_model="refusal" in named)
    if answer.error is not None and _ERROR.search(answer.error):
        return _Refusal(answer, quoted(answer.error), derived=False, by_model=False)
    if answer.text and len(answer.text) <= _SHORT and not answer.asked and _refuses(plain(answer.text)):
        return _Refusal(answer, quoted(answer.text), derived=True, by_model=True)
    return None


def _refuses(text: str) -> bool:
    return mentions(text, _STEMS) and _REFUSAL.fullmatch(text) is not None


def _is_right(timeline: Timeline, refusal: _Refusal) -> bool:
    """Return whether the model refused by itself what the user's last words ask of it, and these ask for harm."""
    if not refusal.by_model:
        return False
    asked = timeline.conversation.by(Role.USER, Role.CALLER)
    place = bisect_right(asked, refusal.answer.position, key=lambda one: one.position)
    return place > 0 and asks_for_harm(asked[place - 1].text)


def _right(timeline: Timeline, refusals: list[_Refusal]) -> FailureCause:
    others = f", and {len(refusals) - 1} more" if len(refusals) > 1 else ""
    return FailureCause(
        type=TYPE,
        severity=Severity.LOW,
        impact=0,
        description=f"The model refused what asks for harm: {refusals[0].said}{others}.",
        root_cause=RIGHT.root_cause(0),
        recommendation=RIGHT.fix,
        confidence=Confidence.LOW,
        basis="derived",
        rule="asked-for-harm",
        fingerprint=fingerprint(TYPE, refusals[0].answer.agent),
        **shown_by(timeline.events[refusal.answer.position] for refusal in refusals),
    )


def _cause(timeline: Timeline, refusals: list[_Refusal]) -> FailureCause:
    refused = {refusal.answer.position for refusal in refusals}
    severity = _severity(timeline.answers, refusals[-1].answer, refused)
    impact = IMPACT[severity]
    derived = all(refusal.derived for refusal in refusals)
    others = f", and {len(refusals) - 1} more" if len(refusals) > 1 else ""
    return FailureCause(
        type=TYPE,
        severity=severity,
        impact=impact,
        description=f"A request was refused: {refusals[0].said}{others}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.MEDIUM if derived else Confidence.HIGH,
        basis="derived" if derived else "observed",
        rule="refusal-and-nothing-else" if derived else None,
        fingerprint=fingerprint(TYPE, refusals[0].answer.agent),
        **shown_by(timeline.events[refusal.answer.position] for refusal in refusals),
    )


def _severity(answers: tuple[Answer, ...], last: Answer, refused: set[int]) -> Severity:
    """Return how bad it is: later answers of the same agent mend it, those of others do not."""
    after = [answer for answer in answers if answer.position > last.position and answer.position not in refused]
    if not after:
        return Severity.HIGH
    own = any(answer.agent == last.agent and answer.error is None and answer.text for answer in after)
    return Severity.LOW if own else Severity.MEDIUM


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.CONTEXT_HEALTH,
    summary="The model or a content filter refused to answer",
    since="0.1.0",
    needs=frozenset(),
    steps=("model_call", "content_refused", "no_answer"),
    find={Profile.STANDARD: find},
)
