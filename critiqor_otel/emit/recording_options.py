"""What a user may choose about a recording."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from opentelemetry.trace import TracerProvider

from critiqor_otel.emit.redaction import Redaction

__all__ = ["RecordingOptions"]

_USUAL = Redaction()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingOptions:
    """Every field has a default that follows the environment."""

    run_id: str | None = None
    """The run's id; by default that of the process, of the recorder or span around, or a new one."""
    tracer_provider: TracerProvider | None = None
    """Where spans go; by default the provider that is set globally."""
    capture_content: bool | None = None
    """Whether spans carry arguments, results and messages; by default as the OTel variable says, else not."""
    redaction: Redaction | None = _USUAL
    """What is scrubbed from spans; None: nothing is."""
    fingerprint_key: bytes | None = None
    """What fingerprints are made with; by default a key of this process."""
    now_ns: Callable[[], int] = time.time_ns
    """Nanoseconds since the epoch."""
    elapsed: Callable[[], float] = time.monotonic
    """Seconds since some moment, for durations."""
