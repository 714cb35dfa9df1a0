"""What drives an agent's reliability, over all its runs, in one sentence?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from analyzer.evaluation.frozen import FrozenList, document
from analyzer.evaluation.runs import as_record
from analyzer.evaluation.trends import analyze_trends
from analyzer.lenient import as_mapping, as_sequence, as_text

__all__ = ["ReliabilityInsight", "generate_insights"]

_DRIVERS = 3  # specification §6


@dataclass(frozen=True, slots=True)
class ReliabilityInsight:
    """A summary for people who read one line."""

    summary: str
    primary_drivers: Sequence[str] = ()
    """The failure types that occur most, at most three."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "primary_drivers", FrozenList(self.primary_drivers))

    def to_dict(self) -> dict[str, Any]:
        """Return both fields as a JSON-serialisable dict."""
        return document({"summary": self.summary, "primary_drivers": self.primary_drivers})

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the insight of a dict; what is missing is empty."""
        found = as_mapping(payload)
        return cls(
            summary=as_text(found.get("summary", "")),
            primary_drivers=list(map(as_text, as_sequence(found.get("primary_drivers")))),
        )


def generate_insights(runs: Sequence[Any]) -> ReliabilityInsight:
    """Return the trend of the runs and the failures that occur most, the first seen first among equals."""
    records = [as_record(run) for run in runs]
    if not records:
        return ReliabilityInsight("No runs to look at.")
    counts = Counter(cause.type for record in records for cause in record.failure_causes)
    ranked = counts.most_common(_DRIVERS)
    named = ", ".join(f"{failure} ({count})" for failure, count in ranked) or "none"
    told = f"{len(records)} run{'' if len(records) == 1 else 's'}"
    return ReliabilityInsight(
        f"{analyze_trends(records).summary} Most frequent failures in {told}: {named}.",
        [failure for failure, _ in ranked],
    )
