"""`doctor`: what traces carry, which detectors can't run and why, and what to switch on."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.bulk import bulk_work
from critiqor_otel.cli import options
from critiqor_otel.cli.checkup_view import FORMS
from critiqor_otel.cli.diagnose import look_of
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.product import deliver
from critiqor_otel.cli.reading import Found, read_runs
from critiqor_otel.cli.side import Side
from critiqor_otel.engine.checkup import checkup

__all__ = ["Request", "command", "doctor"]

_ENDPOINT = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://|[\w.-]+:\d{1,5}/?$")
_SHOWN_SCOPES = 8


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    paths: tuple[str, ...]
    form: str
    output: str
    quiet: bool


def doctor(request: Request) -> int:
    """Read the paths, print what their traces carry, and return the exit code.

    Raises:
        click.UsageError: a path is an endpoint.
    """
    for path in request.paths:
        if _ENDPOINT.match(path) and not Path(path).exists():
            raise click.UsageError(f"{path!r} is an endpoint and not yet a path: doctor reads files and folders.")
    side = Side(quiet=request.quiet)
    with bulk_work():
        found = read_runs(request.paths, side=side, output=request.output)
        if not found.sessions:
            side.fail(found.emptiness(request.paths))
            side.fail(_strangers(found))
            return ExitCode.UNREADABLE
        result = checkup(side.follow(found.sessions, label="looking"))
        deliver(FORMS[request.form](result, found, look_of(request.output)), request.output)
    return ExitCode.FINE


def _strangers(found: Found) -> str:
    """Say who wrote the spans in which no agent speaks."""
    scopes = Counter(span.scope.name or "(unnamed)" for span in found.evidence.spans)
    if not scopes:
        return "Give doctor the files that an exporter of traces wrote."
    shown = sorted(scopes.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN_SCOPES]
    return f"They come from {', '.join(f'{name} ({count})' for name, count in shown)}: instrument the agent too."


@click.command(
    name="doctor",
    epilog="""\b
Examples:
  critiqor-otel doctor traces/
  critiqor-otel doctor traces/agent.otlp.jsonl --format json""",
)
@options.paths
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    default="table",
    show_default=True,
    help="A table for people, or one JSON document.",
)
@options.output_file
@options.quiet
def command(**given: Any) -> int:
    """Tell what traces carry, what is missing, and what to switch on.

    For each family of conventions that the input speaks: the facts that are there, those that are missing or there in
    part, the detectors that can't run without them, and the setting that brings each one. PATH is a trace file, a
    session file, a folder of either, or - for standard input.
    """
    return doctor(Request(**given))
