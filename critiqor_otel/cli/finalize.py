"""`finalize`: sessions that a plugin wrote are sealed untouched, and diagnosed."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.cause import Severity
from analyzer.diagnosis import Profile
from analyzer.options import Options
from analyzer.report.forms import form_named
from analyzer.report.report import Report, RunReport
from analyzer.report.words import SEVERITY_ORDER
from analyzer.session.model import Session
from critiqor_otel.cli import options
from critiqor_otel.cli.beside import write_beside
from critiqor_otel.cli.configuration import read_options
from critiqor_otel.cli.diagnose import Worst, look_of
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.keeping import Stores, keep
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver
from critiqor_otel.cli.side import Side, spoken_facts
from critiqor_otel.engine.local import diagnosed
from critiqor_otel.spool.plugin_sessions import finalize_session, write_run_record
from critiqor_otel.spool.run_files import SESSION_FILE
from critiqor_otel.spool.run_folder import folder_of
from critiqor_otel.spool.spool_folder import SpoolFolder

__all__ = ["Request", "command", "finalize"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    runs_given: tuple[str, ...]
    runs: str
    profile: str
    config: str | None = None
    fail_on: str
    quiet: bool


def finalize(request: Request) -> int:
    """Seal the sessions, write their verdicts beside them, print the table, and return the exit code."""
    side = Side(quiet=request.quiet)
    settings = read_options(request.config)
    _take_over(request, settings, side)
    files = [_session_file(given, Path(request.runs)) for given in request.runs_given]
    sessions: list[Session] = []
    for file in files:
        session, is_new = finalize_session(file)
        side.say(f"{file}: {'sealed' if is_new else 'was sealed already'}")
        sessions.append(session)
    worst = Worst()
    verdicts = worst.watch(_written(sessions, files, request, settings, side))
    deliver(form_named("table")(Report(runs=verdicts), look_of(STANDARD_OUTPUT)), STANDARD_OUTPUT)
    return ExitCode.FAILURES if worst.reaches(request.fail_on) else ExitCode.FINE


def _take_over(request: Request, settings: Options, side: Side) -> None:
    """Seal what killed processes left in the folder of runs; it may be what is asked for."""
    if not SpoolFolder(Path(request.runs)).journal.is_dir():
        return
    from critiqor_otel.spool.left_behind import seal_left_behind  # noqa: PLC0415  # slow to load, and rarely needed
    from critiqor_otel.spool.owner import OwnerSettings  # noqa: PLC0415  # as above

    sealing = OwnerSettings(judged_by=Profile(request.profile), options=settings)
    seal_left_behind(
        Path(request.runs),
        sealing,
        now_ns=time.time_ns,
        tell=lambda word, facts: side.say(spoken_facts(word, facts)),
    )


def _written(
    sessions: list[Session], files: list[Path], request: Request, settings: Options, side: Side
) -> Iterator[RunReport]:
    profile = Profile(request.profile)
    for session, file in zip(sessions, files, strict=True):
        runs: Iterable[RunReport] = diagnosed([session], profile=profile, options=settings)
        places = {session.run_id: [str(file)]}
        kept = keep(runs, [session], Stores(places, [str(file.parent.parent)]), side=side)
        for run in write_beside(kept, places, side=side):
            if file.name == SESSION_FILE and file.resolve().parent.name == folder_of(session.run_id):
                write_run_record(session, run.diagnosis, file.parent.with_name(f"{file.parent.name}.json"))
            yield run


def _session_file(given: str, runs: Path) -> Path:
    """Return the session file of a path, or of a run id."""
    for path in (Path(given), Path(given) / SESSION_FILE, runs / folder_of(given) / SESSION_FILE, runs / given):
        if path.is_file():
            return path
    raise click.UsageError(f"{given!r} is no session file, no run's folder, and {runs} holds no run of that id")


@click.command(
    name="finalize",
    epilog="""\b
Examples:
  critiqor-otel finalize run_001
  critiqor-otel finalize .critiqor/runs/run_001/session.json""",
)
@click.argument("runs_given", nargs=-1, required=True, metavar="RUN…")
@click.option("--runs", metavar="FOLDER", default="runs", show_default=True, help="Where to look for a run id.")
@options.profile
@options.config
@click.option(
    "--fail-on",
    type=click.Choice([*(severity.value for severity in SEVERITY_ORDER), "never"]),
    default=Severity.HIGH.value,
    show_default=True,
    help="Exit with 1 when some run has a failure of this severity or a worse one.",
)
@options.quiet
def command(**given: Any) -> int:
    """Seal sessions that a plugin wrote, untouched, and diagnose them.

    RUN is a session file, a run's folder, or the id of a run below --runs. The file is made read-only, its digest is
    kept in receipt.json beside it, and its verdict in diagnosis.json. A session that was changed since is refused.
    What a `run` that was killed left in --runs is sealed first.
    """
    return finalize(Request(**given))
