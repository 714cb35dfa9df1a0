"""A tool changed something although the instructions ask for the user's consent first, and nobody had given it.

## What it does
Where the instructions demand a confirmation, consent or approval before an action, reports calls that change something
(their tool's name begins with a word like `cancel` or `send`, or `side_effect_tools` names it) and that the user's last
words did not allow: no assent, and no question of the agent before them. Severity high, confidence medium; derived.

## Why is this bad
What was changed may be what nobody wanted, and it can often not be taken back.

## Example
```json
[
  {"event_type": "before_provider_request", "payload": {
    "system_instructions": "Before you cancel anything, obtain confirmation from the user.",
    "messages": [{"role": "user", "text": "Which of my orders is late?"}], "messages_total": 1}},
  {"event": "tool_call", "tool": "cancel_order", "args": {"id": "W-17"}},
  {"event": "tool_output", "tool": "cancel_order", "output": "cancelled"}
]
```

## How to fix
Put the consent into the tool: let it fail without a token that only the user's answer gives, or let the framework ask.

## Known limits
Which tools change something is told by their names, in English. An assent is looked for in fourteen languages; what the
user assents to is not compared with what is done. Where consent is asked for before deeds of some kinds by name (to
cancel, to pay), deeds of other kinds need none.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.options import names
from analyzer.pattern import mentions, pattern
from analyzer.profile import Profile
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Conversation, Role, Utterance
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.sentences import plain, sentences
from analyzer.timeline.tool_purpose import changes_something
from analyzer.timeline.tool_words import name_words

__all__ = ["DETECTOR"]

TYPE = "unconfirmed_action"
IMPACT = -20
MOST_TEXT = 2_000
_WHO = r"(?:user|customer|client|caller|human)"
_CONSENT = r"(?:confirmation|consent|approval|permission|go-ahead)"
_DEMANDED = pattern(
    rf"(?:obtain|get|ask(?:ing)? for|require|request|receive|wait for|seek)\w*\s[^.\n]{{0,50}}{_CONSENT}"
    rf"|\b(?:confirm|check)\w*\s[^.\n]{{0,60}}\b(?:with|by|from) the {_WHO}\b"
    rf"|\b(?:without|until)\b[^.\n]{{0,80}}\b(?:{_CONSENT}|confirming)"
    rf"|\b(?:before|prior to)\b[^.\n]{{0,160}}\b{_CONSENT}"
    rf"|\b{_WHO}s? (?:must|has to|have to|needs? to|should) (?:explicitly )?(?:confirm|approve|agree)"
    r"|bestätigung|zustimmung|einwilligung|confirmation explicite|consentement|confirmación|consentimiento|确认|確認",
    re.IGNORECASE,
)
_STEMS = (
    *("confirm", "consent", "approv", "permission", "go-ahead", "check", "agree"),
    *("bestätigung", "zustimmung", "einwilligung", "确认", "確認"),
)
"""One of these is in every text that `_DEMANDED` finds something in."""
_ABOUT_USER = pattern(
    rf"\b(?:{_WHO}s?|them|their|explicit\w*|nutzer\w*|kunde\w*|benutzer\w*|utilisateur|client|usuario|cliente)\b"
    r"|用户|ユーザー",
    re.IGNORECASE,
)
_ASSENT = pattern(
    r"\b(?:yes|yeah|yep|yup|sure|ok(?:ay)?|correct|confirm\w*|agree\w*|approv\w*|proceed|continue|go|do it|keep going"
    r"|sounds? (?:good|great|right|fine)|(?:that|this|it)(?:'s| is| looks| works| will)\s?\w{0,10}|looks? good"
    r"|perfect|great|absolutely|definitely|of course|fine|right|exactly|alright|let's|please|want|would like|i'd like"
    r"|need|ja|jawohl|gerne|einverstanden|bestätige|mach|bitte|oui|d'accord|vas-y|allez-y|je confirme|s'il (?:te|vous)"
    r"|s[ií]|claro|vale|adelante|confirmo|de acuerdo|sim|pode|certo|va bene|procedi|confermo|tak|evet|da)\b"
    r"|\b(?:y|the (?:first|second|third|last|other|former|latter)|(?:first|second|last) one|option|both|all of them)\b"
    r"|^\W*\d\W*$|[👍👌✅☑✔🆗]"
    r"|是|好|可以|确认|对|はい|お願い|ええ|네|예|да|хорошо|نعم|हाँ",
    re.IGNORECASE,
)
_DOUBT = pattern(r"\b(?:no|not|never|later|wait|if|before|why|when|how)\b|n't\b|\?", re.IGNORECASE)
_BEFOREHAND = pattern(
    r"\b(?:i (?:hereby )?(?:confirm|approve|agree|consent)|confirmed|approved|go ahead"
    r"|(?:no need to|don't|do not|without) (?:ask|confirm)\w*)\b"
    r"|ich bestätige|je confirme|confirmo|确认|確認",
    re.IGNORECASE,
)
# Kinds of deeds: who asks for consent before a deed of one kind does not ask for it before those of another.
_DEEDS = tuple(
    pattern(rf"\b(?:{words})", re.IGNORECASE)
    for words in (
        r"cancel|delet|remov|drop|kill|terminat|revo[ck]|unsubscri|discard|clos(?:e|ing)\b|suspend|disabl|reset|withdraw",
        r"book|reserv|buy|purchas|creat|register|schedul|plac(?:e|ing)\b",
        r"pay|charg|refund|wir(?:e|ing)\b|transfer|return|exchang",
        r"send|post\b|publish|shar(?:e|ing)\b|reply|repli|submit|e-?mail",
        "deploy|merg|push|releas|roll|restart|upgrad|patch",
        r"updat|modif|chang|edit|alter|mov(?:e|ing)\b|renam|writ|sav(?:e|ing)\b|add(?:ing)?\b",
    )
)
_ANY_DEED = pattern(
    r"\b(?:anything|any (?:\w+ )?(?:action|change|operation|tool|step|write)|actions?|tools?|database|consequential\w*"
    r"|irreversible|destructive|everything|transactions?|mak(?:e|ing) (?:\w+ )?changes?|modify\w*|chang\w*)\b",
    re.IGNORECASE,
)
FIX = "Let the tool fail without a token that only the user's answer gives, or let the framework ask."
WHY = Why(
    "The instructions ask for the user's consent before such an action, and the agent acted without it.",
    "Something was changed that nobody had agreed to.",
    FIX,
)


def find(timeline: Timeline, options: Options) -> Iterator[FailureCause]:
    """Yield one cause for the actions nobody had agreed to."""
    talk = timeline.conversation
    demands = [line for one in talk.by(Role.SYSTEM) for line in _demands(one)]
    heard = talk.by(Role.USER)
    if not demands or not heard:
        return
    places = [one.position for one in heard]
    calls = [
        call
        for call in timeline.work
        if call.tool is not None
        and (changes_something(call.tool) or names(options.side_effect_tools, call.tool))
        and any(_is_about(line, call.tool) for line in demands)
        and not _is_allowed(talk, call, heard, places)
    ]
    if calls:
        yield _cause(timeline, calls)


def _demands(one: Utterance) -> list[str]:
    if not mentions(one.text, _STEMS):
        return []
    lines = sentences(plain(one.text))
    return [line for line in lines if _DEMANDED.search(line) and _ABOUT_USER.search(line)]


def _is_about(demand: str, tool: str) -> bool:
    """Return whether a demand may mean a tool: it names a deed of the tool's kind, or deeds of no kind or any."""
    named = [kind for kind in _DEEDS if kind.search(demand)]
    first = name_words(tool)[:1]
    own = [kind for kind in _DEEDS for word in first if kind.match(word)]
    return not named or not own or _ANY_DEED.search(demand) is not None or any(kind in named for kind in own)


def _is_allowed(talk: Conversation, call: Call, heard: Sequence[Utterance], places: Sequence[int]) -> bool:
    """Return whether the user's last words before the call may be an assent.

    Nothing heard allows nothing; before the agent has said anything, it takes words that need no question.
    """
    place = bisect_left(places, call.position)
    if place == 0:
        return False
    words = heard[place - 1]
    first = next((one for one in talk.utterances if one.role is Role.ASSISTANT and not one.asks), None)
    was_asked = first is not None and first.position < words.position
    text = plain(words.text[:MOST_TEXT])
    if was_asked and _names_the_deed(text, call.tool or ""):
        return True
    return (_ASSENT if was_asked else _BEFOREHAND).search(text) is not None


def _names_the_deed(text: str, tool: str) -> bool:
    """Return whether somebody bids the deed by the first word of its tool, without a word of doubt."""
    deed = next(iter(name_words(tool)), None)
    bids = deed is not None and re.search(rf"(?:^|[.,;!]|\band|\bthen|\bjust)\s*{deed}\b", text, re.IGNORECASE)
    return bool(bids) and _DOUBT.search(text) is None


def _cause(timeline: Timeline, calls: Sequence[Call]) -> FailureCause:
    others = f", and {len(calls) - 1} more" if len(calls) > 1 else ""
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH,
        impact=IMPACT,
        description=f"{call_text(calls[0])}{others}: the instructions ask for consent first, and the user gave none.",
        root_cause=WHY.root_cause(IMPACT),
        recommendation=FIX,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="no-assent-before",
        fingerprint=fingerprint(TYPE, sorted({call.tool or "" for call in calls})),
        **shown_by(timeline.events[place] for call in calls for place in timeline.places_of(call)),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.SKILL_ADHERENCE,
    summary="Something was changed without the consent that the instructions ask for",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.MESSAGES}),
    steps=("consent_demanded", "no_assent", "action"),
    find={Profile.STANDARD: find},
)
