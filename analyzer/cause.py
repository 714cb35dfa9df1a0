"""A failure and what shows it: the words every detector speaks."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from analyzer.session.model import SpanRef

__all__ = ["Basis", "Confidence", "FailureCause", "RootCause", "Severity"]


class Severity(StrEnum):
    """How bad a failure is for the run."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Confidence(StrEnum):
    """How sure the detector is that it is a failure at all."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


Basis = Literal["observed", "derived"]
"""`observed`: the evidence says it in so many words. `derived`: it follows from other evidence by a named rule."""


@dataclass(frozen=True, slots=True)
class RootCause:
    """Why a failure came about, and what helps."""

    description: str
    impact: str
    trust_penalty: int
    recommended_fix: str


@dataclass(frozen=True, slots=True)
class FailureCause:
    """One failure of a run."""

    type: str
    severity: Severity
    impact: int
    """Points off the dimension's score: zero or negative."""
    description: str
    root_cause: RootCause | None = None
    recommendation: str = ""
    confidence: Confidence = Confidence.HIGH
    basis: Basis = "observed"
    rule: str | None = None
    """The rule that derived it; None when observed."""
    evidence: tuple[str, ...] = ()
    """Event ids, the primary one first."""
    spans: tuple[SpanRef, ...] = ()
    """The spans of the evidence, in the same order."""
    marks: tuple[str, ...] = ()
    """`progressing` or `recovered`: why a repetition is none to worry about."""
    fingerprint: str = ""
    """Equal for the same failure in another run: type, tool and what was repeated, without ids and times."""
