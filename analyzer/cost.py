"""What the run cost, in tokens and in money, and how much of it was for nothing."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, structs

from analyzer.cause import FailureCause, Severity
from analyzer.models.prices import PriceList
from analyzer.profile import Profile
from analyzer.timeline.call import Call
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.money import Bill, bill_of
from analyzer.timeline.spending import recorded_duplicates, recorded_tokens

__all__ = ["CostAnalysis", "analyse_cost"]

_COST = "cost_explosion"
# critiqor 0.1.4: what a duplicate call and a point of the cost failure's impact stand for, in tokens.
_TOKENS_A_DUPLICATE = 1_000
_TOKENS_A_POINT = 120

_FIRST_WAS_NEEDED = frozenset(("infinite_tool_loop",))
"""Failures that show the call which they repeat, too."""
_PLACES = 6  # decimal places of an amount: a millionth


class CostAnalysis(Struct, frozen=True, kw_only=True):
    """What the run cost and how much of it was for nothing; None where the run's traces don't carry it."""

    total_tokens: int | None = None
    token_waste: int | None = None
    duplicate_calls: int | None = None
    """Calls that repeat an equal one and bring nothing new."""
    redundancy_score: int | None = None
    """Duplicates in percent of the tool calls."""
    cost_efficiency: int | None = None
    """100 less the redundancy."""
    cost: float | None = None
    """What the model calls cost, in `currency`; this and what follows in profile `standard` only."""
    cost_complete: bool | None = None
    """False: some call's cost is not known, and the cost is a lower bound."""
    currency: str | None = None
    prices_as_of: str | None = None
    """The day of the price list, ISO."""
    unpriced_models: tuple[str, ...] | None = None
    """Models that the list does not know."""
    wasted_cost: float | None = None
    """The part of the cost that went into calls that failures are made of, each counted once."""
    waste_by_cause: dict[str, float] | None = None
    """The same by failure type; a call that belongs to two is in both."""

    def to_dict(self) -> dict[str, Any]:
        """Return the documented fields, and those of money where it is known."""
        told = structs.asdict(self)
        if self.cost is None and not self.unpriced_models:
            return {name: told[name] for name in _DOCUMENTED}
        return {**told, "unpriced_models": list(self.unpriced_models or ())}


_DOCUMENTED = ("total_tokens", "token_waste", "duplicate_calls", "redundancy_score", "cost_efficiency")

_Counting: TypeAlias = Callable[[Timeline], tuple[int | None, int | None]]


def analyse_cost(
    timeline: Timeline, causes: Sequence[FailureCause], profile: Profile, prices: PriceList | None = None
) -> CostAnalysis:
    """Return the cost of a run: tokens and duplicates as a profile counts them, and money by a price list."""
    tokens, duplicates = _COUNTINGS[profile](timeline)
    points = sum(abs(cause.impact) for cause in causes if cause.type == _COST)
    waste = None
    if tokens is not None:
        waste = min(tokens, _TOKENS_A_DUPLICATE * (duplicates or 0) + _TOKENS_A_POINT * points)
    analysis = CostAnalysis(total_tokens=tokens, token_waste=waste)
    if duplicates is not None:
        redundancy = min(100, max(0, round(100 * duplicates / max(1, len(timeline.calls)))))
        analysis = structs.replace(
            analysis,
            duplicate_calls=duplicates,
            redundancy_score=redundancy,
            cost_efficiency=100 - redundancy,
        )
    return analysis if profile is Profile.CRITIQOR_V1 else _with_money(analysis, timeline, causes, prices)


def _standard(timeline: Timeline) -> tuple[int | None, int | None]:
    comparable = any(call.fingerprint is not None for call in timeline.calls)
    known = Fact.TOOL_CALLS not in timeline.missing and (comparable or not timeline.calls)
    return timeline.tokens.total, sum(repeated.duplicates for repeated in timeline.repetitions) if known else None


def _recorded(timeline: Timeline) -> tuple[int | None, int | None]:
    return recorded_tokens(timeline), recorded_duplicates(timeline)


_COUNTINGS: Mapping[Profile, _Counting] = {Profile.STANDARD: _standard, Profile.CRITIQOR_V1: _recorded}


def _with_money(
    analysis: CostAnalysis, timeline: Timeline, causes: Sequence[FailureCause], prices: PriceList | None
) -> CostAnalysis:
    bill = bill_of(timeline, prices)
    if bill.amount is None:
        return structs.replace(analysis, unpriced_models=bill.unpriced) if bill.unpriced else analysis
    wasted, by_cause = _waste(timeline, causes, bill)
    return structs.replace(
        analysis,
        cost=round(bill.amount, _PLACES),
        cost_complete=bill.complete,
        currency=bill.currency,
        prices_as_of=bill.as_of,
        unpriced_models=bill.unpriced,
        wasted_cost=wasted,
        waste_by_cause=by_cause,
    )


def _waste(timeline: Timeline, causes: Sequence[FailureCause], bill: Bill) -> tuple[float, dict[str, float]]:
    """Return what the calls cost that the failures show: of a model call that asked for several, its share."""
    grave = [cause for cause in causes if cause.impact < 0 and cause.severity is not Severity.LOW]
    if not grave:
        return 0.0, {}
    shares = _Shares(timeline, bill)
    by_type: dict[str, dict[int, float]] = {}
    for cause in grave:
        by_type.setdefault(cause.type, {}).update(shares.of(cause))
    together: dict[int, float] = {}
    for found in by_type.values():
        together.update(found)
    sums = {failure_type: round(sum(found.values()), _PLACES) for failure_type, found in sorted(by_type.items())}
    return round(sum(together.values(), 0.0), _PLACES), {name: amount for name, amount in sums.items() if amount}


class _Shares:
    """What asking for each tool call cost: the model call before it, shared by the calls it asked for."""

    def __init__(self, timeline: Timeline, bill: Bill) -> None:
        self._timeline = timeline
        self._bill = bill
        self._asked = sorted(bill.by_position)
        self._asker_of = {call.position: self._before(call) for call in timeline.calls}
        self._asked_for = Counter(self._asker_of.values())
        self._call_at = {
            **{call.output_position: call for call in timeline.calls if call.output_position >= 0},
            **{call.position: call for call in timeline.calls},
        }

    def of(self, cause: FailureCause) -> dict[int, float]:
        """Return the share of each call that a failure shows, by its position."""
        calls = {call.position: call for call in self._shown(cause)}
        wasted = list(calls)[1:] if cause.type in _FIRST_WAS_NEEDED else list(calls)
        askers = {position: self._asker_of[position] for position in wasted}
        return {
            position: self._bill.by_position[asker] / self._asked_for[asker]
            for position, asker in askers.items()
            if asker is not None
        }

    def _shown(self, cause: FailureCause) -> Iterator[Call]:
        for name in cause.evidence:
            position = self._timeline.position_of.get(name)
            call = None if position is None else self._call_at.get(position)
            if call is not None:
                yield call

    def _before(self, call: Call) -> int | None:
        place = bisect_right(self._asked, call.position)
        return self._asked[place - 1] if place else None
