"""What a closed session came to: its runs, on their way to their folders, and what stands in none of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from analyzer.session.model import Session
from critiqor_otel.errors import OutputError
from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.open_sessions import Closed, OpenSession, Piece
from critiqor_otel.spool.sealed_index import Spans, spans_of
from critiqor_otel.spool.sealed_runs import Arrival, Sealed

__all__ = ["Delivered", "Made", "MadeRun", "SealedRun", "lost_pieces"]

Delivered = Counter[tuple[str, str]]
"""How often each span was delivered, by its address."""


class SealedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a session that was sealed."""

    run_id: str
    folder: str
    close_reason: CloseReason
    spans: int
    duplicates: int
    verdict: str | None = None
    """One line, when runs are diagnosed as they seal."""
    severities: tuple[str, ...] = ()
    """Of the failures that were found."""


class MadeRun:
    """One run of a closed session."""

    def __init__(self, session: Session, closed: Closed, delivered: Delivered) -> None:
        """Count what of it was delivered more than once."""
        self.session = session
        self.spans = spans_of(session)
        self.repeats = sum([delivered[address] - 1 for address in self.addresses() if address in delivered])
        self.arrival = Arrival(transport=closed.session.transport, close_reason=closed.reason, duplicates=self.repeats)
        self.sealed: Sealed | OutputError | None = None
        """Where it was written, or why it was not."""

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Yield the addresses of its spans."""
        for trace_id, span_ids in self.spans.items():
            for span_id in span_ids:
                yield trace_id, span_id

    def place(self) -> Sealed:
        """Return where it lies.

        Raises:
            OutputError: it could not be written.
        """
        if isinstance(self.sealed, Sealed):
            return self.sealed
        raise self.sealed or OutputError(f"{self.session.run_id} was not written")

    def written(self) -> Session:
        """Return the session as it was written: that of a continuation bears its number."""
        run_id = self.place().run_id
        if run_id == self.session.run_id:
            return self.session
        return msgspec.structs.replace(self.session, run_id=run_id, continues=self.session.run_id)

    def entries(self) -> Iterator[tuple[Path, Session, Spans]]:
        """Yield what the index is to remember of it: nothing where it was not written."""
        if isinstance(self.sealed, Sealed):
            yield self.sealed.folder, self.written(), self.spans

    def told(self) -> SealedRun:
        """Return what is told of it.

        Raises:
            OutputError: it could not be written.
        """
        place = self.place()
        return SealedRun(
            run_id=place.run_id,
            folder=str(place.folder),
            close_reason=CloseReason(self.arrival.close_reason),
            spans=sum(map(len, self.spans.values())),
            duplicates=self.repeats,
        )


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """What a closed session came to, before it is written."""

    runs: list[MadeRun]
    lost: tuple[Piece, ...]
    """The places of spans that stand in none of the runs."""
    unplaced_logs: int


def lost_pieces(session: OpenSession, runs: Sequence[MadeRun], delivered: Delivered) -> tuple[Piece, ...]:
    """Return the pieces with spans that stand in none of the runs."""
    told = {address for run in runs for address in run.addresses()}
    traces = {trace_id for trace_id, _ in delivered.keys() - told}
    return tuple(piece for piece in session.pieces if piece.trace_id in traces)
