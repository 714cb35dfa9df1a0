"""`demo`: a captured run of a real agent, from its trace to the verdict, in one command."""

import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import msgspec

from analyzer.diagnosis import Profile
from analyzer.report.forms import form_named
from analyzer.report.report import Report, RunReport
from analyzer.session.model import Session
from critiqor_otel.annotate.verdict_spans import verdict_spans
from critiqor_otel.cli.beside import write_beside
from critiqor_otel.cli.diagnose import look_of
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.html_pages import PagesRequest, deliver_pages
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver
from critiqor_otel.cli.reading import read_runs
from critiqor_otel.cli.sending import sending, settings_for
from critiqor_otel.cli.side import Side
from critiqor_otel.emit.otlp_settings import host_of
from critiqor_otel.emit.replay import Replayed
from critiqor_otel.emit.session_spans import spans_of
from critiqor_otel.engine.local import diagnosed, duplicates
from critiqor_otel.spool.run_files import DIAGNOSIS_FILE, SESSION_FILE
from critiqor_otel.spool.sealed_runs import Arrival, seal
from critiqor_otel.spool.whole_file import make_folder

__all__ = ["TRACE_FILE", "Request", "command", "demo"]

_NAME = "critiqor-otel"
_JAEGER = "http://localhost:16686"
TRACE_FILE = "support_agent.otlp.jsonl"
_REPORT_FILE = "report.html"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    output: str | None
    jaeger: str | None
    endpoint: str | None
    quiet: bool


def demo(request: Request) -> int:
    """Lay out the trace, seal its session, diagnose it, and tell where the files lie."""
    if request.endpoint is not None and request.jaeger is None:
        raise click.UsageError("--endpoint goes with --jaeger.")
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
    runs = list(write_beside(diagnosed(found.sessions, profile=Profile.STANDARD), places, side=side))
    page = folder / _REPORT_FILE
    deliver_pages(Report(runs=runs), found.sessions, PagesRequest(output=str(page), jaeger=request.jaeger), side=side)
    where = [f"\ntrace:    {trace}\n", *(f"session:  {one.folder / SESSION_FILE}\n" for one in sealed)]
    where += [f"verdict:  {one.folder / DIAGNOSIS_FILE}\n" for one in sealed]
    where.append(f"report:   {page}\n")
    where += [f"\nSee it step by step: {_command()} show {shlex.quote(str(one.folder))}\n" for one in sealed]
    table = form_named("table")(Report(runs=runs), look_of(STANDARD_OUTPUT))
    seen = True if request.jaeger is None else _send(found.sessions, runs, request, side)
    if request.jaeger is not None and seen:
        where += [f"See it in Jaeger:    {link}\n" for link in _links(found.sessions, request.jaeger)]
    deliver((*table, *(line.encode() for line in where)), STANDARD_OUTPUT)
    return ExitCode.FINE if seen else ExitCode.USAGE


def _send(sessions: Sequence[Session], runs: Sequence[RunReport], request: Request, side: Side) -> bool:
    """Send the runs and the verdicts on them; tell whether all was taken."""
    settings = settings_for(request.endpoint or _otlp_of(request.jaeger or ""))
    sent = Replayed()
    with sending(settings, side) as exporter:
        for session, run in zip(sessions, runs, strict=True):
            sent.send((*spans_of(session), *verdict_spans(session, run.diagnosis)), exporter.export_neutral)
    if not sent.is_whole:
        side.fail(f"{host_of(settings.endpoint)} did not take the run: is Jaeger there? --endpoint names its OTLP port")
    return sent.is_whole


def _otlp_of(jaeger: str) -> str:
    """Return where a Jaeger takes OTLP, on its usual port."""
    host = urlsplit(jaeger).hostname
    if host is None:
        raise click.UsageError(f"--jaeger takes the address of its page: {_JAEGER}")
    return f"http://{f'[{host}]' if ':' in host else host}:4318"


def _links(sessions: Iterable[Session], jaeger: str) -> Iterator[str]:
    for session in sessions:
        for trace_id in session.trace_ids:
            yield f"{jaeger.rstrip('/')}/trace/{trace_id}"


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
@click.option(
    "--jaeger",
    metavar="[URL]",
    is_flag=False,
    flag_value=_JAEGER,
    help=f"Send the run to a Jaeger too, and print the link to it; {_JAEGER} if no address follows.",
)
@click.option("--endpoint", metavar="URL", help="Where that Jaeger takes OTLP; its host's port 4318 by default.")
@click.option("--quiet", "-q", is_flag=True, help="No notes on standard error.")
def command(**given: Any) -> int:
    """Diagnose a captured run of a real agent that ships with this package.

    The trace was recorded from a pydantic-ai agent that asks its search tool the same question again and again. With
    --jaeger it is sent to a Jaeger, the verdict beside it.
    """
    return demo(Request(**given))
