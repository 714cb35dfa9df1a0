"""`show`: what happened in one run, step by step."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.diagnosis import Profile, diagnose
from analyzer.report.plain import one_line
from analyzer.session.model import Session
from critiqor_otel.cli import options
from critiqor_otel.cli.diagnose import look_of
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver
from critiqor_otel.cli.reading import Silent, read_runs
from critiqor_otel.cli.side import Side
from critiqor_otel.cli.timeline_view import view
from critiqor_otel.spool.run_folder import folder_of

__all__ = ["Request", "command", "show"]

_LISTED = 20  # run ids that a message names


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    run: str
    runs: str
    only: str | None
    profile: str
    keep_silent: bool
    quiet: bool


def show(request: Request) -> int:
    """Find the run, print its timeline, and return the exit code."""
    side = Side(quiet=request.quiet)
    paths = _paths(request.run, Path(request.runs))
    found = read_runs(paths, side=side, silent=Silent.KEPT if request.keep_silent else Silent.KEPT_IF_ALONE)
    if not found.sessions:
        side.fail(found.emptiness(paths))
        return ExitCode.UNREADABLE
    session = _one(found.sessions, request)
    verdict = diagnose(session, profile=Profile(request.profile))
    deliver(view(session, verdict, look_of(STANDARD_OUTPUT)), STANDARD_OUTPUT)
    return ExitCode.FINE


def _paths(run: str, runs: Path) -> list[str]:
    """Return what to read for a run: a path as it is, or the folders of a run id, continuations among them."""
    if run == "-" or _is_there(Path(run)):
        return [run]
    folder = folder_of(run)
    there = sorted(str(path) for path in (runs / folder, *runs.glob(f"{folder}~*")) if _is_there(path))
    if not there:
        raise click.UsageError(f"{run!r} is no path, and {runs} holds no run of that id")
    return there


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # no file can bear so long a name
        return False


def _one(sessions: Sequence[Session], request: Request) -> Session:
    if request.only is not None:
        sessions = [session for session in sessions if request.only in (session.run_id, one_line(session.run_id))]
        if not sessions:
            raise click.UsageError(f"{request.run} holds no run {request.only!r}")
    if len(sessions) > 1:
        names = "\n".join(f"  {one_line(session.run_id)}" for session in sessions[:_LISTED])
        raise click.UsageError(f"{request.run} holds {len(sessions)} runs: choose one with --only ID\n{names}")
    return sessions[0]


@click.command(
    name="show",
    epilog="""\b
Examples:
  critiqor-otel show traces/agent.otlp.jsonl
  critiqor-otel show run_001""",
)
@click.argument("run", metavar="RUN")
@click.option("--runs", metavar="FOLDER", default="runs", show_default=True, help="Where to look for a run id.")
@click.option("--only", metavar="ID", help="The run to show, where RUN holds several.")
@options.profile
@options.keep_silent
@options.quiet
def command(**given: Any) -> int:
    """Show what happened in a run, step by step.

    RUN is the id of a run below --runs, or a path: a session file, a run's folder or a trace. Events that a failure
    points to are marked with an arrow.
    """
    return show(Request(**given))
