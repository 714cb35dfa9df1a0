"""`serve`: an OTLP endpoint that turns what agents send into sealed sessions, and verdicts where asked."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, cast

import click
import msgspec
from typing_extensions import override

from analyzer.diagnosis import Profile
from critiqor_otel.annotate.as_they_seal import Annotator
from critiqor_otel.cli import options
from critiqor_otel.cli.configuration import read_options
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.sending import sending, settings_for
from critiqor_otel.cli.serving_voice import Voice, live_table
from critiqor_otel.cli.side import Side
from critiqor_otel.receiver.config import Limits, ReceiverConfig, Tls
from critiqor_otel.receiver.receiver import Receiver
from critiqor_otel.reconstruct.grouping import GroupBy
from critiqor_otel.spool.journal import JournalLimits
from critiqor_otel.spool.open_sessions import Patience
from critiqor_otel.spool.owner import OwnerSettings
from critiqor_otel.spool.sink import SealedRun
from critiqor_otel.spool.verdicts import Rules

__all__ = ["TOKEN_VARIABLE", "Request", "command", "config_of", "serve"]

TOKEN_VARIABLE = "CRITIQOR_TOKEN"  # noqa: S105  # the name of a variable, not a secret

_SECOND = 1_000_000_000
_MIB = 1 << 20
_NONE = "none"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    runs: str
    host: str
    grpc_port: str
    http_port: str
    one_port: bool
    diagnose: bool
    ui: bool
    annotate: str | None
    profile: str
    config: str | None = None
    group_by: str | None
    certificate: str | None
    key: str | None
    client_authority: str | None
    token_file: str | None
    unprotected: bool
    cors: tuple[str, ...]
    largest_request: int
    journal_limit: int
    connections: int
    requests_per_second: float | None
    after_root: float
    idle: float
    longest: float
    most_spans: int
    owner: str
    log: str | None
    quiet: bool


def serve(request: Request) -> int:
    """Listen until a signal says to stop, and return the exit code."""
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())  # the voice below tells what users need
    voice = Voice(as_json=_logs_json(request.log), quiet=request.quiet)
    stop = threading.Event()
    with (
        _signals(stop),
        _annotator(request, voice) as annotator,
        Receiver(config_of(request), tell=voice.tell, sealed=_all_told(voice, annotator)) as receiver,
    ):
        places = {"grpc": receiver.grpc_endpoint, "http": receiver.http_endpoint, "runs": request.runs}
        places["ui"] = receiver.ui_address
        voice.tell("listening", {name: place for name, place in places.items() if place is not None})
        shown = sys.stderr.isatty() and sys.stdout.isatty() and not request.quiet
        with live_table(receiver) if shown else nullcontext():
            stop.wait()
        receiver.refuse()
        voice.tell("stopping", {"open_sessions": receiver.tally.open_sessions})
    voice.tell("stopped", {"sealed": sum(receiver.tally.sealed.values())})
    return ExitCode.FINE


def config_of(request: Request) -> ReceiverConfig:
    """Return the receiver's configuration."""
    return ReceiverConfig(
        runs=Path(request.runs),
        host=request.host,
        grpc_port=_port(request.grpc_port),
        http_port=_port(request.http_port),
        one_port=request.one_port,
        tls=_tls(request),
        token=_token(request.token_file),
        unprotected=request.unprotected,
        cors_origins=request.cors,
        limits=Limits(
            request_bytes=request.largest_request * _MIB,
            connections=request.connections,
            requests_per_second=request.requests_per_second,
        ),
        journal=JournalLimits(total=request.journal_limit * _MIB),
        sessions=OwnerSettings(
            patience=Patience(
                after_root_ns=int(request.after_root * _SECOND),
                idle_ns=int(request.idle * _SECOND),
                longest_ns=int(request.longest * _SECOND),
                most_spans=request.most_spans,
            ),
            group_by=None if request.group_by is None else GroupBy(request.group_by),
            judged_by=Profile(request.profile) if request.diagnose or request.annotate or request.ui else None,
            options=read_options(request.config),
        ),
        ui=request.ui,
        owner=cast("Literal['thread', 'process']", request.owner),
    )


@contextmanager
def _annotator(request: Request, voice: Voice) -> Generator[Annotator | None]:
    """Yield what sends verdicts to the back end, None where nobody asked for it."""
    if request.annotate is None:
        yield None
        return
    rules = Rules(Profile(request.profile), read_options(request.config))
    with (
        sending(settings_for(request.annotate), Side(quiet=request.quiet)) as exporter,
        Annotator(Path(request.runs), exporter.export_neutral, rules=rules, tell=voice.tell) as annotator,
    ):
        yield annotator


def _all_told(voice: Voice, annotator: Annotator | None) -> Callable[[SealedRun], None]:
    def sealed(run: SealedRun) -> None:
        voice.sealed(run)
        if annotator is not None:
            annotator.sealed(run)

    return sealed


@contextmanager
def _signals(stop: threading.Event) -> Generator[None]:
    """Set the event at the first SIGTERM or SIGINT; a second one ends the process as usual."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def heard(_number: int, _frame: object) -> None:
        stop.set()
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, heard)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _logs_json(log: str | None) -> bool:
    return log == "json" if log is not None else not sys.stderr.isatty()


def _port(text: str) -> int | None:
    return None if text == _NONE else int(text)


def _tls(request: Request) -> Tls | None:
    if request.certificate is None and request.key is None:
        if request.client_authority is not None:
            raise click.UsageError("--client-ca needs --tls-cert and --tls-key")
        return None
    if request.certificate is None or request.key is None:
        raise click.UsageError("--tls-cert and --tls-key go together")
    authority = None if request.client_authority is None else Path(request.client_authority)
    return Tls(certificate=Path(request.certificate), key=Path(request.key), client_authority=authority)


def _token(file: str | None) -> str | None:
    if file is None:
        return os.environ.get(TOKEN_VARIABLE)
    try:
        return Path(file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"the token cannot be read from {file}: {error}") from error


class _Port(click.ParamType[str]):
    name = "port"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if str(value) != _NONE and not (str(value).isdigit() and int(value) < 1 << 16):
            self.fail(f"{value!r} is no port: a number from 0 (any free one) to 65535, or {_NONE}", param, ctx)
        return str(value)


def _seconds(default: float) -> dict[str, Any]:
    return {"type": click.FloatRange(min=0.0), "default": default, "show_default": True, "metavar": "SECONDS"}


def _whole(default: int, metavar: str) -> dict[str, Any]:
    return {"type": click.IntRange(min=1), "default": default, "show_default": True, "metavar": metavar}


@click.command(
    name="serve",
    epilog=f"""\b
A token is read from --token-file, else from the variable {TOKEN_VARIABLE}.
Examples:
  critiqor-otel serve --ui
  critiqor-otel serve --annotate http://jaeger:4318
  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317 python agent.py""",
)
@click.option("--runs", metavar="FOLDER", default="runs", show_default=True, help="Where sessions are sealed.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--grpc-port", type=_Port(), default="4317", show_default=True, help="0 for a free one, or none.")
@click.option("--http-port", type=_Port(), default="4318", show_default=True, help="0 for a free one, or none.")
@click.option("--one-port", is_flag=True, help="Let gRPC clients use the HTTP port too.")
@click.option("--diagnose", is_flag=True, help="Write diagnosis.json as each session seals, and print its verdict.")
@click.option("--ui", is_flag=True, help="Show the runs in a browser, at /ui/ of the HTTP port; --diagnose besides.")
@click.option(
    "--annotate",
    metavar="URL",
    help="Also send each verdict to this OTLP endpoint, as spans of the run's own trace; implies --diagnose.",
)
@options.profile
@options.config
@options.group_by
@click.option("--tls-cert", "certificate", metavar="FILE", help="The server's certificate (PEM).")
@click.option("--tls-key", "key", metavar="FILE", help="Its key.")
@click.option("--client-ca", "client_authority", metavar="FILE", help="Let in clients with its certificates only.")
@click.option("--token-file", metavar="FILE", help="Clients must bear the token in this file.")
@click.option("--unprotected", is_flag=True, help="Listen beyond this machine with neither token nor --client-ca.")
@click.option("--cors", multiple=True, metavar="ORIGIN", help="A web page that may send; * for any. May be repeated.")
@click.option("--max-request", "largest_request", **_whole(64, "MIB"), help="The largest request, inflated.")
@click.option("--max-journal", "journal_limit", **_whole(8192, "MIB"), help="What may wait to be sealed.")
@click.option("--max-connections", "connections", **_whole(1000, "N"), help="HTTP connections at once.")
@click.option(
    "--max-rate", "requests_per_second", type=click.FloatRange(min=1.0), metavar="N", help="Requests a second."
)
@click.option("--after-root", **_seconds(10.0), help="Quiet time that closes a session whose root has ended.")
@click.option("--idle", **_seconds(60.0), help="Quiet time that closes any session.")
@click.option("--longest", **_seconds(3600.0), help="Time after which a session is closed, quiet or not.")
@click.option("--max-spans", "most_spans", **_whole(100_000, "N"), help="Spans at which a session is closed.")
@click.option(
    "--sessions-in",
    "owner",
    type=click.Choice(["process", "thread"]),
    default="process",
    show_default=True,
    help="Make sessions in a process of their own, or beside the receiver.",
)
@click.option("--log", type=click.Choice(["json", "text"]), help="What standard error speaks; text on a terminal.")
@options.quiet
def command(**given: Any) -> int:
    """Receive OTLP from any agent, and seal one session file a run, live.

    Every span that was acknowledged is on the disk and will be in exactly one session. /healthz, /readyz and /metrics
    are served on the HTTP port.
    """
    return serve(Request(**given))
