"""A closed session becomes a sealed file: its spans are gathered, reconstructed, written, and remembered as sealed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from analyzer.bulk import tidy_work
from analyzer.session.model import Session
from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.errors import CritiqorError
from critiqor_otel.reconstruct.grouping import GroupBy
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Batch, LogRecord, Span
from critiqor_otel.spool.decoding import decoded_of_traces, trace_of
from critiqor_otel.spool.journal_reader import JournalReader
from critiqor_otel.spool.made_runs import Delivered, Made, MadeRun, SealedRun, lost_pieces
from critiqor_otel.spool.open_sessions import Closed, Piece
from critiqor_otel.spool.sealed_index import SealedIndex
from critiqor_otel.spool.sealed_runs import seal_all
from critiqor_otel.spool.segments import Position
from critiqor_otel.spool.verdicts import Rules, judge, verdict_line

__all__ = ["SealedRun", "Sink", "Unsealed"]


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
    ) -> None:
        """Take the folder, which must be there, and what is sealed in it; diagnose by rules, or not."""
        self._runs = runs
        self._index = index
        self._journal = journal
        self._group_by = group_by
        self._rules = judged_by

    def seal(self, closed: Sequence[Closed]) -> list[Unsealed | Exception]:
        """Seal what closed sessions hold, each one run, or several where its traces tell of several.

        What they share is done once for all: records read again, syncs, the transaction of the index. For each there
        is what came of it, or what went wrong; then what was sealed of it stays, and sealing it again is harmless.
        """
        try:
            with tidy_work():
                return self._sealed(closed)
        except Exception as error:  # noqa: BLE001  # what is wrong with one must not keep the others unsealed
            if len(closed) == 1:
                return [error]
            return [outcome for one in closed for outcome in self.seal([one])]

    def _sealed(self, closed: Sequence[Closed]) -> list[Unsealed | Exception]:
        self._recall(closed)
        made = [self._made(one) for one in closed]
        self._write([run for one in made for run in one.runs])
        return [self._told(one) for one in made]

    def _made(self, closed: Closed) -> Made:
        """Return the runs that a closed session tells of."""
        spans = [span for piece in closed.session.pieces for span in piece.spans or ()]
        logs = [log for piece in closed.session.pieces for log in piece.logs or ()]
        sessions = reconstruct(spans, logs, group_by=self._group_by, keep_silent=True).sessions
        delivered = Delivered([(span.trace_id, span.span_id) for span in spans])
        runs = [MadeRun(self._as_part_of_its_run(session), closed, delivered) for session in sessions]
        return Made(
            runs=runs,
            lost=lost_pieces(closed.session, runs, delivered),
            unplaced_logs=sum(1 for log in logs if _is_unplaced(log, delivered)),
        )

    def _write(self, runs: Sequence[MadeRun]) -> None:
        places = seal_all([(run.session, run.arrival) for run in runs], runs=self._runs)
        for run, place in zip(runs, places, strict=True):
            run.sealed = place
        self._index.add([entry for run in runs for entry in run.entries()])

    def _told(self, made: Made) -> Unsealed | Exception:
        """Return what is told of the runs, diagnosed where that is asked."""
        try:
            runs = tuple([self._run_told(run) for run in made.runs])
        except (CritiqorError, OSError) as error:
            return error
        return Unsealed(runs=runs, lost=made.lost, unplaced_logs=made.unplaced_logs)

    def _run_told(self, run: MadeRun) -> SealedRun:
        told = run.told()
        return told if self._rules is None else self._judged(told, run.written(), self._rules)

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

    def _recall(self, closed: Sequence[Closed]) -> None:
        """Read what was forgotten of the sessions from the journal again, each record once."""
        forgotten: dict[Position, dict[str, Piece]] = {}
        for one in closed:
            for piece in one.session.pieces:
                if piece.spans is None or piece.logs is None:
                    forgotten.setdefault(piece.position, {})[piece.trace_id] = piece
                elif piece.late:  # more may be sealed of its trace since it came
                    piece.spans = self._new(piece, piece.spans)
        for position, pieces in sorted(forgotten.items()):
            record = self._journal.read_at(position)
            batch = Batch() if record is None else decoded_of_traces(record, pieces)
            self._refill(pieces, batch)

    def _refill(self, pieces: Mapping[str, Piece], batch: Batch) -> None:
        spans: dict[str, list[Span]] = {trace_id: [] for trace_id in pieces}
        logs: dict[str, list[LogRecord]] = {trace_id: [] for trace_id in pieces}
        for span in batch.spans:
            spans[span.trace_id].append(span)
        for log in batch.logs:
            logs[trace_of(log) or ""].append(log)
        for trace_id, piece in pieces.items():
            piece.spans = self._new(piece, spans[trace_id])
            piece.logs = logs[trace_id]

    def _new(self, piece: Piece, spans: list[Span]) -> list[Span]:
        """Return the spans that are not sealed yet."""
        sealed = self._index.sealed(piece.trace_id) if piece.late else None
        return spans if sealed is None else [span for span in spans if span.span_id not in sealed.span_ids]


def _is_unplaced(log: LogRecord, delivered: Delivered) -> bool:
    return (log.trace_id or "", log.span_id or "") not in delivered and span_of_record(log) is None
