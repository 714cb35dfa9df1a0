"""What an evaluation answers, and what a benchmark of several evaluations answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from analyzer.cause import FailureCause
from analyzer.evaluation.evidence import EvaluationEvidence
from analyzer.evaluation.frozen import FrozenList, document, freeze
from analyzer.evaluation.origin import SYSTEM, Origin
from analyzer.evaluation.record import EvaluationRecord, as_causes
from analyzer.evaluation.words import (
    AGENT_TYPES,
    DEPLOYMENT_RECOMMENDATIONS,
    EVIDENCE_LEVELS,
    TRUST_LEVELS,
    AgentType,
    DeploymentRecommendation,
    EvidenceLevel,
    TrustLevel,
)
from analyzer.lenient import as_counts, as_mapping, as_sequence, as_text, as_whole, as_word

__all__ = ["BenchmarkResult", "CritiqorResult", "trust_level"]

_HIGH_TRUST, _MODERATE_TRUST = 75, 50


@dataclass(frozen=True, slots=True)
class CritiqorResult:
    """The outcome of one evaluation."""

    confidence: int
    """The trust score, 0 to 100 (the original's word for it)."""
    trust_level: TrustLevel
    scores: Mapping[str, int]
    """Dimension → 0 to 100."""
    failure_causes: Sequence[FailureCause] = ()
    evidence_level: EvidenceLevel = "response_only"
    evaluation_confidence: int = 0
    deployment_recommendation: DeploymentRecommendation = "review_recommended"
    evidence: EvaluationEvidence = field(default_factory=EvaluationEvidence)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", freeze(self.scores))
        object.__setattr__(self, "failure_causes", FrozenList(self.failure_causes))

    @property
    def trust_score(self) -> int:
        """The trust score under the name that records use."""
        return self.confidence

    def to_record(
        self, agent_id: str = "default", run_id: str | None = None, *, origin: Origin = SYSTEM
    ) -> EvaluationRecord:
        """Return the evaluation as it is kept, stamped with a time and, when none is given, a new run id."""
        return EvaluationRecord(
            run_id=origin.new_id() if run_id is None else run_id,
            agent_id=agent_id,
            timestamp=origin.now(),
            scores=self.scores,
            failure_causes=self.failure_causes,
            trust_score=self.confidence,
            evidence_level=self.evidence_level,
            evaluation_confidence=self.evaluation_confidence,
            deployment_recommendation=self.deployment_recommendation,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, the evidence among them, as a JSON-serialisable dict."""
        return document(
            {
                "confidence": self.confidence,
                "trust_level": self.trust_level,
                "scores": self.scores,
                "failure_causes": self.failure_causes,
                "evidence_level": self.evidence_level,
                "evaluation_confidence": self.evaluation_confidence,
                "deployment_recommendation": self.deployment_recommendation,
                "evidence": self.evidence,
            }
        )

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the result of a dict, odd values coerced as in a record; an unknown trust level follows the score."""
        found = as_mapping(payload)
        confidence = as_whole(found.get("confidence"))
        return cls(
            confidence=confidence,
            trust_level=as_word(found.get("trust_level"), TRUST_LEVELS, trust_level(confidence)),
            scores=as_counts(found.get("scores")),
            failure_causes=as_causes(found.get("failure_causes")),
            evidence_level=as_word(found.get("evidence_level"), EVIDENCE_LEVELS, "response_only"),
            evaluation_confidence=as_whole(found.get("evaluation_confidence")),
            deployment_recommendation=as_word(
                found.get("deployment_recommendation"), DEPLOYMENT_RECOMMENDATIONS, "review_recommended"
            ),
            evidence=EvaluationEvidence.from_dict(found.get("evidence")),
        )


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """The outcome of a suite: averages over its runs, and where that stands among earlier ones."""

    name: str
    agent_type: AgentType
    trust_score: int
    """Average over the runs, 0 to 100."""
    percentile: int
    """Share of earlier runs that scored no more, 0 to 100."""
    run_count: int
    scores: Mapping[str, int]
    """Dimension → average, 0 to 100."""
    results: Sequence[CritiqorResult] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", freeze(self.scores))
        object.__setattr__(self, "results", FrozenList(self.results))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, the single results among them, as a JSON-serialisable dict."""
        return document(
            {
                "name": self.name,
                "agent_type": self.agent_type,
                "trust_score": self.trust_score,
                "percentile": self.percentile,
                "run_count": self.run_count,
                "scores": self.scores,
                "results": self.results,
            }
        )

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the benchmark result of a dict; an unknown agent type is `general`."""
        found = as_mapping(payload)
        return cls(
            name=as_text(found.get("name", "")),
            agent_type=as_word(found.get("agent_type"), AGENT_TYPES, "general"),
            trust_score=as_whole(found.get("trust_score")),
            percentile=as_whole(found.get("percentile")),
            run_count=as_whole(found.get("run_count")),
            scores=as_counts(found.get("scores")),
            results=tuple(map(CritiqorResult.from_dict, as_sequence(found.get("results")))),
        )


def trust_level(trust_score: int) -> TrustLevel:
    """Return the word for a trust score: High from 75, Moderate from 50 (specification §4.3)."""
    if trust_score >= _HIGH_TRUST:
        return "High"
    return "Moderate" if trust_score >= _MODERATE_TRUST else "Low"
