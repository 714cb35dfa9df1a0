"""OTLP over gRPC by grpcio, which is loaded when it is first asked for: bytes in, bytes out, no message classes."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from typing_extensions import override

from critiqor_otel.emit.otlp_settings import OtlpSettings, sound_headers
from critiqor_otel.emit.reply import Reply, Transport, Verdict, partial_success, retry_delay

__all__ = ["GrpcTransport"]

_METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_STATUS = "grpc-status-details-bin"
_COMPRESSIONS = {"gzip": "Gzip", "deflate": "Deflate", "none": "NoCompression"}
# OTLP/gRPC: RESOURCE_EXHAUSTED is one of them only where the receiver says when to come again.
_EXHAUSTED = "RESOURCE_EXHAUSTED"
_LATER = frozenset(("CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"))


class GrpcTransport(Transport):
    """Calls one endpoint."""

    def __init__(self, settings: OtlpSettings) -> None:
        """Take the settings; nothing is connected yet.

        Raises:
            ValueError: a header can't be sent.
            ModuleNotFoundError: grpcio is not installed.
        """
        self._grpc: Any = import_module("grpc")
        self._settings = settings
        self._metadata = tuple(sound_headers(settings.headers).items())
        self._channel: Any = None
        self._export: Any = None
        self._pid = os.getpid()

    @override
    def send(self, body: bytes, timeout: float) -> Reply:
        if self._pid != os.getpid():  # a channel does not live through a fork
            self._pid, self._channel = os.getpid(), None
        if self._channel is None:
            self._channel = self._connect()
            self._export = self._channel.unary_unary(_METHOD, None, None)
        try:
            answer: bytes = self._export(body, timeout=timeout, metadata=self._metadata)
        except self._grpc.RpcError as error:
            return _reply(error)
        rejected, message = partial_success(answer)
        return Reply(Verdict.TAKEN, message, rejected=rejected)

    @override
    def close(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _connect(self) -> Any:
        settings = self._settings
        parts = urlsplit(settings.endpoint if "//" in settings.endpoint else f"//{settings.endpoint}")
        compression = getattr(self._grpc.Compression, _COMPRESSIONS[settings.compression])
        if parts.scheme == "http" or (not parts.scheme and settings.insecure):
            return self._grpc.insecure_channel(parts.netloc, None, compression)
        credentials = self._grpc.ssl_channel_credentials(
            _content(settings.certificate_file),
            _content(settings.client_key_file),
            _content(settings.client_certificate_file),
        )
        return self._grpc.secure_channel(parts.netloc, credentials, None, compression)


def _content(path: str | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()


def _reply(error: Any) -> Reply:
    code, said = error.code().name, error.details() or ""
    delay = next((retry_delay(value) for key, value in error.trailing_metadata() or () if key == _STATUS), None)
    message = f"the receiver answered {code}: {said}"
    if code == _EXHAUSTED and delay is None:
        # What gRPC itself says of a message beyond the limit; of an exhausted quota without a delay nothing is known.
        return Reply(Verdict.TOO_LARGE if "larger than max" in said else Verdict.NEVER, message)
    if code in _LATER or delay is not None:
        return Reply(Verdict.LATER, message, delay=delay)
    return Reply(Verdict.NEVER, message)
