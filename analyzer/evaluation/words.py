"""The closed sets of the evaluation types: levels, severities, recommendations, dimensions."""

from collections.abc import Iterable
from typing import Literal

from analyzer.cause import EvidenceLevel, FailureCause, Severity

__all__ = [
    "AGENT_TYPES",
    "CERTIFICATION_LEVELS",
    "DEPLOYMENT_RECOMMENDATIONS",
    "DIMENSIONS",
    "EVIDENCE_LEVELS",
    "TREND_DIRECTIONS",
    "TRUST_LEVELS",
    "AgentType",
    "CertificationLevel",
    "DeploymentRecommendation",
    "EvidenceLevel",
    "FailureSeverity",
    "TrendDirection",
    "TrustLevel",
    "has_severe",
    "severe",
]

TrustLevel = Literal["High", "Moderate", "Low"]
FailureSeverity = Literal["low", "medium", "high", "critical"]
DeploymentRecommendation = Literal["safe_to_deploy", "review_recommended", "unsafe_for_production"]
AgentType = Literal["coding", "research", "customer_support", "general"]
CertificationLevel = Literal["none", "bronze", "silver", "gold", "platinum"]
TrendDirection = Literal["improving", "stable", "declining", "insufficient_data"]

# Each in order, the weakest first.
TRUST_LEVELS: tuple[TrustLevel, ...] = ("Low", "Moderate", "High")
EVIDENCE_LEVELS: tuple[EvidenceLevel, ...] = ("response_only", "trace_available", "fully_instrumented")
DEPLOYMENT_RECOMMENDATIONS: tuple[DeploymentRecommendation, ...] = (
    "unsafe_for_production",
    "review_recommended",
    "safe_to_deploy",
)
CERTIFICATION_LEVELS: tuple[CertificationLevel, ...] = ("none", "bronze", "silver", "gold", "platinum")
AGENT_TYPES: tuple[AgentType, ...] = ("coding", "research", "customer_support", "general")
TREND_DIRECTIONS: tuple[TrendDirection, ...] = ("improving", "stable", "declining", "insufficient_data")

DIMENSIONS: tuple[str, ...] = (
    "hallucination",
    "reasoning",
    "consistency",
    "task_completion",
    "tool_reliability",
    "execution_efficiency",
    "calibration",
)
"""The seven reliability scores of an evaluation, each 0 to 100, more is better (specification §4.3)."""

_SEVERE = frozenset((Severity.HIGH, Severity.CRITICAL))


def severe(causes: Iterable[FailureCause]) -> tuple[FailureCause, ...]:
    """Return the causes of severity high or critical: critical blocks wherever high does."""
    return tuple(cause for cause in causes if cause.severity in _SEVERE)


def has_severe(causes: Iterable[FailureCause]) -> bool:
    """Return whether any cause is of severity high or critical."""
    return bool(severe(causes))
