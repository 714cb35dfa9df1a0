"""`run`: an agent's command under observation, its spans and its process in one session, the verdict at its end."""

import os
import signal
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from analyzer.diagnosis import Profile
from analyzer.options import Options
from analyzer.report.forms import form_named
from analyzer.report.report import Look, Report
from analyzer.report.words import SEVERITY_ORDER
from analyzer.session.codec import read_session
from analyzer.session.model import EventKind, Session
from critiqor_otel.cli import options
from critiqor_otel.cli.configuration import read_options
from critiqor_otel.cli.diagnose import Worst
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.keeping import Stores, keep
from critiqor_otel.cli.observing import observed_environment
from critiqor_otel.cli.serving_voice import Voice
from critiqor_otel.cli.side import Side
from critiqor_otel.emit.process_monitor import monitor_process
from critiqor_otel.emit.recorder import EvidenceRecorder
from critiqor_otel.emit.recording_options import RecordingOptions
from critiqor_otel.emit.run_identity import new_run_id
from critiqor_otel.engine.local import diagnosed
from critiqor_otel.errors import SpoolTakenError
from critiqor_otel.receiver.config import ReceiverConfig
from critiqor_otel.receiver.receiver import Receiver
from critiqor_otel.spool.left_behind import seal_beside
from critiqor_otel.spool.open_sessions import Patience
from critiqor_otel.spool.own_runs import move_in, own_runs
from critiqor_otel.spool.owner import OwnerSettings
from critiqor_otel.spool.run_files import SESSION_FILE
from critiqor_otel.spool.sink import SealedRun
from critiqor_otel.spool.spool_folder import SpoolFolder, SpoolLock
from critiqor_otel.spool.verdicts import whole_run

__all__ = ["Request", "command", "run"]

_NEVER = "never"
_DAY_NS = 86_400_000_000_000
# A run may be silent for as long as it takes: it is sealed when its command has ended.
_UNTIL_THE_END = Patience(after_root_ns=365 * _DAY_NS, idle_ns=365 * _DAY_NS, longest_ns=365 * _DAY_NS)
_SEAL_SECONDS = 60.0
_SIGNALLED = 128  # a shell's exit code for a command that a signal ended, less the signal's number
_OF_THE_PROCESS = frozenset(
    {
        *("agent_start", "agent_end", "error_event"),
        *(EventKind.PROCESS_START, EventKind.PROCESS_OUTPUT, EventKind.PROCESS_END),
    }
)
_SILENT = (
    "the command sent no span of an agent: switch on its OpenTelemetry; a Python program needs no change with"
    " `opentelemetry-instrument` (opentelemetry-distro) and an instrumentation of its library"
)
_TIMED_OUT = 124  # as timeout(1) reports it


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    words: tuple[str, ...]
    runs: str
    run_id: str | None
    agent: str | None
    timeout: float | None
    content: bool
    profile: str
    config: str | None = None
    fail_on: str
    quiet: bool


class _TerminatedError(BaseException):
    """SIGTERM came: the command is ended, its session sealed, and then this process ends as well."""


def run(request: Request) -> int:
    """Run the command to its end, seal and diagnose its run, and return its exit code."""
    side = Side(quiet=request.quiet)
    voice = Voice(as_json=False, quiet=request.quiet)
    run_id = request.run_id or new_run_id()
    settings = read_options(request.config)
    runs = Path(request.runs)
    config = ReceiverConfig(
        runs=runs,
        grpc_port=0,
        http_port=0,
        one_port=True,
        run_id=run_id,
        sessions=OwnerSettings(patience=_UNTIL_THE_END, judged_by=Profile(request.profile), options=settings),
    )
    try:
        code, sealed = _received(config, request, run_id, voice, side)
    except SpoolTakenError:
        code, sealed = _received_beside(config, request, run_id, voice, side)
    worst = _tell(sealed, request, settings, side)
    if code == ExitCode.FINE and worst.reaches(request.fail_on):
        return ExitCode.FAILURES
    return code


def _received(
    config: ReceiverConfig, request: Request, run_id: str, voice: Voice, side: Side
) -> tuple[int, list[SealedRun]]:
    """Run the command while a receiver listens, and return its exit code and what was sealed."""
    sealed: list[SealedRun] = []
    with Receiver(config, tell=voice.tell, sealed=sealed.append) as receiver:
        code = _observed(request, receiver.http_endpoint or "", run_id)
        if not receiver.flush(_SEAL_SECONDS):
            side.fail(f"the run was not sealed within {_SEAL_SECONDS:g} seconds; its evidence stays in {config.runs}")
    return code, sealed


def _received_beside(
    config: ReceiverConfig, request: Request, run_id: str, voice: Voice, side: Side
) -> tuple[int, list[SealedRun]]:
    """Run the command while a receiver listens that writes beside that of another process, and move in at the end."""
    seal_beside(SpoolFolder(config.runs), config.sessions, now_ns=time.time_ns, tell=voice.tell)
    own = SpoolFolder(own_runs(config.runs, run_id))
    own.make()
    lock = SpoolLock(own, "run")
    try:
        code, sealed = _received(msgspec.structs.replace(config, runs=own.runs), request, run_id, voice, side)
        places = move_in(own.runs, config.runs)
    finally:
        lock.release()
    return code, [msgspec.structs.replace(one, folder=str(places[Path(one.folder)])) for one in sealed]


def _observed(request: Request, endpoint: str, run_id: str) -> int:
    """Run the command, and return its exit code as a shell would."""
    provider = TracerProvider(resource=Resource({"service.name": Path(request.words[0]).name}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{endpoint}/v1/traces")))
    recording = RecordingOptions(run_id=run_id, tracer_provider=provider, capture_content=True)
    environment = observed_environment(endpoint, content=request.content)
    try:
        with _terminable(), EvidenceRecorder(agent=request.agent, options=recording) as recorder:
            outcome = monitor_process(request.words, timeout=request.timeout, recorder=recorder, env=environment)
    except _TerminatedError:
        return _SIGNALLED + signal.SIGTERM
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    finally:
        provider.shutdown()
    if outcome.exit_code is None:
        return _TIMED_OUT
    return outcome.exit_code if outcome.exit_code >= 0 else _SIGNALLED - outcome.exit_code


@contextmanager
def _terminable() -> Generator[None]:
    """Let SIGTERM end the command, and not this process before the session is sealed."""

    def heard(_number: int, _frame: object) -> None:
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, heard)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _tell(sealed: Sequence[SealedRun], request: Request, settings: Options, side: Side) -> Worst:
    """Keep the verdict, and print it on standard error, since the command's own output is the product."""
    files = [Path(one.folder) / SESSION_FILE for one in sealed]
    parts = [read_session(file.read_bytes()) for file in files]
    # An id that was run before has sealed its first part: what came now carries it on.
    wholes = [whole_run(part, runs=Path(request.runs)) for part in parts]
    by_id = {whole.run_id: whole for whole in wholes}
    sessions = [by_id[run_id] for run_id in sorted(by_id)]
    places = {part.continues or part.run_id: [str(file)] for part, file in zip(parts, files, strict=True)}
    stores = Stores(places, [request.runs])
    worst = Worst()
    verdicts = diagnosed(sessions, profile=Profile(request.profile), options=settings)
    runs = keep(verdicts, sessions, stores, side=side)
    look = Look(colour=sys.stderr.isatty() and not os.environ.get("NO_COLOR"))
    table = b"".join(form_named("table")(Report(runs=worst.watch(runs)), look))
    if not request.quiet:
        click.echo(table, err=True, nl=False)
    for one in sealed:
        side.say(f"{one.folder} holds the session and its diagnosis")
    if sessions and not any(map(_speaks, sessions)):
        side.say(_SILENT)
    return worst


def _speaks(session: Session) -> bool:
    """Tell whether anything is known of the command but how its process went."""
    return any(event.event_type not in _OF_THE_PROCESS for event in session.events)


@click.command(
    name="run",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Examples:
  critiqor-otel run -- python agent.py
  critiqor-otel run --fail-on high -- node agent.js""",
)
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND…")
@click.option("--runs", metavar="FOLDER", default="runs", show_default=True, help="Where its session is sealed.")
@click.option("--run-id", type=options.TEXT, metavar="ID", help="The run's id; a new one by default.")
@click.option(
    "--agent", type=options.TEXT, metavar="NAME", help="The agent's name; by default the first that its spans name."
)
@click.option("--timeout", type=click.FloatRange(min=0.0, min_open=True), metavar="SECONDS", help="End it after that.")
@click.option(
    "--content/--no-content",
    default=True,
    show_default=True,
    help="Ask instrumentations for arguments, results and messages, unless the environment says otherwise.",
)
@options.profile
@options.config
@click.option(
    "--fail-on",
    type=click.Choice([*(severity.value for severity in SEVERITY_ORDER), _NEVER]),
    default=_NEVER,
    show_default=True,
    help="Exit with 1 when the command succeeded, but its run has a failure of this severity or a worse one.",
)
@options.quiet
def command(**given: Any) -> int:
    """Run an agent's command under observation, and diagnose it when it ends.

    The command finds a receiver in its environment (OTEL_*), its run in CRITIQOR_RUN_ID and its trace in TRACEPARENT.
    Its spans, what it prints and how it ends become one session. Its exit code is passed on, the verdict printed on
    standard error. A command without OpenTelemetry has a session of its process alone.
    """
    return run(Request(**given))
