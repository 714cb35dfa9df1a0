"""The model wrote code or JSON that the framework could not read.

## What it does
Reports errors in which a framework says that it could not parse what the model wrote (derived from their words), and
calls whose arguments are JSON cut short or broken. Severity high where the run failed with it, medium from two on or
where nothing followed, low for one that the model mended in its next answer.

## Why is this bad
Each one costs a model call and a message about the mistake in the context; some frameworks give up after a few.

## Example
```json
[
  {"event": "token_usage", "payload": {"messages": [{"role": "assistant", "text": "Action: search"}]}},
  {"event": "error_event", "payload": {"error_type": "OutputParserException", "message": "Could not parse LLM output"}}
]
```

## How to fix
Use the provider's structured output or tool calls instead of prompted formats, show one example of the format, and give
room for the whole output (see `output_cut_off`).

## Known limits
Frameworks that mend the output, or send the mistake back to the model as a message, leave no error to see.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.pattern import pattern
from analyzer.profile import Profile
from analyzer.timeline.call import Call
from analyzer.timeline.ending import RunStatus
from analyzer.timeline.index import Timeline
from analyzer.timeline.sentences import quoted

__all__ = ["DETECTOR"]

TYPE = "malformed_model_output"
SEVERAL = 2
MOST_JSON = 100_000  # characters of arguments that are looked at
IMPACT = {Severity.LOW: -4, Severity.MEDIUM: -12, Severity.HIGH: -20}
_REJECTED = pattern(
    r"OutputParser(?:Exception|Error)|AgentParsingError|ModelBehaviorError|UnexpectedModelBehavior|NoObjectGenerated"
    r"|could(?: not|n't) parse (?:the )?(?:llm|model|tool|function|output|response|action|arguments)"
    r"|(?:failed to|unable to|cannot|can't|error in) (?:pars|decod)(?:e|ing)[^.\n]{0,30}"
    r"(?:llm|model|output|response|tool call|function call|arguments|action|code)"
    r"|(?:error in )?code parsing|your code snippet is invalid|invalid format: missing|invalid or incomplete action"
    r"|(?:malformed|invalid)[ _](?:json in )?(?:tool[ _]call|function[ _]call|arguments)|MALFORMED_FUNCTION_CALL"
    r"|(?:output|result) (?:validation|failed to validate)|(?:response|output) (?:is|was) not valid json"
    r"|invalid json (?:for|in|output|input for) (?:the )?(?:tool|function|model|arguments)",
    re.IGNORECASE,
)
_REASONS = frozenset(
    ("malformed_function_call", "malformed_tool_use", "malformed_model_output", "unexpected_tool_call")
)
FIX = "Use structured output or tool calls instead of a prompted format, show the format once, and leave room for it."
WHY = Why(
    "The model did not keep to the format that the framework reads.",
    "A turn was lost, and the context holds the mistake from now on.",
    FIX,
)


class _Mistake(NamedTuple):
    made: int
    """Position of the response, or of the call."""
    shown: int
    said: str


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for all that could not be read, in order."""
    mistakes = sorted({*_rejected(timeline), *_stopped(timeline), *_broken(timeline)})
    if mistakes:
        yield _cause(timeline, mistakes)


def _rejected(timeline: Timeline) -> Iterator[_Mistake]:
    """Yield what a framework complained of, with the response before it."""
    responses = [answer.position for answer in timeline.answers]
    place = 0
    for complaint in timeline.complaints:
        while place < len(responses) and responses[place] <= complaint.position:
            place += 1
        if _REJECTED.search(complaint.text):
            made = responses[place - 1] if place else complaint.position
            yield _Mistake(made, complaint.position, quoted(complaint.text))


def _stopped(timeline: Timeline) -> Iterator[_Mistake]:
    for answer in timeline.answers:
        for reason in sorted(answer.reasons & _REASONS):
            yield _Mistake(answer.position, answer.position, f"the response ended with {reason}")


def _broken(timeline: Timeline) -> Iterator[_Mistake]:
    for call in timeline.work:
        if isinstance(call.arguments, str) and _is_broken(call.arguments) and not _takes_text(call):
            yield _Mistake(call.position, call.position, f"{call_text(call)} has arguments that are no JSON")


def _is_broken(arguments: str) -> bool:
    if not arguments[:40].lstrip().startswith(("{", "[{")) or len(arguments) > MOST_JSON:
        return False
    try:
        msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return True
    except RecursionError:
        return False
    return False


def _takes_text(call: Call) -> bool:
    """Return whether such arguments may be what the tool takes: it did not fail, or traces cut and redact them."""
    return call.status != "error" or "…" in str(call.arguments)[-20:]


def _cause(timeline: Timeline, mistakes: Sequence[_Mistake]) -> FailureCause:
    severity = _severity(timeline, mistakes)
    impact = IMPACT[severity]
    others = f", and {len(mistakes) - 1} more" if len(mistakes) > 1 else ""
    positions = dict.fromkeys(place for mistake in mistakes for place in (mistake.made, mistake.shown))
    return FailureCause(
        type=TYPE,
        severity=severity,
        impact=impact,
        description=f"The framework could not read what the model wrote: {mistakes[0].said}{others}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        basis="derived",
        rule="framework-rejected-output",
        fingerprint=fingerprint(TYPE),
        **shown_by(timeline.events[place] for place in positions),
    )


def _severity(timeline: Timeline, mistakes: Sequence[_Mistake]) -> Severity:
    last = mistakes[-1].shown
    went_on = any(answer.position > last and answer.error is None for answer in timeline.answers)
    if not went_on and timeline.status is RunStatus.FAILED:
        return Severity.HIGH
    return Severity.LOW if went_on and len(mistakes) < SEVERAL else Severity.MEDIUM


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.CONTEXT_HEALTH,
    summary="The model wrote code or JSON that could not be read",
    since="0.1.0",
    needs=frozenset(),
    steps=("model_call", "output_not_readable", "turn_lost"),
    find={Profile.STANDARD: find},
)
