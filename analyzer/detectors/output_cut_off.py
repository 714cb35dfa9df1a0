"""The model had to stop in the middle of its output: the token limit was reached.

## What it does
Reports responses whose finish reason says that a limit of tokens ended them. Severity high where it is the last word of
an agent, medium where the agent went on after it; a text that the next response carries on is severity low.

## Why is this bad
What is missing is missing without a mark: half a list looks like a list, half a call of a tool is refused or, worse,
runs with half of its arguments.

## Example
```json
[
  {"event": "token_usage",
   "payload": {"finish_reasons": ["length"], "messages": [{"role": "assistant", "text": "1. Ro"}]}}
]
```

## How to fix
Raise the limit of output tokens, ask for shorter answers, or let the model go on where it stopped.

## Known limits
Only what providers call a limit is seen; traces without finish reasons show nothing. A limit that the caller set on
purpose, to read the beginning only, is reported too.
"""

from collections.abc import Iterator, Sequence

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.profile import Profile
from analyzer.timeline.answers import Answer
from analyzer.timeline.index import Timeline

__all__ = ["DETECTOR"]

TYPE = "output_cut_off"
# OpenAI, Azure and the OTel conventions; Anthropic; Gemini; Cohere; Mistral; Bedrock; OpenAI Responses.
REASONS = frozenset(
    [
        *(
            "length",
            "max_tokens",
            "max_output_tokens",
            "max_tokens_reached",
            "model_length",
            "error_limit",
            "incomplete",
        ),
        *("max_length", "token_limit", "context_length", "model_context_window_exceeded"),
    ]
)
IMPACT = {Severity.LOW: -4, Severity.MEDIUM: -12, Severity.HIGH: -20}
FIX = "Raise the limit of output tokens, ask for less at a time, or let the model go on where it stopped."
WHY = Why(
    "The model reached its limit of output tokens before it was done.",
    "The rest of the answer, or of a tool's arguments, does not exist.",
    FIX,
)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for the responses that were cut off, the worst first."""
    last = {answer.agent: answer.position for answer in timeline.answers}
    cut = [
        (_severity(answer, following, last[answer.agent]), answer)
        for answer, following in zip(timeline.answers, (*timeline.answers[1:], None), strict=False)
        if not answer.reasons.isdisjoint(REASONS)
    ]
    if cut:
        yield _cause(timeline, cut)


def _severity(answer: Answer, following: Answer | None, last: int) -> Severity:
    if answer.position == last:
        return Severity.HIGH
    carried_on = following is not None and following.agent == answer.agent and not (answer.asked or following.asked)
    return Severity.LOW if carried_on else Severity.MEDIUM


def _cause(timeline: Timeline, cut: Sequence[tuple[Severity, Answer]]) -> FailureCause:
    order = tuple(Severity)
    severity, worst = max(cut, key=lambda found: (order.index(found[0]), -found[1].position))
    impact = IMPACT[severity]
    others = f"; {len(cut) - 1} more were too" if len(cut) > 1 else ""
    what = "in the middle of a call of a tool" if worst.asked else "before it was done"
    return FailureCause(
        type=TYPE,
        severity=severity,
        impact=impact,
        description=f"A response was cut off {what}: its limit of tokens was reached{others}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        fingerprint=fingerprint(TYPE, worst.agent),
        **shown_by(
            timeline.events[answer.position] for answer in (worst, *(one for _, one in cut if one is not worst))
        ),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.CONTEXT_HEALTH,
    summary="The model's output ended at its limit of tokens",
    since="0.1.0",
    needs=frozenset(),
    steps=("model_call", "token_limit_reached", "output_incomplete"),
    find={Profile.STANDARD: find},
)
