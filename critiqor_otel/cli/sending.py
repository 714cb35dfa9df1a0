"""Where do `replay`, `annotate` and the demo send spans, and what is told of the way there?"""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import click
from typing_extensions import override

from critiqor_otel.cli.side import Side
from critiqor_otel.emit.delivery import Patience
from critiqor_otel.emit.otlp_exporter import OTLPSpanExporter
from critiqor_otel.emit.otlp_settings import OtlpSettings, Protocol, settings_from_environment

__all__ = ["PATIENCE", "endpoint", "protocol", "sending", "settings_for"]

PATIENCE = Patience(retry_for=20.0)

_GRPC_PORT = 4317
_TRACES_PATH = "/v1/traces"

endpoint = click.option(
    "--endpoint",
    metavar="URL",
    help="Where to send to, as the OTLP exporters take it; by default as the OTEL_EXPORTER_OTLP_* variables say.",
)
protocol = click.option(
    "--protocol", type=click.Choice(["http/protobuf", "grpc"]), help="By default as the variables say."
)


def settings_for(endpoint: str | None, protocol: Protocol | None = None) -> OtlpSettings:
    """Return the settings of the environment, for an endpoint that a person typed where there is one.

    Port 4317 speaks gRPC, and an HTTP address without a path means OTLP's usual one.
    """
    if endpoint is None:
        return settings_from_environment(protocol=protocol)
    try:
        parts = urlsplit(endpoint if "//" in endpoint else f"http://{endpoint}")
        port = parts.port
        (parts.hostname or "").encode("idna")  # as it is looked up
    except ValueError as error:
        shown = endpoint.rpartition("@")[2]  # without a name and password before the host
        raise click.UsageError(f"the endpoint {shown!r} is no address: {error}") from error
    spoken = protocol or ("grpc" if port == _GRPC_PORT else None)
    settings = settings_from_environment(protocol=spoken, endpoint=parts.geturl())
    if settings.protocol == "grpc" or parts.path not in ("", "/"):
        return settings
    return replace(settings, endpoint=parts._replace(path=_TRACES_PATH).geturl())


@contextmanager
def sending(settings: OtlpSettings, side: Side) -> Generator[OTLPSpanExporter]:
    """Yield the exporter; what it has to say goes to the command's own voice.

    Raises:
        click.UsageError: the endpoint is no address.
    """
    try:
        exporter = OTLPSpanExporter(settings=settings, patience=PATIENCE)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    telling = _Telling(side)
    logger = logging.getLogger("critiqor_otel.emit")
    logger.addHandler(telling)
    try:
        yield exporter
    finally:
        exporter.shutdown()
        logger.removeHandler(telling)


class _Telling(logging.Handler):
    def __init__(self, side: Side) -> None:
        super().__init__(logging.WARNING)
        self._side = side

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self._side.say(record.getMessage())
