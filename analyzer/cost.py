"""What the run cost, and how much of it was for nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from analyzer.cause import FailureCause
from analyzer.profile import Profile
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.spending import recorded_duplicates, recorded_tokens

__all__ = ["CostAnalysis", "analyse_cost"]

_COST = "cost_explosion"
# critiqor 0.1.4: what a duplicate call and a point of the cost failure's impact stand for, in tokens.
_TOKENS_A_DUPLICATE = 1_000
_TOKENS_A_POINT = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAnalysis:
    """What the run cost and how much of it was for nothing; None where the run's traces don't carry it."""

    total_tokens: int | None = None
    token_waste: int | None = None
    duplicate_calls: int | None = None
    """Calls that repeat an equal one and bring nothing new."""
    redundancy_score: int | None = None
    """Duplicates in percent of the tool calls."""
    cost_efficiency: int | None = None
    """100 less the redundancy."""


_Counting: TypeAlias = Callable[[Timeline], tuple[int | None, int | None]]


def analyse_cost(timeline: Timeline, causes: Sequence[FailureCause], profile: Profile) -> CostAnalysis:
    """Return the cost of a run: tokens and duplicates as a profile counts them."""
    tokens, duplicates = _COUNTINGS[profile](timeline)
    points = sum(abs(cause.impact) for cause in causes if cause.type == _COST)
    waste = None
    if tokens is not None:
        waste = min(tokens, _TOKENS_A_DUPLICATE * (duplicates or 0) + _TOKENS_A_POINT * points)
    if duplicates is None:
        return CostAnalysis(total_tokens=tokens, token_waste=waste)
    redundancy = min(100, max(0, round(100 * duplicates / max(1, len(timeline.calls)))))
    return CostAnalysis(
        total_tokens=tokens,
        token_waste=waste,
        duplicate_calls=duplicates,
        redundancy_score=redundancy,
        cost_efficiency=100 - redundancy,
    )


def _standard(timeline: Timeline) -> tuple[int | None, int | None]:
    comparable = any(call.fingerprint is not None for call in timeline.calls)
    known = Fact.TOOL_CALLS not in timeline.missing and (comparable or not timeline.calls)
    return timeline.tokens.total, sum(repeated.duplicates for repeated in timeline.repetitions) if known else None


def _recorded(timeline: Timeline) -> tuple[int | None, int | None]:
    return recorded_tokens(timeline), recorded_duplicates(timeline)


_COUNTINGS: Mapping[Profile, _Counting] = {Profile.STANDARD: _standard, Profile.CRITIQOR_V1: _recorded}
