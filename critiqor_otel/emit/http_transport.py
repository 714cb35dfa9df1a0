"""OTLP over HTTP by the standard library: one kept connection, proxies of the environment, errors told apart."""

import base64
import gzip
import http.client
import os
import zlib
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from typing_extensions import override

from critiqor_otel.emit.otlp_settings import OtlpSettings, host_of, sound_headers, tls_context
from critiqor_otel.emit.reply import Reply, Transport, Verdict, partial_success

__all__ = ["HttpTransport"]

_PACK: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, 6, mtime=0),
    "deflate": zlib.compress,
}
_TOO_LARGE = 413
# OTLP/HTTP: these four and no other.
_LATER = frozenset((429, 502, 503, 504))
_SUCCESS = range(200, 300)
_SHOWN = 300  # bytes of an answer that a message quotes
_MOST_READ = 1 << 20


class HttpTransport(Transport):
    """Posts to one endpoint."""

    def __init__(self, settings: OtlpSettings) -> None:
        """Take the settings; nothing is connected yet.

        Raises:
            ValueError: the endpoint is no HTTP address, or a header can't be sent.
            OSError: a certificate or key cannot be read.
        """
        parts = _address(settings.endpoint)
        self._settings = settings
        self._parts = parts
        self._tls = tls_context(settings) if parts.scheme == "https" else None
        self._headers = _headers(settings, parts)
        self._connection: http.client.HTTPConnection | None = None
        self._pid = os.getpid()

    @override
    def send(self, body: bytes, timeout: float) -> Reply:
        packed = _PACK[self._settings.compression](body) if self._settings.compression in _PACK else body
        is_kept = self._is_connected()
        try:
            return self._post(packed, timeout)
        except (http.client.RemoteDisconnected, ConnectionError) as error:
            self.close()
            if not is_kept:
                return self._unreached(error)
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            self.close()
            return self._unreached(error)
        try:  # a kept connection that the other side had given up
            return self._post(packed, timeout)
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            self.close()
            return self._unreached(error)

    @override
    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _is_connected(self) -> bool:
        if self._pid != os.getpid():  # the connection is the parent's
            self._pid, self._connection = os.getpid(), None
        return self._connection is not None

    def _post(self, body: bytes, timeout: float) -> Reply:
        connection = self._connection
        if connection is None:
            connection = self._connection = self._connect(timeout)
        if connection.sock is not None:
            connection.sock.settimeout(timeout)
        connection.request("POST", self._target(), body, self._headers)
        response = connection.getresponse()
        content = response.read(_MOST_READ)
        if response.will_close or not response.isclosed():
            self.close()
        return self._reply(response, content)

    def _reply(self, response: http.client.HTTPResponse, content: bytes) -> Reply:
        if response.status in _SUCCESS:
            rejected, message = partial_success(content)
            return Reply(Verdict.TAKEN, message, rejected=rejected)
        said = content[:_SHOWN].decode("utf-8", "replace").strip()
        message = f"{host_of(self._settings.endpoint)} answered {response.status} {response.reason}: {said}"
        if response.status == _TOO_LARGE:
            return Reply(Verdict.TOO_LARGE, message)
        if response.status in _LATER:
            wait = _delay(response.headers.get("Retry-After"), response.headers.get("Date"))
            return Reply(Verdict.LATER, message, delay=wait)
        return Reply(Verdict.NEVER, message)

    def _unreached(self, error: Exception) -> Reply:
        host = host_of(self._settings.endpoint)
        return Reply(Verdict.LATER, f"{host} was not reached: {str(error) or type(error).__name__}")

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        proxy = _proxy_for(self._parts)
        host, port = (proxy.hostname or "", proxy.port) if proxy else (self._parts.hostname or "", self._parts.port)
        connection: http.client.HTTPConnection
        if self._tls is None:
            connection = http.client.HTTPConnection(host, port, timeout=timeout)
        else:
            connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=self._tls)
            if proxy is not None:
                connection.set_tunnel(self._parts.hostname or "", self._parts.port)
        return connection

    def _target(self) -> str:
        path = self._parts.path or "/"
        target = f"{path}?{self._parts.query}" if self._parts.query else path
        if self._tls is None and _proxy_for(self._parts) is not None:
            return f"http://{host_of(self._settings.endpoint)}{target}"
        return target


def _address(endpoint: str) -> SplitResult:
    try:
        parts = urlsplit(endpoint)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
    except ValueError as error:  # a port that is none, a bracket that is not closed
        raise ValueError(f"{endpoint.rpartition('@')[2]} is no address of OTLP/HTTP: {error}") from error
    if not known:
        raise ValueError(f"{host_of(endpoint)} is no address of OTLP/HTTP: http://host:4318/v1/traces")
    return parts


def _headers(settings: OtlpSettings, parts: SplitResult) -> dict[str, str]:
    headers = {"content-type": "application/x-protobuf", "user-agent": "critiqor-otel"}
    if settings.compression != "none":
        headers["content-encoding"] = settings.compression
    if parts.username:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers["authorization"] = f"Basic {base64.b64encode(login).decode()}"
    return {**headers, **sound_headers(settings.headers)}


def _proxy_for(parts: SplitResult) -> SplitResult | None:
    found = getproxies().get(parts.scheme)
    if not found or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return urlsplit(found if "//" in found else f"//{found}")


def _delay(value: str | None, now: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for: a number, or the time until a date."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        # By the receiver's own clock, which may differ from ours.
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(now or "")
    except ValueError:
        return None
    return max(wait.total_seconds(), 0.0)
