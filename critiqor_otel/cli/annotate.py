"""`annotate`: runs in, the verdict on each as spans of its own trace, to any OTLP endpoint."""

from typing import Any

import click
import msgspec

from analyzer.diagnosis import Profile, diagnose
from critiqor_otel.annotate.verdict_spans import verdict_spans
from critiqor_otel.cli import options
from critiqor_otel.cli.configuration import read_options
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.reading import read_runs
from critiqor_otel.cli.sending import endpoint, protocol, sending, settings_for
from critiqor_otel.cli.side import Side
from critiqor_otel.emit.otlp_settings import Protocol, host_of
from critiqor_otel.emit.replay import Replayed

__all__ = ["Request", "annotate", "command"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    paths: tuple[str, ...]
    endpoint: str | None
    protocol: Protocol | None
    profile: str
    config: str | None = None
    group_by: str | None
    quiet: bool


def annotate(request: Request) -> int:
    """Diagnose the runs, send the verdicts, say what was sent, and return the exit code."""
    side = Side(quiet=request.quiet)
    settings = settings_for(request.endpoint, request.protocol)
    found = read_runs(request.paths, side=side, group_by=request.group_by)
    if not found.sessions:
        side.fail(found.emptiness(request.paths))
        return ExitCode.UNREADABLE
    profile, rules, sent = Profile(request.profile), read_options(request.config), Replayed()
    with sending(settings, side) as exporter:
        for session in side.follow(found.sessions, label="annotating", total=len(found.sessions)):
            sent.sessions += 1
            sent.send(
                verdict_spans(session, diagnose(session, profile=profile, options=rules)), exporter.export_neutral
            )
    runs, host = "run" if sent.sessions == 1 else "runs", host_of(settings.endpoint)
    if not sent.is_whole:
        side.fail(f"{exporter.lost + exporter.rejected} of {sent.spans} spans were not taken by {host}")
        return ExitCode.USAGE
    side.say(f"the verdicts on {sent.sessions} {runs} were sent to {host}, as {sent.spans} spans")
    return ExitCode.FINE


@click.command(
    name="annotate",
    epilog="""\b
Examples:
  critiqor-otel annotate runs/run_001 --endpoint http://localhost:4318
  critiqor-otel annotate 'jaeger://localhost:16686?service=agent' --endpoint http://localhost:4318""",
)
@options.paths
@endpoint
@protocol
@options.profile
@options.config
@options.group_by
@options.quiet
def command(**given: Any) -> int:
    """Send the verdict on each run as spans of the run's own trace, linked to their evidence.

    Below the agent's span stands critiqor.diagnosis (an error where the run is unsafe), below it a span a failure. Sent
    again, they are the same spans. They are no evidence: reading the trace again gives the same session.
    """
    return annotate(Request(**given))
