"""`compare`: what changed from one run, or folder of runs, to another?"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.evaluation.benchmark import benchmark_run
from analyzer.evaluation.comparison import RunComparison, compare_runs
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.runs import as_record
from analyzer.report.json_form import encode_json
from critiqor_otel.cli import options
from critiqor_otel.cli.columns import aligned, shown
from critiqor_otel.cli.evaluations import read_evaluations
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.histories import open_history
from critiqor_otel.cli.product import deliver
from critiqor_otel.cli.side import Side

__all__ = ["Request", "command", "compare"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    before: str
    after: str
    runs: str
    form: str
    output: str
    profile: str
    config: str | None = None
    quiet: bool


def compare(request: Request) -> int:
    """Print what changed."""
    side = Side(quiet=request.quiet)
    before, after = (_side_of(given, request, side) for given in (request.before, request.after))
    deliver(_FORMS[request.form](before, after, compare_runs(before, after)), request.output)
    return ExitCode.FINE


def _side_of(given: str, request: Request, side: Side) -> EvaluationRecord:
    """Return the run that a path holds or an id names; several runs are their averages."""
    if not Path(given).exists():
        with open_history(request.runs, side=side) as history:
            record = history.record(given)
        if record is None:
            raise click.UsageError(f"{given!r} is no path, and the history of {request.runs} holds no run of that id")
        return record
    records = read_evaluations((given,), side=side, profile=request.profile, config=request.config)
    if len(records) == 1:
        return records[0]
    side.say(f"{given} holds {len(records)} runs: their averages are compared")
    return as_record(benchmark_run(records))


def _table(before: EvaluationRecord, after: EvaluationRecord, changed: RunComparison) -> Iterator[bytes]:
    rows = [["", "BEFORE", "AFTER", "CHANGE"]]
    rows.append(["trust", shown(before.trust_score), shown(after.trust_score), f"{changed.trust_change:+d}"])
    rows += (
        [dimension, shown(before.scores.get(dimension)), shown(after.scores.get(dimension)), f"{change:+d}"]
        for dimension, change in changed.changes.items()
    )
    yield from aligned(rows)
    yield from aligned([[changed.summary]])


def _document(_before: EvaluationRecord, _after: EvaluationRecord, changed: RunComparison) -> Iterator[bytes]:
    yield encode_json(changed.to_dict()) + b"\n"


_FORMS = {"table": _table, "json": _document}


@click.command(
    name="compare",
    epilog="""\b
Examples:
  critiqor-otel compare traces/agent.otlp.jsonl runs/
  critiqor-otel compare run_001 run_002""",
)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--runs", metavar="FOLDER", default="runs", show_default=True, help="Where to look for a run id.")
@options.form_of("table", "json")
@options.output_file
@options.profile
@options.config
@options.quiet
def command(**given: Any) -> int:
    """Tell what changed from A to B, in trust and in each dimension.

    A and B are each a trace, a session file, a folder of either, a verdict, or the id of a run in the history of
    --runs. Where there are several runs, their averages count.
    """
    return compare(Request(**given))
