"""The body of an HTTP request: read within limits of size and time, and inflated."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from critiqor_otel.receiver.config import Limits
from critiqor_otel.receiver.inflating import TooMuchError, inflated
from critiqor_otel.receiver.intake import Intake
from critiqor_otel.receiver.refusal import Fault, Refusal

__all__ = ["GoneError", "Receive", "RequestBody"]

Receive = Callable[[], Awaitable[Mapping[str, Any]]]

_PLAIN = frozenset((b"", b"identity"))
_GZIP = frozenset((b"gzip", b"x-gzip"))
_AT_ONCE = 1 << 18  # compressed bytes that are inflated in the event loop; more would hold it up
_DRAIN_SECONDS = 5.0


class GoneError(Exception):
    """The client went away before its request was whole."""


class RequestBody:
    """The body of one request, on its way in."""

    def __init__(self, receive: Receive, headers: Mapping[bytes, bytes], intake: Intake, limits: Limits) -> None:
        """Take what the server gives; nothing is read yet."""
        self._receive = receive
        self._headers = headers
        self._intake = intake
        self._limits = limits
        self._whole = False

    async def read(self, reserve: Callable[[int], None]) -> bytes:
        """Return the body as it was before it was compressed.

        Raises:
            Refusal: it is too large before or after inflating, comes too slowly, or is in a coding we don't know.
            GoneError: the client went away.
        """
        coding = self._headers.get(b"content-encoding", b"").strip().lower()
        if coding not in _PLAIN and coding not in _GZIP:
            named = coding.decode("latin-1")
            raise Refusal(Fault.BAD_CODING, f"Content-Encoding {named!r} is not understood: send gzip, or none")
        length = self._headers.get(b"content-length")
        if length is not None and length.isdigit() and int(length) > self._limits.request_bytes:
            raise self._intake.too_large(int(length))
        seconds = self._limits.body_seconds
        try:
            async with asyncio.timeout(seconds):
                body = await self._read_on(reserve)
        except TimeoutError as error:
            raise Refusal(Fault.TOO_SLOW, f"the body was not whole after {seconds:g} seconds") from error
        return body if coding in _PLAIN else await self._inflated(body, reserve)

    async def drain(self) -> bool:
        """Drop what a refused client still sends, so that it comes to read the answer; tell whether it has sent all.

        Who asked first whether to send (Expect: 100-continue) sends nothing and waits: nothing is read then.
        """
        if self._whole or b"expect" in self._headers:
            return self._whole
        dropped = 0
        try:
            async with asyncio.timeout(min(_DRAIN_SECONDS, self._limits.body_seconds)):
                while not self._whole and dropped < self._limits.request_bytes:
                    dropped += len(await self._part())
        except (TimeoutError, GoneError):
            pass
        return self._whole

    async def _read_on(self, reserve: Callable[[int], None]) -> bytes:
        parts: list[bytes] = []
        while not self._whole:
            part = await self._part()
            reserve(len(part))
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _part(self) -> bytes:
        message = await self._receive()
        if message["type"] != "http.request":
            raise GoneError
        self._whole = not message.get("more_body", False)
        part: bytes = message.get("body", b"")
        return part

    async def _inflated(self, body: bytes, reserve: Callable[[int], None]) -> bytes:
        if not body:
            return body
        limit = self._limits.request_bytes
        try:
            if len(body) <= _AT_ONCE:
                plain = inflated(body, limit=limit)
            else:
                plain = await asyncio.get_running_loop().run_in_executor(None, lambda: inflated(body, limit=limit))
        except TooMuchError as error:
            raise self._intake.too_large(limit + 1) from error
        reserve(max(0, len(plain) - len(body)))
        return plain
