"""What a diagnosis says of a run, in the words of the evaluation: a record of it and a line in the list of runs.

Reads the run object of `critiqor.diagnosis.v1` and the original's diagnosis.json (specification §3.6).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from analyzer.evaluation.frozen import document
from analyzer.evaluation.judgement import confidence_of
from analyzer.evaluation.record import EvaluationRecord, as_causes
from analyzer.evaluation.words import (
    DEPLOYMENT_RECOMMENDATIONS,
    EVIDENCE_LEVELS,
    DeploymentRecommendation,
    EvidenceLevel,
)
from analyzer.lenient import as_counts, as_mapping, as_number, as_optional_text, as_text, as_whole, as_word

__all__ = ["DEFAULT_AGENT", "RunSummary", "is_diagnosis", "record_of_diagnosis"]

DEFAULT_AGENT = "default"
"""Who ran when nobody says (specification §6)."""

_READINESS: dict[Any, DeploymentRecommendation] = {"ready_for_runtime": "safe_to_deploy"}  # the original's third word

# Each fact and the places it may stand in, newest form first.
_PLACES: dict[str, tuple[tuple[str, ...], ...]] = {
    "agent_id": (("agent", "name"), ("agent_id",), ("agent", "framework"), ("agent",)),
    "causes": (("failure_causes",), ("failure_analysis", "failure_causes")),
    "confidence": (("evaluation_confidence",),),
    "exit_code": (("exit_code",), ("runtime_metrics", "exit_code")),
    "latency": (("runtime_metrics", "latency"),),
    "level": (("evidence_level",), ("executive_summary", "evidence_level")),
    "outputs": (("evidence_summary", "tool_outputs"), ("evidence_panel", "tool_outputs")),
    "primary": (("primary_diagnosis", "root_cause_failure_type"),),
    "readiness": (("readiness_level",), ("executive_summary", "readiness_level")),
    "events": (("evidence_summary", "event_count"), ("executive_summary", "event_count")),
    "timestamp": (("timestamp",), ("created_at",)),
    "tokens": (("evidence_summary", "tokens", "total"), ("cost_analysis", "total_tokens")),
    "trust": (("trust_score",), ("executive_summary", "trust_score")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One line in the list of runs; None where the diagnosis does not say."""

    run_id: str
    agent_id: str = DEFAULT_AGENT
    timestamp: str = ""
    """When it started, ISO 8601; empty when unknown."""
    status: str | None = None
    trust_score: int | None = None
    readiness: str | None = None
    primary_failure: str | None = None
    exit_code: int | None = None
    latency: float | None = None
    """Seconds."""
    tokens: int | None = None
    path: str | None = None
    """The file its verdict or its evidence was read from, as it was given."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as a JSON-serialisable dict."""
        return document({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the summary of a dict; what can't be read is None."""
        found = as_mapping(payload)
        return cls(
            run_id=as_text(found.get("run_id", "")),
            agent_id=as_text(found.get("agent_id", DEFAULT_AGENT)),
            timestamp=as_text(found.get("timestamp", "")),
            status=as_optional_text(found.get("status")),
            trust_score=_whole(found.get("trust_score")),
            readiness=as_optional_text(found.get("readiness")),
            primary_failure=as_optional_text(found.get("primary_failure")),
            exit_code=_whole(found.get("exit_code")),
            latency=as_number(found.get("latency")),
            tokens=_whole(found.get("tokens")),
            path=as_optional_text(found.get("path")),
        )

    @classmethod
    def of_diagnosis(cls, diagnosis: Mapping[str, Any], *, timestamp: str = "", path: str | None = None) -> Self:
        """Return the line for a diagnosed run; its own time goes before the one given."""
        return cls(
            run_id=as_text(diagnosis.get("run_id", "")),
            agent_id=_agent(diagnosis),
            timestamp=as_text(_fact(diagnosis, "timestamp") or timestamp),
            status=as_optional_text(diagnosis.get("status")),
            trust_score=_whole(_fact(diagnosis, "trust")),
            readiness=as_optional_text(_fact(diagnosis, "readiness")),
            primary_failure=as_optional_text(_fact(diagnosis, "primary")),
            exit_code=_whole(_fact(diagnosis, "exit_code")),
            latency=as_number(_fact(diagnosis, "latency")),
            tokens=_whole(_fact(diagnosis, "tokens")),
            path=path,
        )


def is_diagnosis(payload: Mapping[str, Any]) -> bool:
    """Return whether a dict is a run's diagnosis: it has a readiness level, and no recommendation of its own."""
    return "deployment_recommendation" not in payload and _fact(payload, "readiness") is not None


def record_of_diagnosis(diagnosis: Mapping[str, Any], *, timestamp: str = "") -> EvaluationRecord:
    """Return the evaluation record of a diagnosed run.

    Its confidence is computed from the evidence that the diagnosis counts, unless the diagnosis states one.
    """
    causes = as_causes(_fact(diagnosis, "causes"))
    level: EvidenceLevel = as_word(_fact(diagnosis, "level"), EVIDENCE_LEVELS, "response_only")
    stated = _fact(diagnosis, "confidence")
    computed = confidence_of(
        level,
        outputs=bool(_fact(diagnosis, "outputs")),
        latency=_fact(diagnosis, "latency") is not None,
        trace=bool(_fact(diagnosis, "events")),
        causes=causes,
    )
    readiness = _fact(diagnosis, "readiness")
    return EvaluationRecord(
        run_id=as_text(diagnosis.get("run_id", "")),
        agent_id=_agent(diagnosis),
        timestamp=as_text(_fact(diagnosis, "timestamp") or timestamp),
        scores=as_counts(diagnosis.get("scores")),
        failure_causes=causes,
        trust_score=as_whole(_fact(diagnosis, "trust")),
        evidence_level=level,
        evaluation_confidence=computed if stated is None else as_whole(stated),
        deployment_recommendation=as_word(
            _READINESS.get(readiness, readiness) if isinstance(readiness, str) else readiness,
            DEPLOYMENT_RECOMMENDATIONS,
            "review_recommended",
        ),
    )


def _fact(diagnosis: Mapping[str, Any], name: str) -> Any:
    for place in _PLACES[name]:
        value: Any = diagnosis
        for key in place:
            value = as_mapping(value).get(key)
        if value is not None:
            return value
    return None


def _agent(diagnosis: Mapping[str, Any]) -> str:
    name = _fact(diagnosis, "agent_id")
    return name if isinstance(name, str) and name else DEFAULT_AGENT


def _whole(value: Any) -> int | None:
    return None if as_number(value) is None else as_whole(as_number(value))
