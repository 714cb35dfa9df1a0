"""What the owner of the open sessions has done so far, in numbers."""

import msgspec

from critiqor_otel.spool.close_reason import CloseReason

__all__ = ["Tally"]


class Tally(msgspec.Struct, kw_only=True):
    """Counted since the start, except what is open and what lags now."""

    spans: int = 0
    """Spans read from the journal, repeats among them."""
    logs: int = 0
    duplicates: int = 0
    """Deliveries of spans beyond the first: retries, and what was sealed before a restart."""
    annotations: int = 0
    """Spans that tell verdicts of ours, come back from the trace they were sent to; they are no evidence."""
    late_logs: int = 0
    """Log records that came when the session of their span was sealed."""
    unplaced_logs: int = 0
    """Log records that name no span and no session; they cannot be kept in one."""
    damaged: int = 0
    """Places in the journal whose bytes changed since they were written."""
    torn: int = 0
    """Segments cut short by a crash; nothing in the cut was acknowledged."""
    kept_aside: int = 0
    sealed: dict[str, int] = {}
    """Sessions by close reason."""
    sealed_spans: int = 0
    open_sessions: int = 0
    decoded_bytes: int = 0
    lag_bytes: int = 0
    """Bytes of the journal that were not looked at yet."""
    lag_ns: int = 0
    """How long the record that was read last had waited."""
    failing: int = 0
    """Sessions that could not be sealed so far (a full disk); they are tried again."""
    stands_still: bool = False
    """No session can be made at present (the folder of runs is gone); it is tried again."""

    def add_run(self, reason: CloseReason, *, spans: int, duplicates: int) -> None:
        """Count a run that was sealed."""
        self.sealed[reason.value] = self.sealed.get(reason.value, 0) + 1
        self.sealed_spans += spans
        self.duplicates += duplicates
