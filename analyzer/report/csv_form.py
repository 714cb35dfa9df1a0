"""A report as CSV (RFC 4180), a run a line, for spreadsheets: what is not known is empty, and no cell is a formula."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence

from analyzer.report.plain import one_line
from analyzer.report.report import Look, Report, RunReport

__all__ = ["csv_line", "render"]

# What a spreadsheet takes for the beginning of a formula.
# Source: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

_COLUMNS: Mapping[str, Callable[[RunReport], object]] = {
    "run_id": lambda run: run.diagnosis.run_id,
    "agent": lambda run: run.diagnosis.agent.name,
    "framework": lambda run: run.diagnosis.agent.framework,
    "status": lambda run: run.diagnosis.status.value,
    "trust_score": lambda run: run.diagnosis.trust_score,
    "readiness_level": lambda run: run.diagnosis.readiness_level.value,
    "evidence_level": lambda run: run.diagnosis.evidence_level,
    "primary_failure": lambda run: run.primary and run.primary.type,
    "primary_severity": lambda run: run.primary and run.primary.severity.value,
    "failures": lambda run: len(run.diagnosis.failure_causes),
    "new_failures": lambda run: sum(not run.is_known(cause) for cause in run.diagnosis.failure_causes),
    "tool_calls": lambda run: run.diagnosis.evidence_summary.tool_calls,
    "tool_errors": lambda run: run.diagnosis.evidence_summary.tool_errors,
    "model_calls": lambda run: run.diagnosis.evidence_summary.model_calls,
    "tokens": lambda run: run.diagnosis.evidence_summary.tokens.total,
    "tokens_complete": lambda run: run.diagnosis.evidence_summary.tokens.complete,
    "latency_seconds": lambda run: run.diagnosis.runtime_metrics.latency,
    "retries": lambda run: run.diagnosis.runtime_metrics.retries,
    "errors": lambda run: len(run.diagnosis.runtime_metrics.errors),
    "description": lambda run: run.primary and run.primary.description,
    "files": lambda run: ";".join(run.files),
}


def render(report: Report, look: Look) -> Iterator[bytes]:
    """Yield the lines, the names of the columns first."""
    _ = look
    yield csv_line(list(_COLUMNS))
    for run in report.runs:
        yield csv_line([_cell(value(run)) for value in _COLUMNS.values()])


def csv_line(cells: Sequence[str]) -> bytes:
    """Return the cells as a line; texts that a spreadsheet would calculate begin with an apostrophe."""
    line = io.StringIO()
    csv.writer(line).writerow([_harmless(one_line(cell)) for cell in cells])
    return line.getvalue().encode()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def _harmless(text: str) -> str:
    if not text.startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text  # a negative number
