"""Do an agent's runs get better or worse?"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.runs import as_record
from analyzer.evaluation.words import TREND_DIRECTIONS, TrendDirection
from analyzer.lenient import as_mapping, as_text, as_whole, as_word

__all__ = ["TrendAnalysis", "analyze_trends"]

_CLEAR = 5  # points from the first run to the last that make a direction (specification §6)
_MIN_RUNS = 2


@dataclass(frozen=True, slots=True)
class TrendAnalysis:
    """The direction of an agent's reliability. Changes are the average a run, rounded half to even."""

    trust_trend: TrendDirection
    trust_change: int
    hallucination_change: int
    tool_reliability_change: int
    reasoning_change: int
    summary: str

    def to_dict(self) -> dict[str, Any]:
        """Return the six fields as a JSON-serialisable dict."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the analysis of a dict; an unknown direction is `insufficient_data`."""
        found = as_mapping(payload)
        return cls(
            trust_trend=as_word(found.get("trust_trend"), TREND_DIRECTIONS, "insufficient_data"),
            trust_change=as_whole(found.get("trust_change")),
            hallucination_change=as_whole(found.get("hallucination_change")),
            tool_reliability_change=as_whole(found.get("tool_reliability_change")),
            reasoning_change=as_whole(found.get("reasoning_change")),
            summary=as_text(found.get("summary", "")),
        )


def analyze_trends(runs: Sequence[Any], window: int | None = None) -> TrendAnalysis:
    """Return where the last `window` runs (all for None and 0) are going, in the order given, oldest first.

    The direction is that of the whole way, from the first run to the last; the changes are that way divided by its
    steps, which is the average change a run. A dimension that a run lacks counts as 0, as in `compare_runs`.
    """
    chosen = list(runs)[-window:] if window is not None and window > 0 else list(runs)
    if len(chosen) < _MIN_RUNS:
        return TrendAnalysis("insufficient_data", 0, 0, 0, 0, "Two runs or more are needed to tell a trend.")
    first, last, steps = as_record(chosen[0]), as_record(chosen[-1]), len(chosen) - 1
    total = last.trust_score - first.trust_score
    direction: TrendDirection = "improving" if total >= _CLEAR else "declining" if total <= -_CLEAR else "stable"
    return TrendAnalysis(
        trust_trend=direction,
        trust_change=_average(total, steps),
        hallucination_change=_change(first, last, "hallucination", steps),
        tool_reliability_change=_change(first, last, "tool_reliability", steps),
        reasoning_change=_change(first, last, "reasoning", steps),
        summary=(
            f"Trust is {direction} over {len(chosen)} runs: from {first.trust_score} to {last.trust_score}, "
            f"{round(total / steps, 1) + 0.0:+.1f} a run on average."
        ),
    )


def _change(first: EvaluationRecord, last: EvaluationRecord, dimension: str, steps: int) -> int:
    return _average(last.scores.get(dimension, 0) - first.scores.get(dimension, 0), steps)


def _average(total: int, steps: int) -> int:
    return round(Fraction(total, steps))
