"""Which reliability level does a run, or a benchmark, deserve?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote

from analyzer.evaluation.frozen import document, freeze
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.result import BenchmarkResult
from analyzer.evaluation.runs import as_record
from analyzer.evaluation.words import (
    CERTIFICATION_LEVELS,
    EVIDENCE_LEVELS,
    CertificationLevel,
    EvidenceLevel,
    has_severe,
)
from analyzer.lenient import as_mapping, as_text, as_whole, as_word

__all__ = ["COLOURS", "ReliabilityCertification", "badge_label", "certify_run"]

COLOURS: dict[CertificationLevel, str] = {
    "none": "lightgrey",
    "bronze": "cd7f32",
    "silver": "c0c0c0",
    "gold": "gold",
    "platinum": "blueviolet",
}
"""The badge's colour by level (specification §6)."""


@dataclass(frozen=True, slots=True)
class ReliabilityCertification:
    """The level a run reached, and what it was measured by."""

    certification_level: CertificationLevel
    trust_score: int
    percentile: int
    """Share of earlier runs that scored no more, 0 to 100."""
    markdown_badge: str
    criteria: Mapping[str, Any]
    """What was looked at beside trust and percentile."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "criteria", freeze(self.criteria))

    def to_dict(self) -> dict[str, Any]:
        """Return the five fields as a JSON-serialisable dict."""
        return document({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the certification of a dict; an unknown level is `none`."""
        found = as_mapping(payload)
        return cls(
            certification_level=as_word(found.get("certification_level"), CERTIFICATION_LEVELS, "none"),
            trust_score=as_whole(found.get("trust_score")),
            percentile=as_whole(found.get("percentile")),
            markdown_badge=as_text(found.get("markdown_badge", "")),
            criteria=as_mapping(found.get("criteria")),
        )


@dataclass(frozen=True, slots=True)
class _Step:
    """What a level asks for, at least."""

    level: CertificationLevel
    trust: int
    percentile: int
    confidence: int
    evidence: EvidenceLevel


# Specification §6, with the evidence that the documentation asks for and the original did not check at gold.
_LADDER = (
    _Step("platinum", 95, 95, 90, "fully_instrumented"),
    _Step("gold", 90, 85, 80, "trace_available"),
    _Step("silver", 80, 70, 70, "response_only"),
    _Step("bronze", 70, 50, 55, "response_only"),
)


def certify_run(run: Any, percentile: int | None = None) -> ReliabilityCertification:
    """Return the highest level whose every requirement the run meets.

    A high or critical failure, or a run that is unsafe, gets none. The percentile is the benchmark's own when a
    benchmark is given, and 100 where nothing is known to compare with.
    """
    record = as_record(run)
    rank = _percentile(run, percentile)
    level = _level(record, rank)
    return ReliabilityCertification(
        certification_level=level,
        trust_score=record.trust_score,
        percentile=rank,
        markdown_badge=_badge(level, rank),
        criteria={
            "evaluation_confidence": record.evaluation_confidence,
            "evidence_level": record.evidence_level,
            "high_severity_failures": has_severe(record.failure_causes),
            "deployment_recommendation": record.deployment_recommendation,
        },
    )


def _percentile(run: Any, given: int | None) -> int:
    if given is None:
        given = run.percentile if isinstance(run, BenchmarkResult) else as_mapping(run).get("percentile")
    return as_whole(given, 100)


def _level(record: EvaluationRecord, percentile: int) -> CertificationLevel:
    if has_severe(record.failure_causes) or record.deployment_recommendation == "unsafe_for_production":
        return "none"
    for step in _LADDER:
        if _meets(record, percentile, step):
            return step.level
    return "none"


def _meets(record: EvaluationRecord, percentile: int, step: _Step) -> bool:
    return (
        record.trust_score >= step.trust
        and percentile >= step.percentile
        and record.evaluation_confidence >= step.confidence
        and EVIDENCE_LEVELS.index(record.evidence_level) >= EVIDENCE_LEVELS.index(step.evidence)
    )


def badge_label(level: CertificationLevel, percentile: int) -> str:
    """Return what the badge says: the level and its place among the runs."""
    # The best of all is in the top one percent: the original's "Top 0%" reads as a mistake.
    return "not certified" if level == "none" else f"{level} Top {max(1, 100 - percentile)}%"


def _badge(level: CertificationLevel, percentile: int) -> str:
    label = badge_label(level, percentile)
    return f"![Critiqor: {label}](https://img.shields.io/badge/Critiqor-{quote(label, safe='')}-{COLOURS[level]})"
