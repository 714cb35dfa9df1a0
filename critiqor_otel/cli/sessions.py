"""`sessions`: files and folders in, one sealed session file a run out."""

from collections import Counter
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.bulk import bulk_work
from critiqor_otel.cli import options
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver
from critiqor_otel.cli.reading import Silent, read_runs
from critiqor_otel.cli.side import Side
from critiqor_otel.engine.local import duplicates
from critiqor_otel.spool.continuations import told_apart
from critiqor_otel.spool.run_files import SESSION_FILE
from critiqor_otel.spool.sealed_runs import Arrival, Sealed, seal

__all__ = ["Request", "command", "sessions"]

_OUTCOMES = {
    "written": "written",
    "unchanged": "already sealed with the same evidence: left alone",
    "continued": "sealed earlier with other evidence: this became its continuation",
}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    paths: tuple[str, ...]
    output: str
    group_by: str | None
    keep_silent: bool
    quiet: bool
    verbose: bool = False


def sessions(request: Request) -> int:
    """Read the paths, seal their sessions, print where they lie, and return the exit code."""
    side = Side(quiet=request.quiet, verbose=request.verbose)
    sealed: list[Sealed] = []
    with bulk_work():
        found = read_runs(
            request.paths,
            side=side,
            group_by=request.group_by,
            silent=Silent.KEPT if request.keep_silent else Silent.KEPT_IF_ALONE,
        )
        repeats = duplicates(found.evidence.spans, found.sessions)
        runs = Path(request.output)
        for session, repeated in side.follow(zip(told_apart(found.sessions), repeats, strict=True), label="writing"):
            sealed.append(seal(session, Arrival(duplicates=repeated), runs=runs))
    if not sealed:
        side.fail(found.emptiness(request.paths))
        return ExitCode.UNREADABLE
    for outcome, count in sorted(Counter(one.outcome for one in sealed).items()):
        side.say(f"{count} {'run' if count == 1 else 'runs'} {_OUTCOMES[outcome]}")
    deliver((f"{one.folder / SESSION_FILE}\n".encode() for one in sealed), STANDARD_OUTPUT)
    return ExitCode.FINE


@click.command(
    name="sessions",
    epilog="""\b
Example:
  critiqor-otel sessions traces/ --output runs/""",
)
@options.paths
@click.option(
    "--output",
    "-o",
    metavar="FOLDER",
    default="runs",
    show_default=True,
    help="The folder that gets a folder a run, with session.json and receipt.json in it, read-only.",
)
@options.group_by
@options.keep_silent
@options.quiet
@options.verbose
def command(**given: Any) -> int:
    """Write one session file a run, and nothing else.

    A session that is sealed is never written again: the same evidence leaves it alone, other evidence becomes a
    continuation beside it. The path of each session file is printed.
    """
    return sessions(Request(**given))
