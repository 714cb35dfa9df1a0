"""What a diagnosis says of one run, and its JSON form (`critiqor.diagnosis.v1`, one entry of `runs`)."""

from typing import Any

import msgspec
from msgspec import Struct, field

from analyzer.causality.decisive import Candidate, RunRoots
from analyzer.causality.graph import RunGraph
from analyzer.cause import EvidenceLevel, FailureCause, Severity
from analyzer.cost import CostAnalysis
from analyzer.scoring import Readiness
from analyzer.session.model import Agent, Note
from analyzer.summary import EvidenceSummary, RunMetrics
from analyzer.timeline.ending import RunStatus
from analyzer.timeline.tokens import Tokens

__all__ = [
    "CostAnalysis",
    "Diagnosis",
    "EvidenceSummary",
    "PrimaryDiagnosis",
    "Readiness",
    "RunMetrics",
    "RunStatus",
    "Tokens",
]


class PrimaryDiagnosis(Struct, frozen=True, kw_only=True):
    """The failure that weighs most, and how it came about."""

    root_cause_failure_type: str | None = None
    causal_chain_explanation: str = ""
    severity: Severity | None = None
    description: str | None = None


class Diagnosis(Struct, frozen=True, kw_only=True):
    """The verdict on one run."""

    run_id: str
    trace_ids: tuple[str, ...] = ()
    agent: Agent = field(default_factory=Agent)
    status: RunStatus = RunStatus.UNKNOWN
    trust_score: int | None = None
    """0 to 100; None where the evidence is insufficient."""
    readiness_level: Readiness = Readiness.INSUFFICIENT_EVIDENCE
    evidence_level: EvidenceLevel = "response_only"
    scores: dict[str, int] = field(default_factory=dict[str, int])
    """Dimension → 0 to 100, in the documented order."""
    failure_causes: tuple[FailureCause, ...] = ()
    primary_diagnosis: PrimaryDiagnosis = PrimaryDiagnosis()
    causal_graph: RunGraph = field(default_factory=RunGraph)
    roots: RunRoots = field(default_factory=RunRoots)
    """Where the run may have been lost (profile `standard`)."""
    cost_analysis: CostAnalysis = field(default_factory=CostAnalysis)
    runtime_metrics: RunMetrics = field(default_factory=RunMetrics)
    evidence_summary: EvidenceSummary = field(default_factory=EvidenceSummary)
    notes: tuple[Note, ...] = ()

    @property
    def main_node(self) -> str | None:
        """The id of the main failure's node in the graph; None in a run without failures."""
        named = self.primary_diagnosis
        nodes = [node for node in self.causal_graph.nodes if node.kind == "failure"]
        for cause, node in zip(self.failure_causes, nodes, strict=False):
            if (cause.type, cause.description) == (named.root_cause_failure_type, named.description):
                return node.id
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the run object of `critiqor.diagnosis.v1` as plain dicts, lists, strings and numbers."""
        return {**self.document(), "causal_graph": _graph(self.causal_graph)}

    def document(self) -> dict[str, Any]:
        """Return the run object for an encoder, which takes the graph as it is: most of what a diagnosis holds."""
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
            "causal_graph": self.causal_graph,
            "roots": _roots(self.roots),
            "cost_analysis": self.cost_analysis.to_dict(),
            "runtime_metrics": _metrics(self.runtime_metrics),
            "evidence_summary": {
                **msgspec.to_builtins(self.evidence_summary),
                "missing": list(self.evidence_summary.missing),
            },
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
        "root_cause": None if cause.root_cause is None else cause.root_cause.to_dict(),
        "recommendation": cause.recommendation,
        "marks": list(cause.marks),
        "fingerprint": cause.fingerprint,
    }


def _graph(graph: RunGraph) -> dict[str, Any]:
    return {
        "nodes": [msgspec.to_builtins(node) for node in graph.nodes],
        "edges": [msgspec.to_builtins(edge) for edge in graph.edges],
    }


def _roots(roots: RunRoots) -> dict[str, Any]:
    """Return the one root of the run (null: none), the ranked candidates, and those of each failure."""
    candidates = [_candidate(candidate) for candidate in roots.candidates]
    return {
        "primary": candidates[0] if candidates else None,
        "candidates": candidates,
        "failures": [
            {"failure": found.failure, "candidates": [_candidate(candidate) for candidate in found.candidates]}
            for found in roots.failures
        ],
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(candidate)
    return {**found, **{name: list(found[name]) for name in ("signs", "failures", "path")}}


def _metrics(metrics: RunMetrics) -> dict[str, Any]:
    """Return latency, retries and errors, and the exit code of a run that is a process."""
    ended = {} if metrics.exit_code is None else {"exit_code": metrics.exit_code}
    return {"latency": metrics.latency, "retries": metrics.retries, "errors": list(metrics.errors), **ended}


def _note(note: Note) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(note)
    return {key: value for key, value in found.items() if value is not None}
