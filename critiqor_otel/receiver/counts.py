"""What the receiver has answered so far, in numbers."""

from collections import Counter

import msgspec

from critiqor_otel.receiver.refusal import Fault
from critiqor_otel.spool.record import Signal, Transport

__all__ = ["Counts"]


class Counts(msgspec.Struct, kw_only=True):
    """Counted since the start; every field belongs to one event loop."""

    requests: Counter[tuple[Transport, Signal]] = msgspec.field(default_factory=Counter[tuple[Transport, Signal]])
    """That were acknowledged."""
    received: Counter[Signal] = msgspec.field(default_factory=Counter[Signal])
    """Spans, log records and metrics that were acknowledged."""
    rejected: Counter[Signal] = msgspec.field(default_factory=Counter[Signal])
    """Those of them that were refused in a partial success."""
    refusals: Counter[tuple[Transport, Fault]] = msgspec.field(default_factory=Counter[tuple[Transport, Fault]])
    """Requests that were refused as a whole."""
    received_bytes: int = 0
    """Inflated."""
    acknowledged_ns: int = 0
    """Time from the last byte of requests to their acknowledgement, summed."""
