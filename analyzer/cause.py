"""A failure and what shows it: the words every detector speaks."""

from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from typing import Any, Literal, Self, get_args

from analyzer.lenient import as_mapping, as_optional_text, as_sequence, as_text, as_whole, as_word, is_sequence
from analyzer.session.model import SpanRef

__all__ = ["Basis", "Confidence", "EvidenceLevel", "FailureCause", "RootCause", "Severity"]


class Severity(StrEnum):
    """How bad a failure is for the run."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Its place among the four, the mildest 0."""
        return _SEVERITIES.index(self)


class Confidence(StrEnum):
    """How sure the detector is that it is a failure at all."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


_SEVERITIES = tuple(Severity)

Basis = Literal["observed", "derived"]
"""`observed`: the evidence says it in so many words. `derived`: it follows from other evidence by a named rule."""

EvidenceLevel = Literal["response_only", "trace_available", "fully_instrumented"]
"""What a verdict rests on: the answer alone, what was said and called, or a record of the run itself."""


@dataclass(frozen=True, slots=True)
class RootCause:
    """Why a failure came about, and what helps."""

    description: str
    impact: str
    trust_penalty: int
    recommended_fix: str

    def to_dict(self) -> dict[str, Any]:
        """Return the four fields as a JSON-serialisable dict."""
        return {
            "description": self.description,
            "impact": self.impact,
            "trust_penalty": self.trust_penalty,
            "recommended_fix": self.recommended_fix,
        }

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the root cause of a dict; what is missing or odd becomes empty text or zero."""
        found = as_mapping(payload)
        return cls(
            description=as_text(found.get("description", "")),
            impact=as_text(found.get("impact", "")),
            trust_penalty=as_whole(found.get("trust_penalty")),
            recommended_fix=as_text(found.get("recommended_fix", "")),
        )


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

    def __post_init__(self) -> None:
        for name in _SEQUENCES:
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        """Return the documented fields, and those of the others that say more than their default.

        `root_cause` and `recommendation` are left out when there is none (data types of critiqor 0.1.4).
        """
        return {
            "type": self.type,
            "severity": str(self.severity),
            "impact": self.impact,
            "description": self.description,
            **{name: _plain(getattr(self, name)) for name, default in _OPTIONAL if getattr(self, name) != default},
        }

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the cause of a dict, of a stored evaluation or a diagnosis; odd values become safe defaults.

        A severity that is none of the four reads as medium, a type that is missing as `unknown`.
        """
        found = as_mapping(payload)
        impact = as_whole(found.get("impact"))
        recommendation = as_optional_text(found.get("recommendation")) or ""
        return cls(
            type=as_text(found.get("type", "unknown")),
            severity=as_word(found.get("severity"), Severity, Severity.MEDIUM),
            impact=impact,
            description=as_text(found.get("description", "")),
            root_cause=_root_cause(found.get("root_cause"), impact, recommendation),
            recommendation=recommendation,
            confidence=as_word(found.get("confidence"), Confidence, Confidence.HIGH),
            basis=as_word(found.get("basis"), _BASES, "observed"),
            rule=as_optional_text(found.get("rule")),
            evidence=tuple(map(as_text, as_sequence(found.get("evidence")))),
            spans=tuple(map(_span, as_sequence(found.get("spans")))),
            marks=tuple(map(as_text, as_sequence(found.get("marks")))),
            fingerprint=as_optional_text(found.get("fingerprint")) or "",
        )


_BASES: tuple[Basis, ...] = get_args(Basis)
_SEQUENCES = ("evidence", "spans", "marks")
_OPTIONAL = tuple((field.name, field.default) for field in fields(FailureCause) if field.default is not MISSING)


def _plain(value: Any) -> Any:
    if isinstance(value, RootCause):
        return value.to_dict()
    if isinstance(value, SpanRef):
        return {"trace_id": value.trace_id, "span_id": value.span_id}
    if is_sequence(value):
        return [_plain(item) for item in value]
    return str(value)


def _root_cause(value: Any, impact: int, recommendation: str) -> RootCause | None:
    if isinstance(value, str) and value:
        return RootCause(value, "", impact, recommendation)
    return RootCause.from_dict(value) if as_mapping(value) else None


def _span(value: Any) -> SpanRef:
    found = as_mapping(value)
    return SpanRef(as_text(found.get("trace_id", "")), as_text(found.get("span_id", "")))
