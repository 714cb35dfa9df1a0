"""A report as OpenMetrics text, for who pushes the figures of a batch to a gateway or a text file collector.

Source: https://prometheus.io/docs/specs/om/open_metrics_spec/ (OpenMetrics 1.0).
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from analyzer.detectors.registry import ALL
from analyzer.report.report import Look, Report
from analyzer.verdict import Diagnosis, Readiness, RunStatus

__all__ = ["render"]

_BOUNDS = (25, 49, 74, 89, 100)  # of trust: the caps of critical, high and medium failures are among them


class _Totals:
    """What is counted while the runs pass by."""

    def __init__(self) -> None:
        self.readiness: Counter[str] = Counter()
        self.status: Counter[str] = Counter()
        self.failures: Counter[tuple[str, str, str]] = Counter()
        self.failed_runs: Counter[str] = Counter()
        self.trust: Counter[int] = Counter()
        self.sums: Counter[str] = Counter()
        self.seconds = 0.0

    def add(self, verdict: Diagnosis) -> None:
        self.readiness[verdict.readiness_level.value] += 1
        self.status[verdict.status.value] += 1
        for cause in verdict.failure_causes:
            self.failures[cause.type, cause.severity.value, cause.confidence.value] += 1
        self.failed_runs.update({cause.type for cause in verdict.failure_causes})
        if verdict.trust_score is not None:
            self.trust[verdict.trust_score] += 1
        evidence, metrics = verdict.evidence_summary, verdict.runtime_metrics
        self.sums["tokens"] += evidence.tokens.total or 0
        self.sums["tool_calls"] += evidence.tool_calls or 0
        self.sums["tool_errors"] += evidence.tool_errors or 0
        self.sums["retries"] += metrics.retries or 0
        self.seconds += metrics.latency or 0.0


def render(report: Report, look: Look) -> Iterator[bytes]:
    """Yield the lines; every failure type is there, those that were not found as 0."""
    _ = look
    totals = _Totals()
    for run in report.runs:
        totals.add(run.diagnosis)
    for line in (*_lines(totals), "# EOF"):
        yield f"{line}\n".encode()


def _lines(totals: _Totals) -> Iterator[str]:
    types = [detector.failure_type for detector in ALL]
    for name, meaning, label, values, counts in (
        ("runs", "Runs diagnosed, by verdict.", "readiness", list(Readiness), totals.readiness),
        ("runs_by_status", "Runs diagnosed, by how they ended.", "status", list(RunStatus), totals.status),
        ("runs_with_failure", "Runs with a failure of the type.", "type", types, totals.failed_runs),
    ):
        yield from _head(name, "gauge", meaning)
        yield from (f'critiqor_{name}{{{label}="{_label(value)}"}} {counts[value]}' for value in values)
    yield from _head("failures", "gauge", "Failures found, by type, severity and confidence.")
    for (name, severity, confidence), count in sorted(totals.failures.items()):
        yield f'critiqor_failures{{type="{_label(name)}",severity="{severity}",confidence="{confidence}"}} {count}'
    yield from _histogram(totals.trust)
    for name, meaning in (
        ("tokens", "Tokens consumed, as far as runs tell."),
        ("tool_calls", "Tool calls made."),
        ("tool_errors", "Tool calls that failed."),
        ("retries", "Retries."),
    ):
        yield from _head(name, "gauge", meaning)
        yield f"critiqor_{name} {totals.sums[name]}"
    yield from _head("run_seconds", "gauge", "Time that all runs took together.")
    yield f"critiqor_run_seconds {totals.seconds:.3f}"


def _histogram(trust: Mapping[int, int]) -> Iterator[str]:
    yield from _head("trust_score", "gaugehistogram", "Trust scores of the runs that could be judged.")
    for bound in _BOUNDS:
        count = sum(count for score, count in trust.items() if score <= bound)
        yield f'critiqor_trust_score_bucket{{le="{bound}.0"}} {count}'
    yield f'critiqor_trust_score_bucket{{le="+Inf"}} {sum(trust.values())}'
    yield f"critiqor_trust_score_gcount {sum(trust.values())}"
    yield f"critiqor_trust_score_gsum {sum(score * count for score, count in trust.items())}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# TYPE critiqor_{name} {kind}"
    yield f"# HELP critiqor_{name} {meaning}"


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
