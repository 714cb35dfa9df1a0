"""What changed from one run to another?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from analyzer.evaluation.frozen import document, freeze
from analyzer.evaluation.runs import as_record
from analyzer.lenient import as_counts, as_mapping, as_text, as_whole

__all__ = ["RunComparison", "compare_runs"]

_CLEAR = 5  # points that make an improvement or a decline worth a word (specification §6)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The second run less the first."""

    trust_change: int
    changes: Mapping[str, int]
    """Dimension → points, sorted by name."""
    summary: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "changes", freeze(self.changes))

    def to_dict(self) -> dict[str, Any]:
        """Return the three fields as a JSON-serialisable dict."""
        return document({"trust_change": self.trust_change, "changes": self.changes, "summary": self.summary})

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the comparison of a dict; changes that are no numbers are left out."""
        found = as_mapping(payload)
        return cls(
            trust_change=as_whole(found.get("trust_change")),
            changes=as_counts(found.get("changes")),
            summary=as_text(found.get("summary", "")),
        )


def compare_runs(before: Any, after: Any) -> RunComparison:
    """Return what changed in trust and in each dimension that either run has; one that a run lacks counts as 0."""
    old, new = as_record(before), as_record(after)
    changes = {
        dimension: new.scores.get(dimension, 0) - old.scores.get(dimension, 0)
        for dimension in sorted({*old.scores, *new.scores})
    }
    trust_change = new.trust_score - old.trust_score
    better = [dimension for dimension, change in changes.items() if change >= _CLEAR]
    worse = [dimension for dimension, change in changes.items() if change <= -_CLEAR]
    parts = [
        f"Trust went from {old.trust_score} to {new.trust_score} ({trust_change:+d})",
        *([f"improved: {', '.join(better)}"] if better else []),
        *([f"declined: {', '.join(worse)}"] if worse else []),
    ]
    return RunComparison(trust_change, changes, f"{'; '.join(parts)}.")
