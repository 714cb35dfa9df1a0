"""What a receiver said to a request, in the words of OTLP: taken, taken in part, too large, later, never.

Source: https://opentelemetry.io/docs/specs/otlp/, "Failures" of OTLP/gRPC and OTLP/HTTP.
"""

from enum import StrEnum
from typing import NamedTuple, Protocol

from critiqor_otel.decode.wire import read_varint, top_fields

__all__ = ["Reply", "Transport", "Verdict", "partial_success", "retry_delay"]


class Verdict(StrEnum):
    """What is to be done now."""

    TAKEN = "taken"
    """Nothing, but for telling of what was rejected."""
    TOO_LARGE = "too large"
    """Send it in smaller pieces."""
    LATER = "later"
    """Send it again."""
    NEVER = "never"
    """The same bytes would fail again."""


class Reply(NamedTuple):
    """An answer, or why there was none."""

    verdict: Verdict
    message: str = ""
    delay: float | None = None
    """Seconds after which to send again, where the receiver says so."""
    rejected: int = 0
    """Spans that the receiver took the request without."""


class Transport(Protocol):
    """A way to send requests; one thread sends at a time."""

    def send(self, body: bytes, timeout: float) -> Reply:
        """Send an ExportTraceServiceRequest and return the reply; it never raises for what the network does."""
        ...

    def close(self) -> None:
        """Let go of the connection; the next request makes a new one."""
        ...


def partial_success(body: bytes) -> tuple[int, str]:
    """Return how many spans an ExportTraceServiceResponse says were rejected, and why."""
    told = _parts(_parts(body).get(1, b""))
    return _number(told.get(1)), told.get(2, b"").decode("utf-8", "replace")


def retry_delay(status: bytes) -> float | None:
    """Return the seconds that a google.rpc.Status asks to wait for (RetryInfo), or None when it asks for none."""
    for number, _, detail in top_fields(status):
        if number != _DETAILS:
            continue
        parts = _parts(detail)
        if parts.get(1, b"").endswith(b"google.rpc.RetryInfo"):
            duration = _parts(_parts(parts.get(2, b"")).get(1, b""))
            return _number(duration.get(1)) + _number(duration.get(2)) / 1e9
    return None


_DETAILS = 3  # of google.rpc.Status


def _parts(message: bytes) -> dict[int, bytes]:
    """Return the content of a message's fields, of a repeated one the last."""
    return {number: content for number, _, content in top_fields(message)}


def _number(content: bytes | None) -> int:
    return 0 if content is None else read_varint(content, 0)[0]
