"""Which ids do a run's spans have? They follow from the run id: the same file gives the same ids."""

import hashlib

__all__ = ["span_id_of", "trace_id_of"]

_TRACE, _SPAN = 32, 16  # hex digits


def trace_id_of(run_id: str) -> str:
    """Return the trace id of a run: lower-case hex of 32 digits."""
    return _digest("trace", run_id)[:_TRACE]


def span_id_of(run_id: str, part: str) -> str:
    """Return the span id of a part of a run (`run`, `event 17`): lower-case hex of 16 digits."""
    return _digest("span", f"{run_id}\0{part}")[:_SPAN]


def _digest(kind: str, text: str) -> str:
    # The words before the text keep the ids of different kinds apart; an all-zero digest is not to be met with.
    return hashlib.sha256(f"critiqor {kind}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
