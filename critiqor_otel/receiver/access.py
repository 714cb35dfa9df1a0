"""Who may send: the bearer token, compared in constant time, and the number of requests a second."""

import base64
import binascii
import hmac

from critiqor_otel.receiver.refusal import Fault, Refusal

__all__ = ["RateLimit", "authenticate"]


def authenticate(authorization: bytes | None, token: str | None) -> None:
    """Let a request pass that bears the token, as Bearer or as the password of Basic; any when there is no token.

    Raises:
        Refusal: it does not.
    """
    if token is None:
        return
    scheme, _, credentials = (authorization or b"").partition(b" ")
    given = _PRESENTED.get(scheme.lower(), _nothing)(credentials.strip())
    if not hmac.compare_digest(given, token.encode()):
        message = "the request bears no valid token: set the header Authorization to `Bearer TOKEN`"
        raise Refusal(Fault.UNAUTHENTICATED, message)


class RateLimit:
    """A bucket that fills at a rate and holds a second's worth; the time is told."""

    def __init__(self, per_second: float | None) -> None:
        """Begin full."""
        self._rate = per_second
        self._left = per_second or 0.0
        self._at_ns: int | None = None

    def take(self, now_ns: int) -> None:
        """Take one request out of the bucket.

        Raises:
            Refusal: it is empty.
        """
        if self._rate is None:
            return
        passed = 0 if self._at_ns is None else max(0, now_ns - self._at_ns)
        self._at_ns = now_ns
        self._left = min(max(self._rate, 1.0), self._left + passed * self._rate / 1e9)
        if self._left < 1:
            raise Refusal(Fault.THROTTLED, f"more than {self._rate:g} requests a second: slow down, then send it again")
        self._left -= 1


def _bearer(credentials: bytes) -> bytes:
    return credentials


def _basic(credentials: bytes) -> bytes:
    try:
        return base64.b64decode(credentials, validate=True).partition(b":")[2]
    except binascii.Error:
        return b""


def _nothing(_credentials: bytes) -> bytes:
    return b""


_PRESENTED = {b"bearer": _bearer, b"basic": _basic}
