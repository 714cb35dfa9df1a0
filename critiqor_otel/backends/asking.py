"""One question to a back end over HTTP, and its answer; what goes wrong is said in words."""

import base64
import http.client
import os
import socket
import ssl
import urllib.error
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from typing_extensions import override

from critiqor_otel.backends.address import Address
from critiqor_otel.errors import UnreadableInputError

__all__ = ["TOKEN_VARIABLE", "Backend", "NotThereError"]

TOKEN_VARIABLE = "CRITIQOR_BACKEND_TOKEN"  # noqa: S105  # the name of a variable, not a secret

_SECONDS = 60.0
_SHOWN = 200  # characters of an answer that a message quotes
_NOT_FOUND = 404


class NotThereError(UnreadableInputError):
    """The back end has nothing under this path (404)."""


class _NoRedirects(HTTPRedirectHandler):
    """Follows nobody elsewhere: credentials are for the host that was named."""

    @override
    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        return None


class Backend:
    """Asks one back end."""

    def __init__(self, address: Address, headers: Mapping[str, str] | None = None) -> None:
        """Take where it is and what every question bears; the proxies of the environment are used."""
        self._address = address
        self._headers = {"accept": "application/json", **_authorization(address), **(headers or {})}
        self._opener: OpenerDirector = build_opener(_NoRedirects)

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> bytes:
        """Return the body of the answer.

        Raises:
            NotThereError: it is answered with 404.
            UnreadableInputError: nobody answers, or with another status than 200.
        """
        url = f"{self._address.base}{path}{f'?{urlencode(query)}' if query else ''}"
        request = Request(url, headers=self._headers)  # noqa: S310  # http or https: the address says which
        try:
            with self._opener.open(request, timeout=_SECONDS) as answer:
                body: bytes = answer.read()
                return body
        except urllib.error.HTTPError as error:
            raise self._refused(path, error) from error
        except (OSError, http.client.HTTPException) as error:
            raise UnreadableInputError(f"{self._address.shown}: {_unreached(error)}") from error

    def _refused(self, path: str, error: urllib.error.HTTPError) -> UnreadableInputError:
        kind = NotThereError if error.code == _NOT_FOUND else UnreadableInputError
        with error:
            told = error.read(_SHOWN * 4).decode("utf-8", "replace").strip()[:_SHOWN]
        location = error.headers.get("location")
        more = f"; it points to {location}" if location else f": {told}" if told else ""
        return kind(f"{self._address.shown}: {path} is answered with {error.code} {error.reason}{more}")


def _authorization(address: Address) -> dict[str, str]:
    if address.credentials is not None:
        told = base64.b64encode(":".join(address.credentials).encode()).decode()
        return {"authorization": f"Basic {told}"}
    token = os.environ.get(TOKEN_VARIABLE)
    return {"authorization": f"Bearer {token}"} if token else {}


def _unreached(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError | socket.timeout):
        return f"it did not answer within {_SECONDS:g} seconds"
    if isinstance(reason, socket.gaierror):
        return f"its host is not known: {reason.strerror}"
    if isinstance(reason, ssl.SSLError):
        return f"TLS failed: {reason.reason or reason}"
    if isinstance(reason, OSError):
        return f"it can't be reached: {reason.strerror or reason}"
    return f"what answers there does not speak HTTP: {type(reason).__name__} {reason}"
