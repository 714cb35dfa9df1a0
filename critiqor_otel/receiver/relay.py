"""One port for both protocols: what turns out to be HTTP/2 is passed on to where gRPC is served, and back."""

import asyncio

from typing_extensions import override

__all__ = ["Relay"]


class Relay:
    """Passes the bytes of one connection to a port of this machine, and its bytes back."""

    def __init__(self, client: asyncio.Transport, port: int, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to connect; what comes until then waits, and the client is not read on."""
        self._client = client
        self._waiting: list[bytes] = []
        self._server: asyncio.Transport | None = None
        client.pause_reading()
        self._task = loop.create_task(self._connect(port, loop))

    def client_sent(self, data: bytes) -> None:
        """Pass on what the client sent."""
        if self._server is None:
            self._waiting.append(data)
        else:
            self._server.write(data)

    def client_left(self) -> None:
        """End the other side too."""
        self._task.cancel()
        if self._server is not None:
            self._server.close()

    def pause(self, *, paused: bool) -> None:
        """Read no more from the server while the client is behind."""
        if self._server is not None and not self._server.is_closing():
            if paused:
                self._server.pause_reading()
            else:
                self._server.resume_reading()

    async def _connect(self, port: int, loop: asyncio.AbstractEventLoop) -> None:
        try:
            transport, _ = await loop.create_connection(lambda: _ServerSide(self._client), "127.0.0.1", port)
        except OSError:
            self._client.close()
            return
        self._server = transport
        waiting, self._waiting = self._waiting, []
        transport.writelines(waiting)
        self._client.resume_reading()


class _ServerSide(asyncio.Protocol):
    """The connection to the gRPC server."""

    def __init__(self, client: asyncio.Transport) -> None:
        self._client = client

    @override
    def data_received(self, data: bytes) -> None:
        self._client.write(data)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._client.close()

    @override
    def pause_writing(self) -> None:
        self._client.pause_reading()

    @override
    def resume_writing(self) -> None:
        if not self._client.is_closing():
            self._client.resume_reading()
