"""`show`: what happened in one run, step by step."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.causality.drawing import DRAWINGS, draw
from analyzer.causality.focus import focus
from analyzer.causality.graph import RELATIONS, Relation
from analyzer.diagnosis import Diagnosis, Profile, diagnose
from analyzer.report import words
from analyzer.report.plain import one_line
from analyzer.session.model import Session
from critiqor_otel.cli import options
from critiqor_otel.cli.columns import aligned
from critiqor_otel.cli.configuration import read_options
from critiqor_otel.cli.diagnose import look_of
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver
from critiqor_otel.cli.reading import Silent, read_runs
from critiqor_otel.cli.side import Side
from critiqor_otel.cli.timeline_view import view
from critiqor_otel.spool.run_folder import folder_of, run_id_of

__all__ = ["Request", "command", "show"]

_LISTED = 20  # runs that a message names


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    run: str
    runs: str
    only: str | None
    profile: str
    config: str | None = None
    keep_silent: bool
    graph: str | None = None
    whole: bool = False
    without: tuple[Relation, ...] = ()
    quiet: bool


def show(request: Request) -> int:
    """Find the run, print its timeline, and return the exit code."""
    side = Side(quiet=request.quiet)
    paths = _paths(request.run, Path(request.runs))
    found = read_runs(paths, side=side, silent=Silent.KEPT if request.keep_silent else Silent.KEPT_IF_ALONE)
    if not found.sessions:
        side.fail(found.emptiness(paths))
        return ExitCode.UNREADABLE
    profile = Profile(request.profile)
    session = _one(found.sessions, request, profile)
    verdict = diagnose(session, profile=profile, options=read_options(request.config))
    if request.graph is not None:
        deliver(_drawn(verdict, request), STANDARD_OUTPUT)
        return ExitCode.FINE
    deliver(view(session, verdict, look_of(STANDARD_OUTPUT)), STANDARD_OUTPUT)
    return ExitCode.FINE


def _drawn(verdict: Diagnosis, request: Request) -> Iterator[bytes]:
    """Yield the graph of a run: all of it, or what leads to its main failure; without failure, all of it."""
    failure = verdict.main_node
    graph = verdict.causal_graph
    if failure is not None and not request.whole:
        roots = next((found.candidates for found in verdict.roots.failures if found.failure == failure), ())
        graph = focus(graph, failure, roots[0].path if roots else ())
    yield draw(graph.without(*request.without), request.graph or "json").encode()


def _paths(run: str, runs: Path) -> list[str]:
    """Return what to read for a run: a path as it is, or the folders of a run id, continuations among them.

    The beginning of an id will do where only one run begins so.
    """
    if run == "-" or _is_there(Path(run)):
        return [run]
    there = _folders(folder_of(run), runs)
    if there:
        return there
    begun = _begun(run, runs)
    if len(begun) > 1:
        ids = [one_line(run_id_of(name) or name) for name in begun]
        raise click.UsageError(f"{len(ids)} runs in {runs} begin with {run!r}:\n{_listed(ids)}")
    if not begun:
        raise click.UsageError(f"{run!r} is no path, and {runs} holds no run of that id")
    return _folders(begun[0], runs)


def _folders(folder: str, runs: Path) -> list[str]:
    return sorted(str(path) for path in (runs / folder, *runs.glob(f"{folder}~*")) if _is_there(path))


def _begun(run: str, runs: Path) -> list[str]:
    """Return the folders of the runs whose id begins so, sorted; a long id is known by the beginning of its folder."""
    if not runs.is_dir():
        return []
    names = {path.name.partition("~")[0] for path in runs.iterdir() if path.is_dir() and path.name[0] != "."}
    return sorted(name for name in names if name.startswith(folder_of(run)) or (run_id_of(name) or "").startswith(run))


def _listed(lines: Sequence[str]) -> str:
    left = len(lines) - _LISTED
    return "\n".join(f"  {line}" for line in lines[:_LISTED]) + (f"\n  … and {left} more" if left > 0 else "")


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # no file can bear so long a name
        return False


def _one(sessions: Sequence[Session], request: Request, profile: Profile) -> Session:
    if request.only is not None:
        sessions = _named(request.only, sessions)
        if not sessions:
            raise click.UsageError(f"{request.run} holds no run {request.only!r}")
    if len(sessions) > 1:
        rows = [_row(session, profile) for session in sessions[:_LISTED]]
        lines = [row.decode().rstrip() for row in aligned(rows)] + [""] * (len(sessions) - _LISTED)
        raise click.UsageError(
            f"{request.run} holds {len(sessions)} runs: choose one with --only ID, or its beginning\n{_listed(lines)}"
        )
    return sessions[0]


def _named(name: str, sessions: Sequence[Session]) -> list[Session]:
    """Return the sessions of that id, else those whose id begins so; an id counts as it is printed, too."""
    exact = [session for session in sessions if name in (session.run_id, one_line(session.run_id))]
    if exact:
        return exact
    return [session for session in sessions if one_line(session.run_id).startswith(name)]


def _row(session: Session, profile: Profile) -> list[str]:
    verdict = diagnose(session, profile=profile)
    return [session.run_id, words.agent(verdict), verdict.status, words.READINESS[verdict.readiness_level]]


@click.command(
    name="show",
    epilog="""\b
Examples:
  critiqor-otel show traces/agent.otlp.jsonl
  critiqor-otel show run_001
  critiqor-otel show run_001 --graph mermaid""",
)
@click.argument("run", metavar="RUN")
@click.option("--runs", metavar="FOLDER", default="runs", show_default=True, help="Where to look for a run id.")
@click.option(
    "--only",
    type=options.TEXT,
    metavar="ID",
    help="The run to show, where RUN holds several; the beginning of its id will do.",
)
@options.profile
@options.config
@click.option("--graph", type=click.Choice(list(DRAWINGS)), help="Print what led to the main failure as a graph.")
@click.option("--whole", is_flag=True, help="With --graph: the whole run's graph, each event and edge of it.")
@click.option("--without", multiple=True, type=click.Choice(RELATIONS), help="With --graph: leave such edges out.")
@options.keep_silent
@options.quiet
def command(**given: Any) -> int:
    """Show what happened in a run, step by step.

    RUN is the id of a run below --runs or the beginning of one, or a path: a session file, a run's folder or a trace.
    Events that a failure
    points to are marked with an arrow.
    """
    return show(Request(**given))
