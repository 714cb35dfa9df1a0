"""A closed session becomes a sealed file: its spans are gathered, reconstructed, written, and remembered as sealed."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from analyzer.bulk import bulk_work
from analyzer.session.model import Session
from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.reconstruct.grouping import GroupBy
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import LogRecord, Span
from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.decoding import decoded_of_trace
from critiqor_otel.spool.journal_reader import JournalReader
from critiqor_otel.spool.open_sessions import Closed, OpenSession, Piece
from critiqor_otel.spool.sealed_index import SealedIndex, spans_of
from critiqor_otel.spool.sealed_runs import Arrival, Sealed, seal
from critiqor_otel.spool.verdicts import Rules, judge, verdict_line

__all__ = ["SealedRun", "Sink", "Unsealed"]


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


class Unsealed(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a closed session besides its sealed runs."""

    runs: tuple[SealedRun, ...]
    lost: tuple[Piece, ...]
    """The places of spans that stand in none of the sessions, to be kept as they came."""
    unplaced_logs: int


class Sink:
    """Seals sessions under a folder of runs."""

    def __init__(
        self,
        runs: Path,
        *,
        index: SealedIndex,
        journal: JournalReader,
        group_by: GroupBy | None = None,
        judged_by: Rules | None = None,
        run_id: str | None = None,
    ) -> None:
        """Take the folder, which must be there, and what is sealed in it; diagnose by rules, or not."""
        self._runs = runs
        self._index = index
        self._journal = journal
        self._group_by = group_by
        self._rules = judged_by
        self._run_id = run_id

    def seal(self, closed: Closed) -> Unsealed:
        """Seal what a closed session holds: one run, or several where its traces tell of several.

        Raises:
            OutputError: a file cannot be written; what was sealed before it stays, and sealing again is harmless.
        """
        with bulk_work():
            spans, logs = self._gather(closed.session)
            sessions = reconstruct(spans, logs, group_by=self._group_by, keep_silent=True).sessions
            delivered = Counter((span.trace_id, span.span_id) for span in spans)
            runs = tuple([self._seal_one(session, closed, delivered) for session in sessions])
        told = {address for session in sessions for address in _addresses(session)}
        lost = [address for address in delivered if address not in told]
        return Unsealed(
            runs=runs,
            lost=_pieces_of(closed.session, {trace_id for trace_id, _ in lost}) if lost else (),
            unplaced_logs=sum(1 for log in logs if _is_unplaced(log, delivered)),
        )

    def _seal_one(self, session: Session, closed: Closed, delivered: Counter[tuple[str, str]]) -> SealedRun:
        session = self._as_part_of_its_run(session)
        addresses = list(_addresses(session))
        repeats = sum(max(0, delivered[address] - 1) for address in addresses)
        arrival = Arrival(transport=closed.session.transport, close_reason=closed.reason, duplicates=repeats)
        sealed = seal(session, arrival, runs=self._runs)
        written = _written(session, sealed)
        self._index.add([(sealed.folder, written)])
        run = SealedRun(
            run_id=sealed.run_id,
            folder=str(sealed.folder),
            close_reason=closed.reason,
            spans=len(addresses),
            duplicates=repeats,
        )
        return run if self._rules is None else self._judged(run, written, self._rules)

    def _judged(self, run: SealedRun, session: Session, rules: Rules) -> SealedRun:
        verdict = judge(session, runs=self._runs, rules=rules)
        severities = tuple(cause.severity.value for cause in verdict.failure_causes)
        return msgspec.structs.replace(run, verdict=verdict_line(verdict), severities=severities)

    def _as_part_of_its_run(self, session: Session) -> Session:
        """Give late spans the id of the run their trace was sealed in, where nothing but the trace names them."""
        if session.run_id not in session.trace_ids:
            return session
        known = (self._index.sealed(trace_id) for trace_id in session.trace_ids)
        run_id = next((trace.run_id for trace in known if trace is not None), session.run_id)
        return msgspec.structs.replace(session, run_id=run_id)

    def _gather(self, session: OpenSession) -> tuple[list[Span], list[LogRecord]]:
        spans: list[Span] = []
        logs: list[LogRecord] = []
        for piece in session.pieces:
            more_spans, more_logs = self._contents(piece)
            spans += more_spans
            logs += more_logs
        return spans, logs

    def _contents(self, piece: Piece) -> tuple[list[Span], list[LogRecord]]:
        """Return what a piece holds, read from the journal again when it was forgotten."""
        if piece.spans is not None and piece.logs is not None:
            return piece.spans, piece.logs
        record = self._journal.read_at(piece.position)
        if record is None:
            return [], []
        batch = decoded_of_trace(record, piece.trace_id, run_id=self._run_id)
        sealed = self._index.sealed(piece.trace_id)
        spans = [span for span in batch.spans if sealed is None or span.span_id not in sealed.span_ids]
        return spans, list(batch.logs)


def _written(session: Session, sealed: Sealed) -> Session:
    if sealed.run_id == session.run_id:
        return session
    return msgspec.structs.replace(session, run_id=sealed.run_id, continues=session.run_id)


def _addresses(session: Session) -> Iterator[tuple[str, str]]:
    for trace_id, span_ids in spans_of(session).items():
        for span_id in span_ids:
            yield trace_id, span_id


def _pieces_of(session: OpenSession, traces: set[str]) -> tuple[Piece, ...]:
    return tuple(piece for piece in session.pieces if piece.trace_id in traces)


def _is_unplaced(log: LogRecord, delivered: Counter[tuple[str, str]]) -> bool:
    return (log.trace_id or "", log.span_id or "") not in delivered and span_of_record(log) is None
