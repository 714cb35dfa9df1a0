"""`diagnose`: files, folders, session files or runs in, a verdict a run out."""

import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from importlib import import_module
from typing import Any, BinaryIO

import click
import msgspec

from analyzer.bulk import bulk_work
from analyzer.cause import Severity
from analyzer.detectors.detector import Options
from analyzer.diagnosis import Profile
from analyzer.report.forms import FORMS, form_named
from analyzer.report.report import Look, Report, RunReport
from analyzer.report.words import SEVERITY_ORDER
from critiqor_otel.cli import options
from critiqor_otel.cli.baselining import BaselineRequest, Baselining, baseline_options
from critiqor_otel.cli.beside import fail_on_unwritten, write_beside
from critiqor_otel.cli.configuration import read_options
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.keeping import Stores, keep
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver
from critiqor_otel.cli.reading import Found, read_runs
from critiqor_otel.cli.scale import Scale, scale_options
from critiqor_otel.cli.side import Side
from critiqor_otel.cli.standard_input import held_or_filed
from critiqor_otel.cli.watching import check_watchable, watch
from critiqor_otel.engine.local import diagnosed
from critiqor_otel.errors import OutputError
from critiqor_otel.formats.inputs import inputs_of, is_remote

__all__ = ["PARQUET", "Request", "Worst", "command", "diagnose", "look_of", "settle", "today"]

_NEVER = "never"
_PAGES = "html"
PARQUET = "parquet"
"""The form that is a folder of tables, made in parts."""


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
    baseline: str | None
    update_baseline: bool
    baseline_reason: str
    baseline_expires: datetime | None
    jaeger_url: str | None
    quiet: bool
    engine: str = "local"
    scheduler: str | None = None
    jobs: int | None = None
    memory: int = 1 << 30
    work: str | None = None
    resume: bool = False
    watch: bool = False
    verbose: bool = False

    @property
    def scale(self) -> Scale:
        """What is asked for of a large input."""
        return Scale(
            engine=self.engine,
            scheduler=self.scheduler,
            jobs=self.jobs,
            memory=self.memory,
            work=self.work,
            resume=self.resume,
        )

    @property
    def is_in_parts(self) -> bool:
        """Whether it is asked for that the work is done in parts, however small it is."""
        return self.form == PARQUET or self.is_for_a_folder or self.scale.is_asked_for

    @property
    def is_for_a_folder(self) -> bool:
        """Whether the product is a folder of JSON lines: its name ends in a slash, or is an address elsewhere."""
        return self.form == "jsonl" and (self.output.endswith("/") or is_remote(self.output))

    @property
    def most_held(self) -> int:
        """The bytes of standard input that are held in memory; -1 where not even none are."""
        return -1 if self.is_in_parts else self.scale.most_held

    @property
    def look(self) -> Look:
        """How the report is shown where it goes."""
        least = None if self.fail_on == _NEVER else Severity(self.fail_on)
        return msgspec.structs.replace(look_of(self.output), fail_on=least)

    @property
    def baselining(self) -> BaselineRequest:
        """What is asked for of a baseline."""
        expires = None if self.baseline_expires is None else self.baseline_expires.date()
        return BaselineRequest(
            file=self.baseline, update=self.update_baseline, reason=self.baseline_reason, expires=expires
        )


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
            causes = run.diagnosis.failure_causes
            self._rank = max(self._rank, *(cause.severity.rank for cause in causes if not run.is_known(cause)), -1)
            yield run

    def add(self, runs: int, severities: Iterable[Severity]) -> None:
        """Take so many runs, whose failures are of these severities; no baseline knows them."""
        self.runs += runs
        self._rank = max(self._rank, *(severity.rank for severity in severities), -1)

    def reaches(self, severity: str) -> bool:
        """Tell whether some failure that no baseline knows was at least this severe; nothing reaches `never`."""
        return severity != _NEVER and self._rank >= Severity(severity).rank


def diagnose(request: Request) -> int:
    """Read the paths, print the report, and return the exit code."""
    side = Side(quiet=request.quiet, verbose=request.verbose)
    request.scale.check()
    settings = read_options(request.config)
    with held_or_filed(inputs_of(request.paths), request.most_held) as (inputs, held):
        if request.is_in_parts or request.scale.in_parts(inputs):
            many = import_module("critiqor_otel.cli.diagnose_many")  # with processes, when they are worth it
            return int(many.diagnose_many(request, inputs, settings, side=side))
        return _diagnose_at_once(request, settings, side, held)


def _diagnose_at_once(request: Request, settings: Options, side: Side, standard_input: BinaryIO | None) -> int:
    worst = Worst()
    baseline = Baselining(request.baselining, today=today(), side=side)
    with bulk_work():
        found = read_runs(
            request.paths,
            side=side,
            group_by=request.group_by,
            output=request.output,
            standard_input=standard_input,
        )
        sessions = side.follow(found.sessions, label="diagnosing")
        runs = diagnosed(sessions, profile=Profile(request.profile), options=settings)
        watched = worst.watch(baseline.mark(_with_files(runs, found.files)))
        unwritten: list[OutputError] = []
        told = write_beside(watched, found.places, side=side, unwritten=unwritten) if request.write else watched
        stores = Stores(found.places, request.paths, request.history)
        kept = keep(told, found.sessions, stores, side=side)
        report = Report(runs=kept, skipped=found.skipped, notes=found.notes)
        look = request.look
        if request.form == _PAGES:
            _deliver_pages(report, found, request, side)
        else:
            deliver(form_named(request.form)(report, look), request.output)
    code = settle(request, worst, baseline, found.emptiness(request.paths), side=side)
    fail_on_unwritten(unwritten)
    return code


def settle(request: Request, worst: Worst, baseline: Baselining, emptiness: str, *, side: Side) -> int:
    """Say why there is no run, if so; renew the baseline, if asked; return the exit code."""
    if not worst.runs:
        side.fail(emptiness)
        return ExitCode.UNREADABLE
    baseline.finish()
    return ExitCode.FAILURES if worst.reaches(request.fail_on) else ExitCode.FINE


def _deliver_pages(report: Report, found: Found, request: Request, side: Side) -> None:
    pages = import_module("critiqor_otel.cli.html_pages")  # with its templates, when it is asked for
    wanted = pages.PagesRequest(output=request.output, profile=Profile(request.profile), jaeger=request.jaeger_url)
    pages.deliver_pages(report, found.sessions, wanted, side=side)


def _with_files(runs: Iterable[RunReport], files: Mapping[str, Sequence[str]]) -> Iterator[RunReport]:
    among_many = len({file for found in files.values() for file in found}) > 1
    for run in runs:
        found = tuple(files.get(run.diagnosis.run_id, ()))
        yield msgspec.structs.replace(run, files=found, among_many=among_many) if found else run


def today() -> date:
    """Return the day, UTC."""
    return datetime.now(UTC).date()  # noqa: TID251  # where the clock comes in


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
  critiqor-otel diagnose runs/ --format sarif --output critiqor.sarif
  critiqor-otel diagnose runs/ --baseline critiqor-baseline.json
  critiqor-otel diagnose - --format json --fail-on critical < traces/agent.otlp.jsonl""",
)
@options.paths
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMS, _PAGES, PARQUET]),
    default="table",
    show_default=True,
    help="A table for people, one JSON document, a JSON object a run and line, Markdown, or what CI systems read.",
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
@baseline_options
@scale_options
@options.jaeger_url
@click.option("--watch", is_flag=True, help="Diagnose again whenever a file changes, until Ctrl-C.")
@options.quiet
@options.verbose
def command(**given: Any) -> int:
    """Say what went wrong in each run, why, and how sure that is.

    PATH is a trace file, a session file, a folder of either (read with all its folders), or - for standard input. The
    format of a file is found by its content.
    """
    request = Request(**given)
    if request.watch:
        check_watchable(request.paths)
        watch(request.paths, lambda: _again(request), product=request.output, pause=time.sleep)
    return diagnose(request)


def _again(request: Request) -> None:
    """Diagnose, and begin on an empty screen where there is one."""
    if request.look.width is not None:
        click.clear()
    diagnose(request)
