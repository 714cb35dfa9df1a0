"""The run ended and nobody got an answer.

## What it does
Reports, in runs that were not cut off or failed, a last response of the model that is empty, a last response that only
announces work (`Let me check that.`) which then never came, and a last result of a tool that no answer followed.
Severity high for the first, medium for the others; confidence says how clear it is.

## Why is this bad
For the framework such a run is a success: nothing alarms, and the user waits or sees an empty box.

## Example
```json
[
  {"event_type": "agent_start", "payload": {"input": "How long?"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "token_usage", "payload": {"messages": [{"role": "assistant", "text": ""}]},
   "timestamp": "2025-06-01T12:00:01Z"},
  {"event_type": "agent_end", "status": "ok", "payload": {}, "timestamp": "2025-06-01T12:00:02Z"}
]
```

## How to fix
Check for an empty answer before the run ends and ask the model once more; tell the agent to answer when its tools are
done.

## Known limits
Seen only where the trace carries what models say. An agent that is meant to end with a tool's result is not reported
where its output, or a message, tells of it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.pattern import mentions, pattern
from analyzer.profile import Profile
from analyzer.session.accessors import name_of, payload_of
from analyzer.session.model import EventKind
from analyzer.timeline.answers import Answer
from analyzer.timeline.conversation import Role
from analyzer.timeline.ending import RunStatus
from analyzer.timeline.index import Timeline
from analyzer.timeline.sentences import plain, quoted, sentences

__all__ = ["DETECTOR"]

TYPE = "no_final_answer"
IMPACT = {Severity.MEDIUM: -12, Severity.HIGH: -18}
_LONGEST = 400  # characters of a text that only announces
# An announcement of one's own work, at the end of a text: English, German, French, Spanish.
_ANNOUNCED = pattern(
    r"(?:please )?(?:give me|just|wait|hold on)?,? ?(?:a|one) (?:moment|minute|second)\b.{0,60}"
    r"|(?:now,? |next,? |okay,? |sure,? |first,? )?"
    r"(?:let me|i'll|i will|i'm going to|i am going to) (?:now |just |quickly )?"
    r"(?:check|look|search|find|fetch|get|retrieve|verify|review|run|start|begin|proceed"
    r"|analy[sz]e|examine|try|see|pull up)\b.{0,120}"
    r"|(?:einen moment|moment)\b.{0,60}|ich (?:werde|schaue|suche|prüfe)\b.{0,100}"
    r"|(?:un (?:instant|moment))\b.{0,60}|je (?:vais|vérifie|cherche)\b.{0,100}"
    r"|(?:un momento|déjame|voy a)\b.{0,100}",
    re.IGNORECASE,
)
_STEMS = (
    *("moment", "minute", "second", "let me", "i'll", "i will", "going to", "instant"),
    *("ich werde", "ich schaue", "ich suche", "ich prüfe", "je vais", "je vérifie", "je cherche", "déjame", "voy a"),
)
"""One of these is in every announcement."""
FIX = "Check for an empty answer before the run ends, and tell the agent to answer when its tools are done."
WHY = Why(
    "The run ended without an answer, and as if all was well.", "The user gets nothing, and no alarm is raised.", FIX
)


class _Silence(NamedTuple):
    severity: Severity
    confidence: Confidence
    rule: str
    said: str
    positions: tuple[int, ...]


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause when the run ended without an answer."""
    if timeline.status not in (RunStatus.COMPLETED, RunStatus.UNKNOWN):
        return
    found = _silence(timeline)
    if found is None:
        return
    impact = IMPACT[found.severity]
    yield FailureCause(
        type=TYPE,
        severity=found.severity,
        impact=impact,
        description=f"The run ended without an answer: {found.said}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=found.confidence,
        basis="derived",
        rule=found.rule,
        fingerprint=fingerprint(TYPE, found.rule),
        **shown_by(timeline.events[place] for place in found.positions),
    )


def _silence(timeline: Timeline) -> _Silence | None:
    """Return what was there instead of an answer."""
    last = timeline.answers[-1] if timeline.answers else None
    if last is None or not last.told or last.error is not None or _is_answered(timeline, last):
        return None
    if not timeline.conversation.utterances:
        return None  # content is not captured
    if not last.text and not last.asked:
        return _Silence(Severity.HIGH, Confidence.HIGH, "empty-answer", "the last response is empty", (last.position,))
    if last.asked:
        return _after_a_tool(timeline, last)
    return _announcement(timeline, last)


def _is_answered(timeline: Timeline, last: Answer) -> bool:
    """Return whether an output or a message came after the last response, or the call of a tool that is the answer."""
    if any(call.pseudo and call.position > last.position for call in timeline.calls[-3:]):
        return True
    if any(
        one.role is Role.ASSISTANT and one.position > last.position for one in timeline.conversation.utterances[-3:]
    ):
        return True
    ends = [event for event in timeline.of_kind(EventKind.STATE_TRANSITION)[-20:] if name_of(event) == "agent_end"]
    return any(payload_of(event).get("output") not in (None, "", last.text) for event in ends)


def _after_a_tool(timeline: Timeline, last: Answer) -> _Silence | None:
    """Return that a tool's result was the end: only where the run ended, and its user heard nothing but that."""
    call = timeline.work[-1] if timeline.work else None
    heard = [one.position for one in timeline.conversation.by(Role.USER)]
    if timeline.status is not RunStatus.COMPLETED or call is None or call.position < last.position or not heard:
        return None
    if call.output_id is None or last.text or timeline.conversation.answer is not None:
        return None
    said = "nothing followed the last result of a tool"
    positions = (last.position, call.output_position)
    return _Silence(Severity.MEDIUM, Confidence.LOW, "ended-on-a-result", said, positions)


def _announcement(timeline: Timeline, last: Answer) -> _Silence | None:
    """Return that the last word announces work: short, without a question, and with nothing after it."""
    after = any(call.position > last.position for call in timeline.calls[-1:])
    heard = any(one.role is Role.USER and one.position > last.position for one in timeline.conversation.utterances[-1:])
    text = plain(last.text)
    if after or heard or len(text) > _LONGEST or "?" in text:
        return None
    end = list(sentences(text))[-1:]
    if not end or not _announces(end[0].rstrip(".!… :")):
        return None
    said = f"its last word is {quoted(end[0])}, and nothing came after it"
    return _Silence(Severity.MEDIUM, Confidence.MEDIUM, "announced-and-stopped", said, (last.position,))


def _announces(text: str) -> bool:
    return mentions(text, _STEMS) and _ANNOUNCED.fullmatch(text) is not None


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.LOOP_CONTROL,
    summary="The run ended without an answer",
    since="0.1.0",
    needs=frozenset(),
    steps=("question", "work_done", "no_answer"),
    find={Profile.STANDARD: find},
)
