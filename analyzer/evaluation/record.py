"""One evaluation as it is kept: who, when, the scores, the failure causes and the recommendation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from analyzer.cause import FailureCause
from analyzer.evaluation.frozen import FrozenList, document, freeze
from analyzer.evaluation.words import (
    DEPLOYMENT_RECOMMENDATIONS,
    EVIDENCE_LEVELS,
    DeploymentRecommendation,
    EvidenceLevel,
)
from analyzer.lenient import as_counts, as_mapping, as_sequence, as_text, as_whole, as_word, is_mapping

__all__ = ["EvaluationRecord", "as_causes"]


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """The kept form of one evaluation."""

    run_id: str
    agent_id: str
    timestamp: str
    """ISO 8601, UTC."""
    scores: Mapping[str, int]
    """Dimension → 0 to 100."""
    failure_causes: Sequence[FailureCause]
    trust_score: int
    """0 to 100."""
    evidence_level: EvidenceLevel
    evaluation_confidence: int
    """0 to 100: how sure the evaluation is of itself."""
    deployment_recommendation: DeploymentRecommendation

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", freeze(self.scores))
        object.__setattr__(self, "failure_causes", FrozenList(self.failure_causes))

    def to_dict(self) -> dict[str, Any]:
        """Return all nine fields as a JSON-serialisable dict."""
        return document(
            {
                "run_id": self.run_id,
                "agent_id": self.agent_id,
                "timestamp": self.timestamp,
                "scores": self.scores,
                "failure_causes": self.failure_causes,
                "trust_score": self.trust_score,
                "evidence_level": self.evidence_level,
                "evaluation_confidence": self.evaluation_confidence,
                "deployment_recommendation": self.deployment_recommendation,
            }
        )

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the record of a dict.

        Ids and times read as text (null as `None`, as recorded from critiqor 0.1.4), scores that are no numbers and
        causes that are no dicts are left out, whole numbers are read from digits in text and are not clamped, an
        unknown level is `response_only`, an unknown recommendation `review_recommended`.
        """
        found = as_mapping(payload)
        return cls(
            run_id=as_text(found.get("run_id", "")),
            agent_id=as_text(found.get("agent_id", "")),
            timestamp=as_text(found.get("timestamp", "")),
            scores=as_counts(found.get("scores")),
            failure_causes=as_causes(found.get("failure_causes")),
            trust_score=as_whole(found.get("trust_score")),
            evidence_level=as_word(found.get("evidence_level"), EVIDENCE_LEVELS, "response_only"),
            evaluation_confidence=as_whole(found.get("evaluation_confidence")),
            deployment_recommendation=as_word(
                found.get("deployment_recommendation"), DEPLOYMENT_RECOMMENDATIONS, "review_recommended"
            ),
        )


def as_causes(value: Any) -> tuple[FailureCause, ...]:
    """Return the failure causes in a list of causes or of their dicts; what is neither is left out."""
    return tuple(
        item if isinstance(item, FailureCause) else FailureCause.from_dict(item)
        for item in as_sequence(value)
        if isinstance(item, FailureCause) or is_mapping(item)
    )
