"""How sure is an evaluation of itself, and may an agent that behaves like this be deployed?

Numbers: specification §4.3.
"""

from collections.abc import Iterable
from typing import Any

from analyzer.cause import FailureCause, Severity
from analyzer.evaluation.evidence import EvaluationEvidence
from analyzer.evaluation.failures import detect_failure_causes
from analyzer.evaluation.record import as_causes
from analyzer.evaluation.words import DeploymentRecommendation, EvidenceLevel, has_severe, severe

__all__ = ["calculate_evaluation_confidence", "confidence_of", "recommend_deployment"]

_BASE: dict[EvidenceLevel, int] = {"response_only": 55, "trace_available": 78, "fully_instrumented": 93}
_OUTPUTS, _LATENCY, _TRACE, _PER_SEVERE = 4, 3, 3, -4
_UNSAFE_TRUST, _UNSAFE_CONFIDENCE = 50, 45
_REVIEW_TRUST, _REVIEW_CONFIDENCE = 75, 70


def calculate_evaluation_confidence(evidence: EvaluationEvidence | Any, failure_causes: Any = None) -> int:
    """Return 0 to 100 by the level and the parts of the evidence; causes are detected when none are given."""
    known = evidence if isinstance(evidence, EvaluationEvidence) else EvaluationEvidence.from_dict(evidence)
    causes = detect_failure_causes(known) if failure_causes is None else as_causes(failure_causes)
    return confidence_of(
        known.evidence_level,
        outputs=bool(known.tool_outputs),
        latency=known.metrics.latency is not None,
        trace=bool(known.trace),
        causes=causes,
    )


def confidence_of(
    level: EvidenceLevel, *, outputs: bool, latency: bool, trace: bool, causes: Iterable[FailureCause]
) -> int:
    """Return the confidence of an evaluation that rests on these parts."""
    parts = _OUTPUTS * outputs + _LATENCY * latency + _TRACE * trace
    return max(0, min(100, _BASE[level] + parts + _PER_SEVERE * len(severe(causes))))


def recommend_deployment(
    trust_score: float, evaluation_confidence: float, failure_causes: Any = ()
) -> DeploymentRecommendation:
    """Return the recommendation; a critical cause, and any runtime failure, even one retry, makes a run unsafe."""
    causes = as_causes(failure_causes)
    if trust_score < _UNSAFE_TRUST or evaluation_confidence < _UNSAFE_CONFIDENCE or any(map(_is_fatal, causes)):
        return "unsafe_for_production"
    if trust_score < _REVIEW_TRUST or evaluation_confidence < _REVIEW_CONFIDENCE or has_severe(causes):
        return "review_recommended"
    return "safe_to_deploy"


def _is_fatal(cause: FailureCause) -> bool:
    # Critical is unsafe here as in a diagnosis (specification §3.2); the original's API downgraded it to medium.
    return cause.type == "runtime_failures" or cause.severity == Severity.CRITICAL
