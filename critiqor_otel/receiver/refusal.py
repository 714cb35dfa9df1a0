"""Why a request is refused, and what that is over gRPC and over HTTP: one table.

The distinction that matters is permanent or retryable. Clients repeat UNAVAILABLE, 429 and 503, and drop the data on
everything else, so what another try could mend is never anything else, and what none could mend never one of these.
Source: OTLP specification, "Failures" and "OTLP/gRPC Throttling".
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

__all__ = ["TABLE", "Fault", "Refusal", "Row"]


class Fault(StrEnum):
    """A reason to refuse a whole request; the word that the metrics bear."""

    BAD_DATA = "bad_data"
    TOO_LARGE = "too_large"
    UNAUTHENTICATED = "unauthenticated"
    NOT_FOUND = "not_found"
    BAD_METHOD = "bad_method"
    BAD_MEDIA_TYPE = "bad_media_type"
    BAD_CODING = "bad_coding"
    TOO_SLOW = "too_slow"
    THROTTLED = "throttled"
    OVERLOADED = "overloaded"
    NOT_KEPT = "not_kept"
    SHUTTING_DOWN = "shutting_down"
    OUR_FAULT = "our_fault"


class Row(NamedTuple):
    """One line of the table."""

    code: int
    """google.rpc.Code, which is gRPC's status code."""
    http: int
    retry_after: int | None = None
    """Seconds to wait before another try; None when no try will help."""


# OVERLOADED and THROTTLED are UNAVAILABLE over gRPC: RESOURCE_EXHAUSTED would tell clients to drop the data.
TABLE: Mapping[Fault, Row] = {
    Fault.BAD_DATA: Row(3, 400),
    Fault.TOO_LARGE: Row(8, 413),
    Fault.UNAUTHENTICATED: Row(16, 401),
    Fault.NOT_FOUND: Row(12, 404),
    Fault.BAD_METHOD: Row(12, 405),
    Fault.BAD_MEDIA_TYPE: Row(3, 415),
    Fault.BAD_CODING: Row(3, 415),
    Fault.TOO_SLOW: Row(4, 408),
    Fault.THROTTLED: Row(14, 429, 1),
    Fault.OVERLOADED: Row(14, 503, 2),
    Fault.NOT_KEPT: Row(14, 503, 5),
    Fault.SHUTTING_DOWN: Row(14, 503, 5),
    Fault.OUR_FAULT: Row(14, 503, 5),
}


class Refusal(Exception):  # noqa: N818  # not an error of ours: an answer
    """A request is not taken; the message goes to the client."""

    def __init__(self, fault: Fault, message: str) -> None:
        """Name the fault, and say what was found and what to do."""
        super().__init__(message)
        self.fault = fault
        self.message = message

    @property
    def row(self) -> Row:
        """What it is over gRPC and HTTP."""
        return TABLE[self.fault]
