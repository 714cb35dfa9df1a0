"""`trends`: do the agents of a history get better or worse, and what drives that?"""

from collections.abc import Iterator, Mapping
from typing import Any

import click
import msgspec

from analyzer.evaluation.insights import ReliabilityInsight, generate_insights
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.trends import TrendAnalysis, analyze_trends
from analyzer.report.json_form import encode_json
from critiqor_otel.cli import options
from critiqor_otel.cli.columns import aligned
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.histories import read_records
from critiqor_otel.cli.product import deliver
from critiqor_otel.cli.side import Side
from critiqor_otel.errors import UnreadableInputError

__all__ = ["Request", "command", "trends"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    history: str
    agent: str | None
    window: int | None
    form: str
    output: str
    quiet: bool


class _Course(msgspec.Struct, frozen=True):
    """One agent's way."""

    agent_id: str
    runs: int
    trend: TrendAnalysis
    insight: ReliabilityInsight


def trends(request: Request) -> int:
    """Print where each agent of the history is going."""
    side = Side(quiet=request.quiet)
    runs: dict[str, list[EvaluationRecord]] = {}
    for record in read_records(request.history, side=side):
        if request.agent in {None, record.agent_id}:
            runs.setdefault(record.agent_id, []).append(record)
    if not runs:
        of_whom = "" if request.agent is None else f" of {request.agent}"
        raise UnreadableInputError(f"{request.history} holds no evaluation{of_whom}")
    courses = [_course(agent, records[-(request.window or 0) :]) for agent, records in sorted(runs.items())]
    deliver(_FORMS[request.form](courses), request.output)
    return ExitCode.FINE


def _course(agent_id: str, records: list[EvaluationRecord]) -> _Course:
    return _Course(agent_id, len(records), analyze_trends(records), generate_insights(records))


def _table(courses: list[_Course]) -> Iterator[bytes]:
    rows = [["AGENT", "RUNS", "TREND", "TRUST A RUN", "MAIN FAILURES"]]
    rows += (
        [
            course.agent_id,
            f"{course.runs:,}",
            course.trend.trust_trend.replace("_", " "),
            f"{course.trend.trust_change:+d}",
            ", ".join(course.insight.primary_drivers) or "none",
        ]
        for course in courses
    )
    yield from aligned(rows)
    yield from aligned([["", ""], *([f"{course.agent_id}:", course.insight.summary] for course in courses)])


def _document(courses: list[_Course]) -> Iterator[bytes]:
    agents: list[Mapping[str, Any]] = [
        {
            "agent_id": course.agent_id,
            "runs": course.runs,
            "trend": course.trend.to_dict(),
            "insight": course.insight.to_dict(),
        }
        for course in courses
    ]
    yield encode_json({"agents": agents}) + b"\n"


_FORMS = {"table": _table, "json": _document}


@click.command(
    name="trends",
    epilog="""\b
Examples:
  critiqor-otel trends
  critiqor-otel trends runs/ --window 20 --format json""",
)
@options.history
@click.option("--agent", type=options.TEXT, metavar="NAME", help="Only this agent.")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Only the last N runs of each agent.")
@options.form_of("table", "json")
@options.output_file
@options.quiet
def command(**given: Any) -> int:
    """Tell whether agents get better or worse over their runs, and which failures drive that.

    HISTORY is a folder of runs, by default `runs`, a store, or a file of evaluations as JSON lines.
    """
    return trends(Request(**given))
