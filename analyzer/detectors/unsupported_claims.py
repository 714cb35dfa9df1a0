"""The agent stated figures that nobody had given it.

## What it does
In runs with tools, reports messages of an agent with four or more distinct figures (three digits or a decimal point;
years aside) that stand nowhere before: not in what was said, nor in results; they must be two fifths of all. Code and
calculations are not looked at. Severity medium, confidence low; derived.

## Why is this bad
House numbers, prices and counts from a model's memory look like looked-up facts and are often wrong.

## Example
```json
[
  {"event_type": "message_received", "payload": {"role": "user", "text": "Which gyms are near the park?"}},
  {"event": "tool_call", "tool": "find_gyms", "args": {"near": "park"}},
  {"event": "tool_output", "tool": "find_gyms", "output": "no key, no result"},
  {"event_type": "message_sent",
   "payload": {"text": "Fit (212 Ash Rd, 7.5 km), Club (410 Elm St), Yo (917 Oak Av)."}}
]
```

## How to fix
Tell the agent to state only what its tools returned and to say where it has it from; give it the tool that it lacks.

## Known limits
Figures that the agent worked out in its head count as unsupported, names and words without figures are not looked at.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.pattern import pattern
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT
from analyzer.session.jsontext import canonical
from analyzer.session.model import Json
from analyzer.timeline.assertions import Assertion
from analyzer.timeline.conversation import Utterance
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.sentences import sentences

__all__ = ["DETECTOR"]

TYPE = "unsupported_claims"
FEWEST = 4
SHARE = 0.4
IMPACT = -10
SHOWN = 4
_FIGURE = pattern(r"(?<![\w.,/:#-])\d[\d,]*(?:\.\d+)?(?![\w/:-])")
_DIGIT = pattern(r"\d")
_YEAR = pattern(r"(?:1[5-9]|20)\d\d")
_FENCE = pattern(r"```.*?(?:```|\Z)", re.DOTALL)
_WORKED_OUT = pattern(
    r"[=\u2248\u00d7\u00f7]|\\frac|\\times"
    r"|\b(?:total|sum|average|mean|difference|calculat\w+|comput\w+|estimat\w+|convert\w*)\b",
    re.IGNORECASE,
)
FIX = "Tell the agent to state only what its tools returned, and give it the tool that it lacks."
WHY = Why("The model took figures from memory, or made them up.", "They look like facts that somebody looked up.", FIX)


class _Claim(NamedTuple):
    said: Utterance
    figures: Sequence[str]


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for the messages whose figures come from nowhere."""
    if Fact.TOOL_RESULTS in timeline.missing or not timeline.work or timeline.memory:
        return  # a memory may have given what its events don't carry
    claims = list(_claims(timeline))
    if claims:
        yield _cause(timeline, claims)


def _claims(timeline: Timeline) -> Iterator[_Claim]:
    """Yield what is stated without a source; texts are taken apart only where some message has enough figures."""
    suspects = [(one.said, found) for one in timeline.assertions if (found := _figures(one)) is not None]
    if not suspects:
        return
    first = _first_places(timeline)
    opening = min(one.position for one in timeline.conversation.utterances)
    for said, figures in suspects:
        new = [figure for figure in figures if first.get(figure, said.position) >= said.position]
        if said.position > opening and len(new) >= max(FEWEST, SHARE * len(figures)):
            yield _Claim(said, new)


def _figures(one: Assertion) -> list[str] | None:
    """Return the telling figures of a message but those that are worked out, None where there are too few."""
    if len(_telling(one.text)) < FEWEST:
        return None
    all_lines = sentences(_FENCE.sub("\n", one.text)) if "```" in one.text else one.sentences
    telling = _telling("\n".join(line for line in all_lines if _WORKED_OUT.search(line) is None))
    return telling if len(telling) >= FEWEST else None


def _telling(text: str) -> list[str]:
    if _DIGIT.search(text) is None:
        return []
    found = dict.fromkeys(figure.replace(",", "") for figure in _FIGURE.findall(text))
    return [figure for figure in found if _tells(figure)]


def _tells(figure: str) -> bool:
    return ("." in figure or len(figure) > 2) and _YEAR.fullmatch(figure) is None  # noqa: PLR2004  # shorter ones are in every text


def _first_places(timeline: Timeline) -> dict[str, int]:
    """Return where each number stands first, in what was said, asked and given."""
    told: list[tuple[int, Json]] = [(one.position, one.text) for one in timeline.conversation.utterances]
    told += [(call.position, call.arguments) for call in timeline.calls if call.arguments is not ABSENT]
    told += [(call.output_position, call.result) for call in timeline.calls if call.result is not ABSENT]
    told += [(timeline.position_of[event.event_id], event.payload) for event in timeline.orphan_outputs]
    first: dict[str, int] = {}
    for position, thing in told:
        text = thing if isinstance(thing, str) else canonical(thing).decode("utf-8", "replace")
        # A comma may stand within a number, or between two.
        for figure in _ANY_NUMBER.findall(f"{text.replace(',', '')}\n{text}" if "," in text else text):
            first[figure] = min(position, first.get(figure, position))
    return first


_ANY_NUMBER = pattern(r"\d+(?:\.\d+)?")


def _cause(timeline: Timeline, claims: Sequence[_Claim]) -> FailureCause:
    first = claims[0]
    others = f" So do {len(claims) - 1} more messages." if len(claims) > 1 else ""
    return FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM,
        impact=IMPACT,
        description=(
            f"{first.said.agent or 'The agent'} states {', '.join(first.figures[:SHOWN])}"
            f"{' and others' if len(first.figures) > SHOWN else ''}, which nothing before gives.{others}"
        ),
        root_cause=WHY.root_cause(IMPACT),
        recommendation=FIX,
        confidence=Confidence.LOW,
        basis="derived",
        rule="figures-from-nowhere",
        fingerprint=fingerprint(TYPE, first.said.agent),
        **shown_by(timeline.events[claim.said.position] for claim in claims),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="The agent stated figures that nobody had given it",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_RESULTS, Fact.MESSAGES}),
    steps=("nothing_known", "figures_from_memory", "claim"),
    find={Profile.STANDARD: find},
)
