"""OTLP over gRPC: three services with one method each, health for probes, reflection for grpcurl.

Requests stay bytes until the intake has checked them. No exception passes: grpcio would answer UNKNOWN, on which a
client drops its data.

A call whose path is no UTF-8 ends grpcio's own loop (grpc.aio decodes it outside any call), and the port with it: the
service looks whether its server lives, and starts another in its place.
"""

import asyncio
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from critiqor_otel.errors import ReceiverError
from critiqor_otel.receiver.answers import accepted, status_of
from critiqor_otel.receiver.config import ReceiverConfig, Tls
from critiqor_otel.receiver.intake import Intake
from critiqor_otel.receiver.refusal import Fault, Refusal
from critiqor_otel.spool.record import Encoding, Signal, Transport

__all__ = ["GrpcService"]

_SERVICES = {
    Signal.TRACES: trace_service_pb2.DESCRIPTOR.services_by_name["TraceService"].full_name,
    Signal.LOGS: logs_service_pb2.DESCRIPTOR.services_by_name["LogsService"].full_name,
    Signal.METRICS: metrics_service_pb2.DESCRIPTOR.services_by_name["MetricsService"].full_name,
}
_HEALTH: Any = health  # typed by nobody
_HEALTH_STUBS: Any = health_pb2_grpc
_REFLECTION: Any = reflection
_REFLECTION_STUBS: Any = reflection_pb2_grpc
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_DETAILS = "grpc-status-details-bin"
_AUTHORIZATION = "authorization"
_LOOK = 0.1  # seconds between two looks at the server
_LAST_CALLS = 1.0  # seconds for those of a server that has ended; calls it never looked at are cancelled then
_NEXT_TRY = 0.02  # seconds until a port that the last server is letting go of is asked for again


class GrpcService:
    """The gRPC side of a receiver; all of it runs in one event loop."""

    def __init__(self, config: ReceiverConfig, intake: Intake, *, fault: Callable[[str], None]) -> None:
        """Take the requests into the intake; `fault` is told the traceback of what should not have happened."""
        self._config = config
        self._intake = intake
        self._fault = fault
        self._health: Any = _HEALTH.aio.HealthServicer()
        self._server: Any = None
        self._keeper: asyncio.Task[None] | None = None
        self._ended: set[asyncio.Task[None]] = set()

    async def start(self, host: str, port: int) -> int:
        """Listen, and return the port.

        Raises:
            ReceiverError: the address cannot be had.
        """
        bound = await self._serve(host, port)
        for name in ("", *_SERVICES.values()):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._keeper = asyncio.create_task(self._keep(host, bound))
        return bound

    async def stop(self, seconds: float) -> None:
        """Refuse new requests, and finish those in flight within a time."""
        if self._keeper is not None:
            self._keeper.cancel()
        await self._health.enter_graceful_shutdown()
        await asyncio.gather(self._server.stop(seconds), *self._ended)

    async def _serve(self, host: str, port: int) -> int:
        server = grpc.aio.server(options=self._options())
        server.add_generic_rpc_handlers(tuple(self._handler(signal) for signal in _SERVICES))
        names = (*_SERVICES.values(), health.SERVICE_NAME, reflection.SERVICE_NAME)
        _HEALTH_STUBS.add_HealthServicer_to_server(self._health, _ByName(server))
        _REFLECTION_STUBS.add_ServerReflectionServicer_to_server(
            _REFLECTION.aio.ReflectionServicer(names), _ByName(server)
        )
        bound = self._bind(server, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        self._server = server
        await server.start()
        return bound

    async def _keep(self, host: str, port: int) -> None:
        """Start a server anew whenever one has ended by itself."""
        while True:
            try:
                await self._server.wait_for_termination(_LOOK)
            except Exception:  # noqa: BLE001  # whatever ended it
                self._fault(traceback.format_exc())
                self._let_end(self._server)
                await self._serve_again(host, port)

    def _let_end(self, server: Any) -> None:
        """Let the calls of a server that has ended finish; its port is free meanwhile."""
        task = asyncio.create_task(server.stop(_LAST_CALLS))
        self._ended.add(task)
        task.add_done_callback(self._ended.discard)

    async def _serve_again(self, host: str, port: int) -> None:
        while True:
            try:
                await self._serve(host, port)
            except ReceiverError:
                await asyncio.sleep(_NEXT_TRY)
            else:
                return

    def _options(self) -> list[tuple[str, int]]:
        limits = self._config.limits
        return [
            ("grpc.max_receive_message_length", limits.request_bytes),
            ("grpc.max_send_message_length", 4 << 20),
            ("grpc.max_concurrent_streams", limits.streams),
            ("grpc.max_metadata_size", limits.header_bytes),
            ("grpc.max_connection_age_ms", int(limits.connection_seconds * 1000)),
            ("grpc.max_connection_age_grace_ms", int(limits.body_seconds * 1000)),
            ("grpc.server_handshake_timeout_ms", int(limits.header_seconds * 1000)),
            ("grpc.so_reuseport", 0),  # a second receiver on this port is to fail, not to share
        ]

    def _bind(self, server: Any, address: str) -> int:
        tls = self._config.tls
        try:
            if tls is None:
                bound = server.add_insecure_port(address)
            else:
                bound = server.add_secure_port(address, _credentials(tls))
        except (RuntimeError, OSError) as error:
            reason = str(error).partition("; set GRPC_VERBOSITY")[0]
            raise ReceiverError(f"gRPC cannot listen on {address}: {reason}; is the port taken?") from error
        if not bound:
            raise ReceiverError(f"gRPC cannot listen on {address}")
        return int(bound)

    def _handler(self, signal: Signal) -> Any:
        async def export(request: bytes, context: Any) -> bytes:
            try:
                return await self._export(signal, request, context)
            except Refusal as refusal:
                failed = refusal
            except Exception:  # noqa: BLE001  # the boundary: the client is asked to try again, and sees no traceback
                self._fault(traceback.format_exc())
                failed = Refusal(Fault.OUR_FAULT, "the receiver failed: send it again")
            self._intake.count(Transport.GRPC, failed)
            context.set_trailing_metadata(((_DETAILS, status_of(failed).SerializeToString()),))
            await context.abort(_CODES[failed.row.code], failed.message)
            raise AssertionError("abort raises")

        methods: dict[str, Any] = {
            "Export": grpc.unary_unary_rpc_method_handler(export)
        }  # no serialisers: bytes in, bytes out
        return grpc.method_handlers_generic_handler(_SERVICES[signal], methods)

    async def _export(self, signal: Signal, request: bytes, context: Any) -> bytes:
        self._intake.admit(_authorization(context) if self._config.token is not None else None)
        with self._intake.room() as reserve:
            reserve(len(request))
            checked = await self._intake.keep(signal, Encoding.PROTOBUF, Transport.GRPC, request)
        return accepted(signal, Encoding.PROTOBUF, rejected=checked.refused, message=checked.message)


class _ByName:
    """A server to which services are added whose methods are looked up when they are called.

    Methods that are registered with it have requests of their own waiting in grpcio, which writes into their memory
    when the server ends, though its loop has given that back if it ended by an odd path: the process dies of it.
    """

    def __init__(self, server: Any) -> None:
        self._server = server

    def add_generic_rpc_handlers(self, handlers: tuple[Any, ...]) -> None:
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, _service: str, _handlers: Mapping[str, Any]) -> None:
        """Leave them to the generic handlers, which have them too."""


def _authorization(context: Any) -> bytes | None:
    for key, value in context.invocation_metadata() or ():
        if key == _AUTHORIZATION:
            return value.encode() if isinstance(value, str) else bytes(value)
    return None


def _credentials(tls: Tls) -> Any:
    authority = None if tls.client_authority is None else tls.client_authority.read_bytes()
    return grpc.ssl_server_credentials(
        [(tls.key.read_bytes(), tls.certificate.read_bytes())],
        root_certificates=authority,
        require_client_auth=authority is not None,
    )
