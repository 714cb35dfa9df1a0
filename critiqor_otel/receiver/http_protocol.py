"""One HTTP connection: uvicorn's, with limits of its own on heads, time and numbers, and a word to lost clients."""

import asyncio
from typing import Any, cast

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from analyzer.pattern import pattern
from critiqor_otel.receiver.answers import refused
from critiqor_otel.receiver.config import Limits
from critiqor_otel.receiver.http2_apology import PREFACE, Http2Apology
from critiqor_otel.receiver.refusal import Fault, Refusal
from critiqor_otel.receiver.relay import Relay
from critiqor_otel.spool.record import Encoding

__all__ = ["http_protocol"]

_PREFACE = PREFACE[:14]  # enough to know it by, should it come in pieces
_TLS_HANDSHAKE = b"\x16\x03"
# Java's own client asks for HTTP/2 on its first request. The parser would take the body for that other protocol.
_UPGRADE = pattern(rb"(?im)^upgrade(?=:)")
_END_OF_HEAD = b"\r\n\r\n"
_WAKE_BYTES = 1 << 18  # more is left in the kernel until the application has taken it
_BAD_REQUEST, _HEAD_TOO_LARGE, _HEAD_TOO_SLOW = 400, 431, 408


def http_protocol(limits: Limits, *, grpc_port: int | None, is_tls: bool, passes_on: bool) -> type[asyncio.Protocol]:
    """Return the class of connections that keep these limits.

    A gRPC client is told the port where it should have gone, or passed on to it.
    """
    settings = {"limits": limits, "grpc_port": grpc_port, "is_tls": is_tls, "passes_on": passes_on}
    return cast("type[asyncio.Protocol]", type("LimitedConnection", (_Connection,), settings))


class _Connection(HttpToolsProtocol):
    """One connection."""

    limits: Limits
    grpc_port: int | None
    is_tls: bool
    passes_on: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._first = True
        self._in_head = True
        self._apology: Http2Apology | None = None
        self._relay: Relay | None = None
        self._head_bytes: int | None = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
            return
        self._expect_head()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_whole()
        self.resume_writing()
        if self._relay is not None:
            self._relay.client_left()
        super().connection_lost(exc)

    @override
    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the way back open for the answer to a client that has said all it will."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        waiting = cycle is not None and not cycle.response_complete and not cycle.more_body
        if waiting:
            self.cycle.keep_alive = False
        return waiting and not self.is_tls

    @override
    def data_received(self, data: bytes) -> None:
        if self._is_lost(data):
            return
        if self._head_bytes is not None:
            self._head_bytes += len(data)
        super().data_received(self._without_upgrade(data) if self._in_head else data)
        if self._head_bytes is not None and self._head_bytes > self.limits.header_bytes:
            self._end(_HEAD_TOO_LARGE, f"the head of the request has more than {self.limits.header_bytes} bytes")

    @override
    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect_head()

    @override
    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_is_whole()
        if self.parser is not None and self.parser.should_upgrade():
            self._end(_BAD_REQUEST, "this port speaks HTTP/1.1 alone: send that request without Upgrade")
            raise ConnectionAbortedError  # or the parser would go on, and take the request for one without a body
        super().on_headers_complete()

    @override
    def on_message_complete(self) -> None:
        self._in_head = True
        super().on_message_complete()

    @override
    def on_body(self, body: bytes) -> None:
        """Collect a good part of the body before the application is woken; uvicorn wakes it for every piece."""
        cycle = self.cycle
        if cycle.response_complete:
            return
        cycle.body += body
        if len(cycle.body) > _WAKE_BYTES:
            self.flow.pause_reading()
            cycle.message_event.set()

    @override
    def pause_writing(self) -> None:
        """Do not wait for ever for a client that never reads."""
        super().pause_writing()
        if self._relay is not None:
            self._relay.pause(paused=True)
        self._stalled = self.loop.call_later(self.limits.body_seconds, self.transport.abort)

    @override
    def resume_writing(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        if self.transport is not None:  # pyright: ignore[reportUnnecessaryComparison]  # None until it is connected
            super().resume_writing()
        if self._relay is not None:
            self._relay.pause(paused=False)

    @override
    def send_400_response(self, msg: str) -> None:
        self._end(_BAD_REQUEST, msg)

    def _without_upgrade(self, data: bytes) -> bytes:
        """Return the data with the wish for another protocol under a name that says nothing: nobody need grant it."""
        end = data.find(_END_OF_HEAD)
        if _UPGRADE.search(data, 0, len(data) if end < 0 else end) is None:  # as a rule; a body is not copied for it
            return data
        head, end_of_head, rest = data.partition(_END_OF_HEAD)
        return _UPGRADE.sub(b"ignored", head) + end_of_head + rest

    def _expect_head(self) -> None:
        self._head_bytes = 0
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.limits.header_seconds, self._head_is_late)

    def _head_is_whole(self) -> None:
        self._head_bytes = None
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._end(_HEAD_TOO_SLOW, f"the head of the request was not whole after {self.limits.header_seconds:g} seconds")

    def _is_lost(self, data: bytes) -> bool:
        """Tell a client of another protocol where it is."""
        if self._first:
            self._first = False
            if data.startswith(_PREFACE):
                self._receive_http2()
            elif data.startswith(_TLS_HANDSHAKE) and not self.is_tls:
                self._end(_BAD_REQUEST, "this port speaks plain HTTP, not TLS")
                return True
        if self._relay is not None:
            self._relay.client_sent(data)
            return True
        if self._apology is None:
            return False
        answer, ended = self._apology.answer(data)
        self.transport.write(answer)
        if ended:
            self.transport.close()
        return True

    def _receive_http2(self) -> None:
        self._head_is_whole()
        if self.passes_on and self.grpc_port is not None:
            self._relay = Relay(self.transport, self.grpc_port, self.loop)
            return
        self._expect_head()
        where = "not served here" if self.grpc_port is None else f"served on port {self.grpc_port}"
        self._apology = Http2Apology(f"this port speaks OTLP over HTTP/1.1; OTLP over gRPC is {where}")

    def _end(self, status: int, message: str) -> None:
        if self.transport.is_closing():
            return
        body = refused(Refusal(Fault.BAD_DATA, message), Encoding.JSON)
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()
