"""The run consumed many tokens and part of the work was done twice.

## What it does
Reports 12,000 tokens or more together with at least one wasted duplicate: a call that repeats an equal one which had
succeeded, and brings an equal result. Severity high, critical from 30,000 tokens on. Calls after a failed equal call
and repetitions whose results keep changing are no waste. Tokens or money alone are reported only where a budget is
exceeded (settings `token_budget`, `money_budget`).

## Why is this bad
Every repeated call is sent to the model again with all that came before: the price grows with the square of the length.

## Example
```json
[
  {"event": "tool_call", "tool": "search", "args": {"q": "opening hours"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "search", "output": "9 to 5", "timestamp": "2025-06-01T12:00:01Z"},
  {"event": "token_usage", "usage": {"total": 8000}, "timestamp": "2025-06-01T12:00:02Z"},
  {"event": "tool_call", "tool": "search", "args": {"q": "opening hours"}, "timestamp": "2025-06-01T12:00:03Z"},
  {"event": "tool_output", "tool": "search", "output": "9 to 5", "timestamp": "2025-06-01T12:00:04Z"},
  {"event": "token_usage", "usage": {"total": 9000}, "timestamp": "2025-06-01T12:00:05Z"}
]
```

## How to fix
Give the model its earlier results, cache calls that read, and set a budget for the run.

## Known limits
Waste is known only where results are: with content capture off nothing is compared. Where calls report no usage the sum
is a lower bound.
"""

from collections.abc import Iterator
from itertools import chain, islice

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.options import names
from analyzer.profile import Profile
from analyzer.session.model import EventKind
from analyzer.timeline.call import Call
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.money import bill_of
from analyzer.timeline.spending import recorded_duplicates, recorded_tokens, spending_events

__all__ = ["DETECTOR"]

TYPE = "cost_explosion"
MANY = 12_000
CRITICAL = 30_000
RECORDED_DUPLICATES = 3
SHOWN = 12  # critiqor 0.1.4 shows the first twelve events as evidence
FIX = "Give the model its earlier results, cache calls that read, and set a budget for the run."
WHY = Why(
    "The agent did work again that it had done, with a context that grew all the while.",
    "The run costs more than its task is worth.",
    FIX,
)


def find(timeline: Timeline, options: Options) -> Iterator[FailureCause]:
    """Yield one cause when many tokens meet a wasted call, or when a budget is exceeded."""
    total = timeline.tokens.total or 0
    wasted = sorted(_wasted(timeline, options), key=lambda call: call.position)
    exceeded = _exceeded(timeline, total, options)
    if exceeded is None and not (total >= options.many_tokens and wasted):
        return
    impact = _impact(len(wasted), total)
    starts = (timeline.events[call.position] for call in wasted)
    yield FailureCause(
        type=TYPE,
        severity=_severity(total, options.critical_tokens),
        impact=impact,
        description=_description(timeline, wasted, exceeded),
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.HIGH if timeline.tokens.complete else Confidence.MEDIUM,
        fingerprint=fingerprint(TYPE, sorted({(call.tool or "") for call in wasted})),
        **shown_by(islice(chain(starts, timeline.of_kind(EventKind.TOKEN_USAGE)), SHOWN)),
    )


def _wasted(timeline: Timeline, options: Options) -> Iterator[Call]:
    for repeated in timeline.repetitions:
        if not names(options.polling_tools, repeated.calls[0].tool):
            yield from repeated.wasted


def _exceeded(timeline: Timeline, total: int, options: Options) -> str | None:
    """Return the budget that the run exceeded, in words."""
    if options.token_budget is not None and total > options.token_budget:
        return f"its budget of {options.token_budget} tokens"
    if options.money_budget is None:
        return None
    bill = bill_of(timeline, options.prices)
    if bill.amount is None or bill.amount <= options.money_budget:
        return None
    return f"its budget: {bill.amount:.4f} instead of {options.money_budget:.4f} {bill.currency}"


def find_recorded(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause when there are many tokens or three duplicates (critiqor 0.1.4)."""
    total, duplicates = recorded_tokens(timeline), recorded_duplicates(timeline)
    if total < MANY and duplicates < RECORDED_DUPLICATES:
        return
    impact = _impact(duplicates, total)
    yield FailureCause(
        type=TYPE,
        severity=_severity(total, CRITICAL),
        impact=impact,
        description=f"The run consumed {total} tokens and made {duplicates} duplicate calls.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        fingerprint=fingerprint(TYPE),
        **shown_by(islice(spending_events(timeline), SHOWN)),
    )


def _severity(total: int, critical: int) -> Severity:
    return Severity.CRITICAL if total >= critical else Severity.HIGH


def _impact(duplicates: int, total: int) -> int:
    return -min(30, 10 + 4 * duplicates + total // 6_000)


def _description(timeline: Timeline, wasted: list[Call], exceeded: str | None) -> str:
    tokens = timeline.tokens
    consumed = f"The run consumed {'' if tokens.complete else 'at least '}{tokens.total or 0} tokens"
    more = "" if exceeded is None else f", more than {exceeded}"
    if not wasted:
        return f"{consumed}{more}."
    others = f" and {len(wasted) - 1} more" if len(wasted) > 1 else ""
    return f"{consumed}{more} and made calls again whose result it had: {call_text(wasted[0])}{others}."


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.COST_EFFICIENCY,
    summary="Many tokens, and work done twice",
    since="0.1.0",
    needs=frozenset({Fact.TOKENS, Fact.TOOL_ARGUMENTS, Fact.TOOL_RESULTS}),
    steps=("repeated_reasoning_or_calls", "token_waste", "cost_spike"),
    find={Profile.STANDARD: find, Profile.CRITIQOR_V1: find_recorded},
)
