"""OTLP over HTTP, and the pages an operator looks at: one small ASGI application."""

import gzip
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from critiqor_otel.receiver.answers import accepted, refused
from critiqor_otel.receiver.browsing import CHALLENGE, PREFIX, Browsable
from critiqor_otel.receiver.config import ReceiverConfig
from critiqor_otel.receiver.cross_origin import CrossOrigin
from critiqor_otel.receiver.http_bodies import GoneError, Receive, RequestBody
from critiqor_otel.receiver.intake import Intake
from critiqor_otel.receiver.refusal import Fault, Refusal
from critiqor_otel.spool.record import Encoding, Signal, Transport

__all__ = ["HttpApp", "Page", "Pages"]

_Send = Callable[[Mapping[str, Any]], Awaitable[None]]
_Headers = list[tuple[bytes, bytes]]


class Page(msgspec.Struct, frozen=True):
    """An answer for operators."""

    status: int
    text: str
    content_type: bytes = b"text/plain; charset=utf-8"
    guarded: bool = False
    """Shown only to who bears the token."""


Pages = Mapping[str, Callable[[], Page]]

_MEDIA_TYPES = {
    b"application/x-protobuf": Encoding.PROTOBUF,
    b"application/protobuf": Encoding.PROTOBUF,
    b"application/json": Encoding.JSON,
}
_CONTENT_TYPES = {Encoding.PROTOBUF: b"application/x-protobuf", Encoding.JSON: b"application/json"}
_WORTH_GZIP = 512  # bytes of an answer; a shorter one would grow


class HttpApp:
    """Answers HTTP requests."""

    def __init__(
        self,
        config: ReceiverConfig,
        intake: Intake,
        pages: Pages,
        *,
        fault: Callable[[str], None],
        ui: Browsable | None = None,
    ) -> None:
        """Take the requests into the intake; `fault` is told the traceback of what should not have happened."""
        self._ui = ui
        self._config = config
        self._intake = intake
        self._pages = pages
        self._fault = fault
        self._cross_origin = CrossOrigin(config.cors_origins)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: _Send) -> None:
        """Answer one request (ASGI 3)."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        body = RequestBody(receive, headers, self._intake, self._config.limits)
        exchange = _Exchange(send, headers, self._cross_origin.of(headers.get(b"origin")))
        try:
            await self._answer(scope, headers, body, exchange)
        except GoneError:
            return
        except Refusal as refusal:
            self._intake.count(Transport.HTTP, refusal)
            await exchange.refuse(refusal, heard_out=await body.drain())
        except Exception:  # noqa: BLE001  # the boundary: the client is asked to try again, and sees no traceback
            self._fault(traceback.format_exc())
            await exchange.refuse(Refusal(Fault.OUR_FAULT, "the receiver failed: send it again"))

    async def _answer(
        self, scope: Mapping[str, Any], headers: Mapping[bytes, bytes], body: RequestBody, exchange: "_Exchange"
    ) -> None:
        path, method = scope["path"], scope["method"]
        page = self._pages.get(path)
        if page is not None:
            await self._show(page(), method, headers, exchange)
            return
        if self._ui is not None and (path in _DOORS or path.startswith(f"{PREFIX}/")):
            await self._browse(self._ui, scope, headers, exchange)
            return
        signal = self._config.paths.get(path)
        if signal is None:
            raise Refusal(Fault.NOT_FOUND, f"{path} is not served: {', '.join(self._config.paths)} are")
        if method == "OPTIONS" and exchange.origin:
            await exchange.send(204, [*self._cross_origin.preflight(headers)], b"")
            return
        if method != "POST":
            exchange.extra.append((b"allow", b"POST"))
            raise Refusal(Fault.BAD_METHOD, f"{method} is not understood on {path}: POST is")
        await self._take(signal, headers, body, exchange)

    async def _take(
        self, signal: Signal, headers: Mapping[bytes, bytes], body: RequestBody, exchange: "_Exchange"
    ) -> None:
        if exchange.media_type is None:
            given = headers.get(b"content-type", b"").decode("latin-1")
            message = f"Content-Type {given!r} is not OTLP: send application/x-protobuf or application/json"
            raise Refusal(Fault.BAD_MEDIA_TYPE, message)
        encoding = exchange.media_type
        self._intake.admit(headers.get(b"authorization"))
        with self._intake.room() as reserve:
            request = await body.read(reserve)
            checked = await self._intake.keep(signal, encoding, Transport.HTTP, request)
        answer = accepted(signal, encoding, rejected=checked.refused, message=checked.message)
        await exchange.send(200, [], answer)

    async def _show(self, page: Page, method: str, headers: Mapping[bytes, bytes], exchange: "_Exchange") -> None:
        _only_get(method, exchange)
        if page.guarded:
            self._intake.authenticate(headers.get(b"authorization"))
        await exchange.send(page.status, [(b"content-type", page.content_type)], page.text.encode())

    async def _browse(
        self, ui: Browsable, scope: Mapping[str, Any], headers: Mapping[bytes, bytes], exchange: "_Exchange"
    ) -> None:
        exchange.origin = []  # other origins may send where they are named, and read nothing
        exchange.challenge = CHALLENGE
        _only_get(scope["method"], exchange)
        self._intake.authenticate(headers.get(b"authorization"))
        answer = await ui.answer(scope["path"], scope["query_string"], headers)
        await exchange.send(answer.status, answer.headers, answer.body)


_DOORS = frozenset(("/", PREFIX))
"""Where browsers come in; both lead to the list of runs."""


def _only_get(method: str, exchange: "_Exchange") -> None:
    if method not in {"GET", "HEAD"}:
        exchange.extra.append((b"allow", b"GET, HEAD"))
        raise Refusal(Fault.BAD_METHOD, f"{method} is not understood here: GET is")


class _Exchange:
    """One request's answer on its way."""

    def __init__(self, send: _Send, headers: Mapping[bytes, bytes], origin: _Headers) -> None:
        self._send = send
        self._takes_gzip = b"gzip" in headers.get(b"accept-encoding", b"")
        self.origin = origin
        self.extra: _Headers = []
        self.challenge = b"Bearer"
        media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        self.media_type = _MEDIA_TYPES.get(media_type)

    async def refuse(self, refusal: Refusal, *, heard_out: bool = True) -> None:
        row = refusal.row
        headers: _Headers = []
        if row.retry_after is not None:
            headers.append((b"retry-after", b"%d" % row.retry_after))
        if refusal.fault is Fault.UNAUTHENTICATED:
            headers.append((b"www-authenticate", self.challenge))
        if not heard_out:
            headers.append((b"connection", b"close"))
        encoding = self.media_type or Encoding.JSON
        await self.send(row.http, headers, refused(refusal, encoding))

    async def send(self, status: int, headers: _Headers, body: bytes) -> None:
        told = [*headers, *self.extra, *self.origin]
        if not any(name == b"content-type" for name, _ in headers) and status != _NO_CONTENT:
            told.append((b"content-type", _CONTENT_TYPES[self.media_type or Encoding.JSON]))
        if self._takes_gzip and len(body) >= _WORTH_GZIP:
            body = gzip.compress(body, compresslevel=1, mtime=0)
            told += ((b"content-encoding", b"gzip"), (b"vary", b"accept-encoding"))
        if status != _NO_CONTENT:
            told.append((b"content-length", b"%d" % len(body)))
        await self._send({"type": "http.response.start", "status": status, "headers": told})
        await self._send({"type": "http.response.body", "body": body})


_NO_CONTENT = 204
