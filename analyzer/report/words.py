"""The words and figures of a verdict as people read them, the same in every form of a report."""

from collections.abc import Mapping

from analyzer.cause import FailureCause, Severity
from analyzer.verdict import Diagnosis, EvidenceSummary, Readiness

__all__ = [
    "READINESS",
    "SEVERITY_ORDER",
    "agent",
    "also",
    "failure",
    "main_failure",
    "provenance",
    "root",
    "tokens",
    "tool_calls",
    "totals",
    "trust",
]

READINESS = {
    "safe_to_deploy": "safe to deploy",
    "review_recommended": "review recommended",
    "unsafe_for_production": "unsafe for production",
    "insufficient_evidence": "insufficient evidence",
}

SEVERITY_ORDER: tuple[Severity, ...] = (Severity.LOW, Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL)

_UNKNOWN = "?"

_COUNTED = {
    "safe_to_deploy": "safe",
    "review_recommended": "to review",
    "unsafe_for_production": "unsafe",
    "insufficient_evidence": "with insufficient evidence",
}


def agent(diagnosis: Diagnosis) -> str:
    """Return who ran: the agent's name, else its framework."""
    return diagnosis.agent.name or diagnosis.agent.framework or _UNKNOWN


def failure(cause: FailureCause | None) -> str:
    """Return a failure and its severity."""
    return "none found" if cause is None else f"{cause.type} ({cause.severity})"


def main_failure(diagnosis: Diagnosis, grave: FailureCause | None) -> str:
    """Return the failure that weighs most, else how many of severity low there are."""
    low = sum(cause.severity is Severity.LOW for cause in diagnosis.failure_causes)
    return f"none ({low} low)" if grave is None and low else failure(grave)


def trust(diagnosis: Diagnosis) -> str:
    """Return the trust score; `?` where the evidence is insufficient."""
    return _UNKNOWN if diagnosis.trust_score is None else str(diagnosis.trust_score)


def totals(verdicts: Mapping[Readiness, int]) -> str:
    """Return how many runs there are, and how many of each readiness."""
    parts = [
        f"{verdicts[Readiness(level)]} {word}" for level, word in _COUNTED.items() if verdicts.get(Readiness(level))
    ]
    return f"{sum(verdicts.values())} runs: {', '.join(parts)}"


def tool_calls(evidence: EvidenceSummary) -> str:
    """Return the number of tool calls and how many of them failed; `?` where the traces don't carry it."""
    if evidence.tool_calls is None:
        return _UNKNOWN
    return (
        f"{evidence.tool_calls} ({evidence.tool_errors} failed)" if evidence.tool_errors else str(evidence.tool_calls)
    )


def tokens(evidence: EvidenceSummary) -> str:
    """Return the token total; `≥` where some model call reported none, `?` where none did."""
    used = evidence.tokens
    if used.total is None:
        return _UNKNOWN
    return f"{used.total:,}" if used.complete else f"≥ {used.total:,}"


def provenance(cause: FailureCause) -> str:
    """Return how sure the finding is and where it comes from."""
    derived = f"derived by {cause.rule}" if cause.rule else cause.basis
    marks = "".join(f", {mark}" for mark in cause.marks)
    return f"confidence {cause.confidence}, {derived}, impact {cause.impact}{marks}"


def root(diagnosis: Diagnosis) -> str:
    """Return the step at which the run was lost, and why it is suspect; empty where none is known."""
    primary = diagnosis.roots.primary
    if primary is None:
        return ""
    return f"{primary.step} ({primary.event_id}): {primary.explanation}; confidence {primary.confidence}"


def also(diagnosis: Diagnosis, primary: FailureCause | None) -> list[str]:
    """Return the run's other failures above severity low, the worst first, equal ones counted."""
    counted: dict[str, int] = {}
    others = [
        cause for cause in diagnosis.failure_causes if cause is not primary and cause.severity is not Severity.LOW
    ]
    for cause in sorted(others, key=lambda cause: -SEVERITY_ORDER.index(cause.severity)):
        counted[failure(cause)] = counted.get(failure(cause), 0) + 1
    return [name if count == 1 else f"{count} times {name}" for name, count in counted.items()]
