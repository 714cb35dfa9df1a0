"""The event loop in which HTTP and gRPC are served, in a thread of its own."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import uvicorn
import uvloop
from typing_extensions import override

from critiqor_otel.errors import ReceiverError
from critiqor_otel.receiver.browsing import Browsable
from critiqor_otel.receiver.config import ReceiverConfig
from critiqor_otel.receiver.grpc_service import GrpcService
from critiqor_otel.receiver.http_app import HttpApp, Pages
from critiqor_otel.receiver.http_protocol import http_protocol
from critiqor_otel.receiver.intake import Intake

__all__ = ["Serving"]

_T = TypeVar("_T")

_BACKLOG = 512


class Serving:
    """Both servers, from the moment they listen until they are stopped."""

    def __init__(
        self,
        config: ReceiverConfig,
        intake: Intake,
        pages: Pages,
        *,
        fault: Callable[[str], None],
        ui: Browsable | None = None,
    ) -> None:
        """Listen.

        Raises:
            ReceiverError: an address cannot be had, or a certificate not be used; nothing listens then.
        """
        self._config = config
        self._intake = intake
        self.grpc_port: int | None = None
        self.http_port: int | None = None
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="receiver", daemon=True)
        self._thread.start()
        try:
            self._grpc = self._start_grpc(fault)
            self._http = self._start_http(HttpApp(config, intake, pages, fault=fault, ui=ui))
        except BaseException:
            self._end_loop()
            raise

    def stop(self, seconds: float) -> None:
        """Refuse what comes, finish what is in flight within a time, and end."""
        self._intake.closing = True
        self._do(self._stop(seconds))
        self._end_loop()

    async def _stop(self, seconds: float) -> None:
        stops: list[Coroutine[Any, Any, None]] = []
        if self._grpc is not None:
            stops.append(self._grpc.stop(seconds))
        if self._http is not None:
            stops.append(self._http.stop())
        await asyncio.gather(*stops)

    def _start_grpc(self, fault: Callable[[str], None]) -> GrpcService | None:
        port = self._config.grpc_port
        if port is None:
            return None
        service = GrpcService(self._config, self._intake, fault=fault)
        self.grpc_port = self._do(service.start(self._config.host, port))
        return service

    def _start_http(self, app: HttpApp) -> "_HttpServer | None":
        port = self._config.http_port
        if port is None:
            return None
        try:
            listening = _listening(self._config.host, port)
            server = _HttpServer(self._config, app, listening, grpc_port=self.grpc_port)
            self._do(server.start())
        except (OSError, ssl.SSLError) as error:
            self._do(self._stop_grpc())
            raise ReceiverError(f"HTTP cannot listen on {self._config.host}:{port}: {error}") from error
        self.http_port = listening.getsockname()[1]
        return server

    async def _stop_grpc(self) -> None:
        if self._grpc is not None:
            await self._grpc.stop(0)

    def _do(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Server(uvicorn.Server):
    """uvicorn's server, which says when it is up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()


class _HttpServer:
    """uvicorn, told to start and stop by us and not by signals."""

    def __init__(
        self, config: ReceiverConfig, app: HttpApp, listening: socket.socket, *, grpc_port: int | None
    ) -> None:
        tls = config.tls
        authority = None if tls is None else tls.client_authority
        self._listening = listening
        self._server = _Server(
            uvicorn.Config(
                app,
                http=http_protocol(
                    config.limits,
                    grpc_port=grpc_port,
                    is_tls=tls is not None,
                    passes_on=config.one_port and tls is None,
                ),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                backlog=_BACKLOG,
                timeout_keep_alive=int(config.limits.keep_alive_seconds),
                timeout_graceful_shutdown=int(config.shutdown_seconds),
                ssl_certfile=None if tls is None else str(tls.certificate),
                ssl_keyfile=None if tls is None else str(tls.key),
                ssl_ca_certs=None if authority is None else str(authority),
                ssl_cert_reqs=ssl.CERT_NONE if authority is None else ssl.CERT_REQUIRED,
            )
        )
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        try:
            self._server.config.load()
        except BaseException:
            self._listening.close()
            raise
        self._task = asyncio.create_task(self._server.serve(sockets=[self._listening]))
        started = asyncio.create_task(self._server.is_up.wait())
        await asyncio.wait((self._task, started), return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            started.cancel()
            self._task.result()

    async def stop(self) -> None:
        self._server.should_exit = True
        if self._task is not None:
            await self._task


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)  # noqa: FBT003  # its only argument
    return listening
