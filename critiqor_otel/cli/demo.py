"""`demo`: a captured run of a real agent, from its trace to the verdict, in one command."""

import shlex
import shutil
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.diagnosis import Profile
from analyzer.report.forms import form_named
from analyzer.report.report import Report
from critiqor_otel.cli.beside import write_beside
from critiqor_otel.cli.diagnose import look_of
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver
from critiqor_otel.cli.reading import read_runs
from critiqor_otel.cli.side import Side
from critiqor_otel.engine.local import diagnosed, duplicates
from critiqor_otel.spool.sealed_runs import DIAGNOSIS_FILE, SESSION_FILE, Arrival, seal
from critiqor_otel.spool.whole_file import make_folder

__all__ = ["TRACE_FILE", "Request", "command", "demo"]

_NAME = "critiqor-otel"
TRACE_FILE = "support_agent.otlp.jsonl"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    output: str | None
    quiet: bool


def demo(request: Request) -> int:
    """Lay out the trace, seal its session, diagnose it, and tell where the files lie."""
    side = Side(quiet=request.quiet)
    folder = Path(request.output or tempfile.mkdtemp(prefix="critiqor-otel-demo-"))
    trace = _lay_out(folder)
    found = read_runs([str(trace)], side=side)
    repeats = duplicates(found.evidence.spans, found.sessions)
    sealed = [
        seal(session, Arrival(duplicates=count), runs=folder / "runs")
        for session, count in zip(found.sessions, repeats, strict=True)
    ]
    places = {
        session.run_id: [str(one.folder / SESSION_FILE)] for session, one in zip(found.sessions, sealed, strict=True)
    }
    runs = write_beside(diagnosed(found.sessions, profile=Profile.STANDARD), places, side=side)
    where = [f"\ntrace:    {trace}\n", *(f"session:  {one.folder / SESSION_FILE}\n" for one in sealed)]
    where += [f"verdict:  {one.folder / DIAGNOSIS_FILE}\n" for one in sealed]
    where += [f"\nSee it step by step: {_command()} show {shlex.quote(str(one.folder))}\n" for one in sealed]
    table = form_named("table")(Report(runs=runs), look_of(STANDARD_OUTPUT))
    deliver((*table, *(line.encode() for line in where)), STANDARD_OUTPUT)
    return ExitCode.FINE


def _command() -> str:
    """Return what to type: the name alone where the shell finds it, else the path it was started by."""
    return _NAME if shutil.which(_NAME) else shlex.quote(sys.argv[0])


def _lay_out(folder: Path) -> Path:
    make_folder(folder / "traces")
    trace = folder / "traces" / TRACE_FILE
    with as_file(files("critiqor_otel") / "demo_data" / TRACE_FILE) as shipped:
        shutil.copyfile(shipped, trace)
    return trace


@click.command(
    name="demo",
    epilog="""\b
Example:
  critiqor-otel demo""",
)
@click.option("--output", "-o", metavar="FOLDER", help="Where to lay the files; a new temporary folder by default.")
@click.option("--quiet", "-q", is_flag=True, help="No notes on standard error.")
def command(**given: Any) -> int:
    """Diagnose a captured run of a real agent that ships with this package.

    The trace was recorded from a pydantic-ai agent that asks its search tool the same question again and again.
    """
    return demo(Request(**given))
