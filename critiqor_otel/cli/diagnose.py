"""`diagnose`: files, folders, session files or runs in, a verdict a run out."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click
import msgspec

from analyzer.bulk import bulk_work
from analyzer.cause import Severity
from analyzer.diagnosis import Profile
from analyzer.report.forms import FORMS
from analyzer.report.report import Look, Report, RunReport
from analyzer.report.words import SEVERITY_ORDER
from critiqor_otel.cli import options
from critiqor_otel.cli.beside import write_beside
from critiqor_otel.cli.configuration import read_options
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.keeping import Stores, keep
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver
from critiqor_otel.cli.reading import read_runs
from critiqor_otel.cli.side import Side
from critiqor_otel.engine.local import diagnosed

__all__ = ["Request", "Worst", "command", "diagnose", "look_of"]

_NEVER = "never"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    paths: tuple[str, ...]
    form: str
    output: str
    profile: str
    config: str | None = None
    fail_on: str
    group_by: str | None
    write: bool
    history: str | None
    quiet: bool


class Worst:
    """The severities that pass by, of which only the worst is kept."""

    def __init__(self) -> None:
        """Begin with no run and no failure."""
        self.runs = 0
        self._rank = -1

    def watch(self, runs: Iterable[RunReport]) -> Iterator[RunReport]:
        """Yield the runs as they come."""
        for run in runs:
            self.runs += 1
            ranks = (SEVERITY_ORDER.index(cause.severity) for cause in run.diagnosis.failure_causes)
            self._rank = max(self._rank, *ranks, -1)
            yield run

    def reaches(self, severity: str) -> bool:
        """Tell whether some failure was at least this severe; nothing reaches `never`."""
        return severity != _NEVER and self._rank >= SEVERITY_ORDER.index(Severity(severity))


def diagnose(request: Request) -> int:
    """Read the paths, print the report, and return the exit code."""
    side = Side(quiet=request.quiet)
    worst = Worst()
    settings = read_options(request.config)
    with bulk_work():
        found = read_runs(request.paths, side=side, group_by=request.group_by, output=request.output)
        sessions = side.follow(found.sessions, label="diagnosing")
        runs = diagnosed(sessions, profile=Profile(request.profile), options=settings)
        watched = worst.watch(_with_files(runs, found.files))
        told = write_beside(watched, found.places, side=side) if request.write else watched
        stores = Stores(found.places, request.paths, request.history)
        kept = keep(told, found.sessions, stores, side=side)
        report = Report(runs=kept, skipped=found.skipped, notes=found.notes)
        deliver(FORMS[request.form](report, look_of(request.output)), request.output)
    if not worst.runs:
        side.fail(found.emptiness(request.paths))
        return ExitCode.UNREADABLE
    return ExitCode.FAILURES if worst.reaches(request.fail_on) else ExitCode.FINE


def _with_files(runs: Iterable[RunReport], files: Mapping[str, Sequence[str]]) -> Iterator[RunReport]:
    for run in runs:
        found = files.get(run.diagnosis.run_id)
        yield msgspec.structs.replace(run, files=tuple(found)) if found else run


def look_of(output: str) -> Look:
    """Return how to show a report where it goes: narrow and coloured on a terminal, whole and plain elsewhere."""
    if output != STANDARD_OUTPUT or sys.stdout is None or not sys.stdout.isatty():  # pyright: ignore[reportUnnecessaryComparison]  # closed by the caller (`>&-`)
        return Look()
    return Look(width=shutil.get_terminal_size().columns, colour=not os.environ.get("NO_COLOR"))


@click.command(
    name="diagnose",
    epilog="""\b
Examples:
  critiqor-otel diagnose traces/
  critiqor-otel diagnose runs/ --format markdown --output report.md
  critiqor-otel diagnose - --format json --fail-on critical < traces/agent.otlp.jsonl""",
)
@options.paths
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    default="table",
    show_default=True,
    help="A table for people, one JSON document, a JSON object a run and line, or Markdown.",
)
@options.output_file
@options.profile
@options.config
@click.option(
    "--fail-on",
    type=click.Choice([*(severity.value for severity in SEVERITY_ORDER), _NEVER]),
    default=Severity.HIGH.value,
    show_default=True,
    help="Exit with 1 when some run has a failure of this severity or a worse one.",
)
@options.group_by
@click.option("--write", is_flag=True, help="Also write diagnosis.json beside each session file that was read.")
@click.option(
    "--history",
    metavar="FILE",
    help="Keep all verdicts in this history; a folder of runs has its own (history.sqlite), which is filled anyway.",
)
@options.quiet
def command(**given: Any) -> int:
    """Say what went wrong in each run, why, and how sure that is.

    PATH is a trace file, a session file, a folder of either (read with all its folders), or - for standard input. The
    format of a file is found by its content.
    """
    return diagnose(Request(**given))
