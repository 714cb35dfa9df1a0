"""`replay`: session files in, the spans of their runs out, to any OTLP endpoint."""

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec

from critiqor_otel.cli import options
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.reading import Silent, read_runs
from critiqor_otel.cli.sending import endpoint, protocol, sending, settings_for
from critiqor_otel.cli.side import Side
from critiqor_otel.emit.otlp_exporter import OTLPSpanExporter
from critiqor_otel.emit.otlp_settings import Protocol, host_of
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.emit.replay import Replayed, follow, redacted, replay
from critiqor_otel.spool.run_files import SESSION_FILE

__all__ = ["Request", "command", "replay_runs"]

_LOOK_EVERY = 0.5  # seconds between two looks at a file that is followed


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    paths: tuple[str, ...]
    endpoint: str | None
    protocol: Protocol | None
    redact: bool
    follow: bool
    quiet: bool


def replay_runs(request: Request) -> int:
    """Send the runs, say what was sent, and return the exit code."""
    side = Side(quiet=request.quiet)
    if request.follow and len(request.paths) != 1:
        raise click.UsageError("--follow takes one session file")
    settings = settings_for(request.endpoint, request.protocol)
    with sending(settings, side) as exporter:
        sent = _followed(request, exporter, side) if request.follow else _replayed(request, exporter, side)
    if sent is None:
        return ExitCode.UNREADABLE
    runs, host = "run" if sent.sessions == 1 else "runs", host_of(settings.endpoint)
    if not sent.is_whole:
        side.fail(f"{exporter.lost + exporter.rejected} of {sent.spans} spans were not taken by {host}")
        return ExitCode.USAGE
    side.say(f"{sent.spans} spans of {sent.sessions} {runs} were sent to {host}")
    return ExitCode.FINE


def _replayed(request: Request, exporter: OTLPSpanExporter, side: Side) -> Replayed | None:
    found = read_runs(request.paths, side=side, silent=Silent.KEPT_IF_ALONE)
    if not found.sessions:
        side.fail(found.emptiness(request.paths))
        return None
    sessions = found.sessions
    if request.redact:
        rules = Redaction()
        sessions = [redacted(session, rules) for session in sessions]
    return replay(side.follow(sessions, label="sending", total=len(sessions)), exporter.export_neutral)


def _followed(request: Request, exporter: OTLPSpanExporter, side: Side) -> Replayed | None:
    given = Path(request.paths[0])
    path = given / SESSION_FILE if given.is_dir() else given
    side.say(f"following {path}; Ctrl-C ends")
    sent = follow(path, exporter.export_neutral, _until_sealed(path))
    if not sent.sessions:
        side.fail(f"{path} held no session that could be read")
        return None
    return sent


def _until_sealed(path: Path) -> Callable[[], bool]:
    """Return what waits for the next look: until the file is sealed, or the user has seen enough."""
    is_first = True

    def wait() -> bool:
        nonlocal is_first
        if not is_first:
            try:
                time.sleep(_LOOK_EVERY)
            except KeyboardInterrupt:
                return False
        is_first = False
        return not _is_sealed(path)

    return wait


def _is_sealed(path: Path) -> bool:
    try:
        return not stat.S_IMODE(os.stat(path).st_mode) & stat.S_IWUSR  # noqa: PTH116  # of the link's target
    except OSError:
        return False


@click.command(
    name="replay",
    epilog="""\b
Examples:
  critiqor-otel replay runs/run_001 --endpoint http://localhost:4318
  critiqor-otel replay runs/run_001/session.json --follow""",
)
@options.paths
@endpoint
@protocol
@click.option(
    "--redact", is_flag=True, help="Leave out what looks like a secret; the file does not come back whole then."
)
@click.option("--follow", is_flag=True, help="Send a session file as an agent writes it, until it is sealed or Ctrl-C.")
@options.quiet
def command(**given: Any) -> int:
    """Send sessions as spans to any OTLP endpoint, with the times they happened at.

    The same session gives the same spans: ids follow from the run id. Spans carry the events besides, so that a
    receiver of this package makes the same session of them again.
    """
    return replay_runs(Request(**given))
