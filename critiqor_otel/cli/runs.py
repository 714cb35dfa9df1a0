"""`runs`: the diagnosed runs of a history, chosen and sorted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click
import msgspec

from analyzer.detectors.pages import summaries
from analyzer.evaluation.diagnosed import RunSummary
from analyzer.evaluation.history.query import RunOrder, RunQuery
from analyzer.report.csv_form import csv_line
from analyzer.report.json_form import encode_json
from analyzer.report.words import READINESS
from analyzer.scoring import Readiness
from analyzer.timeline.ending import RunStatus
from critiqor_otel.cli import options
from critiqor_otel.cli.columns import aligned, shown
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.histories import open_history, rebuilt
from critiqor_otel.cli.meant import meant
from critiqor_otel.cli.product import deliver
from critiqor_otel.cli.side import Side

__all__ = ["Request", "command", "list_runs"]

# As the user says it, and as the history does.
_ORDERS: Mapping[str, RunOrder] = {
    "time": "at",
    "run": "run_id",
    "agent": "agent_id",
    "status": "status",
    "trust": "trust_score",
    "readiness": "readiness",
    "failure": "primary_failure",
    "exit-code": "exit_code",
    "latency": "latency",
    "tokens": "tokens",
}

_STATUSES = list(map(str, RunStatus))
_LEVELS = list(map(str, Readiness))

_COLUMNS: Mapping[str, Callable[[RunSummary], str]] = {
    "RUN": lambda run: run.run_id,
    "AGENT": lambda run: run.agent_id,
    "STARTED": lambda run: run.timestamp[:19] or "?",
    "STATUS": lambda run: shown(run.status),
    "TRUST": lambda run: shown(run.trust_score),
    "VERDICT": lambda run: READINESS.get(run.readiness or "", shown(run.readiness)),
    "MAIN FAILURE": lambda run: run.primary_failure or "none found",
    "EXIT": lambda run: shown(run.exit_code),
    "SECONDS": lambda run: shown(run.latency),
    "TOKENS": lambda run: shown(run.tokens),
}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    history: str
    agent: str | None
    status: str | None
    readiness: str | None
    failure: str | None
    sort: str
    reverse: bool
    limit: int | None
    rebuild: bool
    form: str
    output: str
    quiet: bool


def list_runs(request: Request) -> int:
    """Print the runs of the history that fit."""
    side = Side(quiet=request.quiet)
    if request.rebuild:
        rebuilt(request.history, side=side)
    query = RunQuery(
        agent_id=request.agent,
        status=request.status,
        readiness=request.readiness,
        primary_failure=request.failure,
        order=_ORDERS[request.sort],
        descending=request.reverse,
        limit=request.limit,
    )
    with open_history(request.history, side=side) as history:
        runs = history.runs(query)
    deliver(_FORMS[request.form](runs), request.output)
    if not runs:
        side.say(_nothing_fits(request))
    return ExitCode.FINE


def _nothing_fits(request: Request) -> str:
    hints = (
        meant(given, known) or there_is
        for given, known, there_is in (
            (request.status, _STATUSES, f"--status knows no {request.status!r}, but {', '.join(_STATUSES)}"),
            (request.readiness, _LEVELS, f"--readiness knows no {request.readiness!r}, but {', '.join(_LEVELS)}"),
            (request.failure, list(summaries()), "`critiqor-otel explain` lists the failure types"),
        )
        if given is not None and given not in known
    )
    return "; ".join((f"no run in {request.history} fits", *hints))


def _table(runs: Sequence[RunSummary]) -> Iterator[bytes]:
    return aligned([list(_COLUMNS), *([value(run) for value in _COLUMNS.values()] for run in runs)])


def _document(runs: Sequence[RunSummary]) -> Iterator[bytes]:
    yield encode_json({"runs": [run.to_dict() for run in runs]}) + b"\n"


def _csv(runs: Sequence[RunSummary]) -> Iterator[bytes]:
    """Yield RFC 4180 lines; what is not known is empty."""
    names = list(RunSummary.__slots__)
    yield csv_line(names)
    for run in runs:
        values = run.to_dict()
        yield csv_line(["" if values[name] is None else str(values[name]) for name in names])


_FORMS = {"table": _table, "json": _document, "csv": _csv}


@click.command(
    name="runs",
    epilog="""\b
Examples:
  critiqor-otel runs
  critiqor-otel runs --sort trust --limit 10
  critiqor-otel runs --failure infinite_tool_loop --format csv
  critiqor-otel runs --rebuild""",
)
@options.history
@click.option("--agent", type=options.TEXT, metavar="NAME", help="Only runs of this agent.")
@click.option(
    "--status",
    type=options.TEXT,
    metavar="STATUS",
    help="Only runs that ended so: completed, failed, unfinished, unknown.",
)
@click.option(
    "--readiness", type=options.TEXT, metavar="LEVEL", help="Only runs of this verdict: safe_to_deploy and its like."
)
@click.option("--failure", type=options.TEXT, metavar="TYPE", help="Only runs whose main failure is of this type.")
@click.option("--sort", type=click.Choice(list(_ORDERS)), default="time", show_default=True, help="What to sort by.")
@click.option("--reverse", is_flag=True, help="The greatest or latest first; what is not known comes last either way.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="No more than N runs.")
@click.option("--rebuild", is_flag=True, help="First make the history again from the runs' diagnosis files.")
@options.form_of("table", "json", "csv")
@options.output_file
@options.quiet
def command(**given: Any) -> int:
    """List the runs of a history, with what became of each.

    That is trust, verdict, main failure, exit code, seconds and tokens; ? is what its evidence doesn't tell.

    HISTORY is a folder of runs, by default `runs`, or a store. `diagnose` of such a folder fills its history; where
    there is none, it is made from the verdicts that lie beside the runs.
    """
    return list_runs(Request(**given))
