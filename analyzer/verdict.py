"""What a diagnosis says of one run, and its JSON form (`critiqor.diagnosis.v1`, one entry of `runs`)."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

import msgspec

from analyzer.causality.graph import CausalGraph
from analyzer.cause import FailureCause, Severity
from analyzer.session.model import Agent, Note
from analyzer.timeline.ending import RunStatus
from analyzer.timeline.tokens import Tokens

__all__ = [
    "CostAnalysis",
    "Diagnosis",
    "EvidenceLevel",
    "EvidenceSummary",
    "PrimaryDiagnosis",
    "Readiness",
    "RunStatus",
    "RuntimeMetrics",
    "Tokens",
]

EvidenceLevel = Literal["fully_instrumented", "trace_available", "response_only"]


class Readiness(StrEnum):
    """Whether an agent that behaves like this run may go to production."""

    SAFE_TO_DEPLOY = "safe_to_deploy"
    REVIEW_RECOMMENDED = "review_recommended"
    UNSAFE_FOR_PRODUCTION = "unsafe_for_production"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSummary:
    """How much evidence there is; None where the run's traces don't carry the fact."""

    event_count: int = 0
    event_counts: dict[str, int] = field(default_factory=dict[str, int])
    """Events by kind, in order of first appearance."""
    tool_calls: int | None = None
    tool_calls_by_name: dict[str, int] | None = None
    """Sorted by name."""
    tool_outputs: int | None = None
    memory_events: int = 0
    tool_errors: int | None = None
    retries: int = 0
    errors: int = 0
    state_transitions: int = 0
    model_calls: int | None = None
    tokens: Tokens = field(default_factory=Tokens)
    missing: tuple[str, ...] = ()
    """Facts not carried, or known to be carried in part, in a fixed order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAnalysis:
    """What the run cost and how much of it was for nothing."""

    total_tokens: int | None = None
    token_waste: int | None = None
    duplicate_calls: int | None = None
    """Calls that repeat an equal one; None when the run's traces don't carry tool calls or their arguments."""
    redundancy_score: int | None = None
    """Duplicates in percent of the tool calls."""
    cost_efficiency: int | None = None
    """100 less the redundancy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeMetrics:
    """How the run went, seen from outside."""

    latency: float | None = None
    """Seconds from the first event to the last; None when no two times are known."""
    retries: int = 0
    errors: tuple[str, ...] = ()
    """The different error texts in order of first appearance, shortened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimaryDiagnosis:
    """The failure that weighs most, and how it came about."""

    root_cause_failure_type: str | None = None
    causal_chain_explanation: str = ""
    severity: Severity | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The verdict on one run."""

    run_id: str
    trace_ids: tuple[str, ...] = ()
    agent: Agent = field(default_factory=Agent)
    status: RunStatus = RunStatus.UNKNOWN
    trust_score: int = 100
    """0 to 100."""
    readiness_level: Readiness = Readiness.INSUFFICIENT_EVIDENCE
    evidence_level: EvidenceLevel = "response_only"
    scores: dict[str, int] = field(default_factory=dict[str, int])
    """Dimension → 0 to 100, in the documented order."""
    failure_causes: tuple[FailureCause, ...] = ()
    primary_diagnosis: PrimaryDiagnosis = PrimaryDiagnosis()
    causal_graph: CausalGraph = field(default_factory=CausalGraph)
    cost_analysis: CostAnalysis = CostAnalysis()
    runtime_metrics: RuntimeMetrics = RuntimeMetrics()
    evidence_summary: EvidenceSummary = EvidenceSummary()
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the run object of `critiqor.diagnosis.v1` as plain dicts, lists, strings and numbers."""
        return {
            "run_id": self.run_id,
            "trace_ids": list(self.trace_ids),
            "agent": msgspec.to_builtins(self.agent),
            "status": self.status.value,
            "trust_score": self.trust_score,
            "readiness_level": self.readiness_level.value,
            "evidence_level": self.evidence_level,
            "scores": dict(self.scores),
            "failure_causes": [_cause(cause) for cause in self.failure_causes],
            "primary_diagnosis": msgspec.to_builtins(self.primary_diagnosis),
            "causal_graph": _graph(self.causal_graph),
            "cost_analysis": asdict(self.cost_analysis),
            "runtime_metrics": msgspec.to_builtins(self.runtime_metrics),
            "evidence_summary": msgspec.to_builtins(self.evidence_summary),
            "notes": [_note(note) for note in self.notes],
        }


def _cause(cause: FailureCause) -> dict[str, Any]:
    return {
        "type": cause.type,
        "severity": cause.severity.value,
        "confidence": cause.confidence.value,
        "basis": cause.basis,
        "rule": cause.rule,
        "impact": cause.impact,
        "description": cause.description,
        "evidence": list(cause.evidence),
        "spans": [msgspec.to_builtins(span) for span in cause.spans],
        "root_cause": None if cause.root_cause is None else asdict(cause.root_cause),
        "recommendation": cause.recommendation,
        "marks": list(cause.marks),
        "fingerprint": cause.fingerprint,
    }


def _graph(graph: CausalGraph) -> dict[str, Any]:
    return {
        "nodes": [msgspec.to_builtins(node) for node in graph.nodes],
        "edges": [msgspec.to_builtins(edge) for edge in graph.edges],
    }


def _note(note: Note) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(note)
    return {key: value for key, value in found.items() if value is not None}
