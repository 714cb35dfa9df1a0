"""The one owner of all open sessions: reads the journal, decodes, groups, closes, seals, and removes what is done with.

It has no lock and no clock of its own: `step` is told the time. It may run in a thread or in a process of its own,
since the journal is all it has in common with the receiver. After a crash the same steps read the same journal again:
what is sealed is known from the index, the rest is opened again.
"""

import sqlite3
import traceback
from collections import Counter
from collections.abc import Callable

import msgspec

from analyzer.bulk import bulk_work
from analyzer.diagnosis import Profile
from analyzer.options import Options
from critiqor_otel.conventions.carriage import ANNOTATION
from critiqor_otel.errors import CritiqorError, DecodeError
from critiqor_otel.reconstruct.grouping import GroupBy
from critiqor_otel.span import Batch, LogRecord, Span
from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.decoding import decoded, trace_of
from critiqor_otel.spool.journal_reader import Damage, JournalReader, Stored
from critiqor_otel.spool.kept_aside import KeptAside
from critiqor_otel.spool.open_sessions import Closed, OpenSessions, Patience, Piece
from critiqor_otel.spool.record import Record, Signal
from critiqor_otel.spool.sealed_index import SealedIndex
from critiqor_otel.spool.sealing_order import Unwritten, in_groups
from critiqor_otel.spool.segments import Position, remove_segment, segments
from critiqor_otel.spool.sink import SealedRun, Sink, Unsealed
from critiqor_otel.spool.spool_folder import SpoolFolder
from critiqor_otel.spool.tally import Tally
from critiqor_otel.spool.verdicts import Rules

__all__ = ["Owner", "OwnerSettings", "Teller"]

Teller = Callable[[str, dict[str, object]], None]
"""Told what happens: a word for programs, and the facts."""

_BITE = 1 << 24  # bytes of the journal read in one step, so that closing is never far off
_PASSING = (CritiqorError, OSError, sqlite3.Error)  # what may be gone when a session is tried again


class OwnerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the user decides about sessions."""

    patience: Patience = Patience()
    group_by: GroupBy | None = None
    judged_by: Profile | None = None
    """Diagnose each run as it seals."""
    options: Options = Options()
    """What is set about the diagnosis."""


class Owner:
    """Turns the journal of a spool into sealed sessions."""

    def __init__(
        self,
        folder: SpoolFolder,
        settings: OwnerSettings,
        *,
        started_ns: int,
        finished: int,
        tell: Teller = lambda _word, _facts: None,
        sealed: Callable[[SealedRun], None] = lambda _run: None,
    ) -> None:
        """Learn what is sealed under the folder, which must have been made; reading begins with the first step.

        Segments up to the number `finished` were written before this start, and are written no more.
        """
        self.tally = Tally()
        self._folder = folder
        self._started_ns = started_ns
        self._tell = tell
        self._announce = sealed
        self._reader = JournalReader(folder.journal, finished=finished)
        self._index = SealedIndex(folder.index)
        self._sink = Sink(
            folder.runs,
            index=self._index,
            journal=self._reader,
            group_by=settings.group_by,
            judged_by=None if settings.judged_by is None else Rules(settings.judged_by, settings.options),
        )
        self._aside = KeptAside(folder.aside)
        self._open = OpenSessions(settings.patience)
        self._needed: Counter[int] = Counter()  # segments, by how many pieces of open sessions stand in them
        self._unwritten = Unwritten()
        self._unsealed: set[str] = set()  # open traces of which the index knows nothing
        for note in self._index.learn(folder.runs):
            tell(note.code, {"message": note.message, "place": note.place})

    def step(self, now_ns: int) -> bool:
        """Do what is to be done at this moment; return whether more of the journal waits to be read."""
        more = self._read(now_ns)
        if not more:
            # With more to read, what seems quiet may only not have been read yet.
            for group in in_groups(self._open.take_due(now_ns)):
                self._seal(group, now_ns)
        self._try_again(now_ns)
        self._tidy()
        return more

    def flush(self, now_ns: int, *, reason: CloseReason, expired: Callable[[], bool] = lambda: False) -> None:
        """Seal everything that stands in the journal, or as much as there is time for."""
        while not expired() and self._read(now_ns):
            pass
        self._unwritten.hurry()
        self._try_again(now_ns)
        for group in in_groups(self._open.take_all(reason)):
            if not expired():  # else its segments stay, and are read at the next start
                self._seal(group, now_ns)
        self._tidy()

    def close(self, *, journal_is_closed: bool) -> None:
        """Let go of all files; with the journal closed, its last segment is removed too when nothing needs it."""
        if journal_is_closed and not self._reader.unread_bytes() and not self._needed[self._reader.segment]:
            remove_segment(self._folder.journal, self._reader.segment)
        self._reader.close()
        self._index.close()

    def _read(self, now_ns: int) -> bool:
        read = 0
        with bulk_work():
            for found in self._reader.read():
                if isinstance(found, Damage):
                    self._report(found)
                    continue
                self._take(found, now_ns)
                read += len(found.record.payload)
                if read >= _BITE:
                    return True
        return False

    def _take(self, stored: Stored, now_ns: int) -> None:
        record = stored.record
        self.tally.lag_ns = max(0, now_ns - record.received_ns)
        batch = self._decoded(stored)
        share = len(record.payload) // max(1, len(batch.spans) + len(batch.logs))
        arrived_ns = max(record.received_ns, self._started_ns)
        spans, logs = self._spans_by_trace(batch), self._logs_by_trace(batch)
        for trace_id in dict.fromkeys((*spans, *logs)):
            piece = self._piece(trace_id, stored.position, spans.get(trace_id, []), logs.get(trace_id, []))
            if piece is None:
                continue
            piece.size = share * piece.count
            self._needed[stored.position.segment] += 1
            self._seal(self._open.add(piece, now_ns=arrived_ns, transport=record.transport.word), now_ns)

    def _decoded(self, stored: Stored) -> Batch:
        """Return what a record holds; what cannot be read is kept as it came."""
        record = stored.record
        try:
            batch = decoded(record)
        except DecodeError as error:
            self._keep(record, stored.position, reason="undecoded", why=str(error))
            return Batch()
        except Exception:  # noqa: BLE001  # a fault of ours must not stop the receiver: the bytes are kept
            self._keep(record, stored.position, reason="undecoded", why=traceback.format_exc())
            return Batch()
        if batch.rejected > record.refused:
            why = "; ".join(note.message for note in batch.notes)
            self._keep(record, stored.position, reason="undecoded", why=why)
        return batch

    def _spans_by_trace(self, batch: Batch) -> dict[str, list[Span]]:
        self.tally.spans += len(batch.spans)
        traces: dict[str, list[Span]] = {}
        for span in batch.spans:
            if ANNOTATION in span.attributes:
                self.tally.annotations += 1
            else:
                traces.setdefault(span.trace_id, []).append(span)
        return traces

    def _logs_by_trace(self, batch: Batch) -> dict[str, list[LogRecord]]:
        self.tally.logs += len(batch.logs)
        traces: dict[str, list[LogRecord]] = {}
        for log in batch.logs:
            trace_id = trace_of(log)
            if trace_id is None:
                self.tally.unplaced_logs += 1
            else:
                traces.setdefault(trace_id, []).append(log)
        return traces

    def _piece(self, trace_id: str, position: Position, spans: list[Span], logs: list[LogRecord]) -> Piece | None:
        """Return what is new of a trace; None when all of it is sealed already."""
        waits = trace_id in self._unwritten
        sealed = None if trace_id in self._unsealed else self._index.sealed(trace_id)
        if sealed is None:
            if not waits:
                self._unsealed.add(trace_id)
        else:
            new = [span for span in spans if span.span_id not in sealed.span_ids]
            self.tally.duplicates += len(spans) - len(new)
            spans = new
            if not spans and trace_id not in self._open:
                self.tally.late_logs += len(logs)
                return None
        return Piece(trace_id, position, 0, spans, logs, len(spans) + len(logs), late=waits or sealed is not None)

    def _seal(self, group: list[Closed], now_ns: int) -> None:
        self._unsealed.difference_update(*[closed.session.traces for closed in group])
        while ready := [closed for closed in group if not self._unwritten.holds_back(closed)]:
            group = [closed for closed in group if self._unwritten.holds_back(closed)]
            self._seal_together(ready, now_ns)
        for closed in group:
            self._unwritten.put(closed, now_ns)
        self.tally.failing = len(self._unwritten)

    def _seal_together(self, group: list[Closed], now_ns: int) -> None:
        for closed, outcome in zip(group, self._sink.seal(group), strict=True):
            if isinstance(outcome, _PASSING):
                self._tell("not-sealed", {"message": str(outcome), "traces": len(closed.session.traces)})
                self._unwritten.put(closed, now_ns)
                continue
            self._unwritten.done(closed)
            if isinstance(outcome, Unsealed):
                self._finish(closed, outcome)
            else:  # a fault of ours must not stop the receiver: the bytes are kept
                for piece in closed.session.pieces:
                    self._keep_piece(piece, why="".join(traceback.format_exception(outcome)))
                self._release(closed)

    def _finish(self, closed: Closed, unsealed: Unsealed) -> None:
        for piece in unsealed.lost:
            self._keep_piece(piece, why="spans that stand in no session")
        self.tally.unplaced_logs += unsealed.unplaced_logs
        for run in unsealed.runs:
            self._count(run)
        self._release(closed)

    def _count(self, run: SealedRun) -> None:
        self.tally.add_run(run.close_reason, spans=run.spans, duplicates=run.duplicates)
        self._announce(run)

    def _release(self, closed: Closed) -> None:
        for piece in closed.session.pieces:
            self._needed[piece.position.segment] -= 1

    def _try_again(self, now_ns: int) -> None:
        for group in in_groups(self._unwritten.due(now_ns)):
            self._seal(group, now_ns)

    def _tidy(self) -> None:
        """Remove the segments that are read to their end and hold nothing of an open session."""
        for number in segments(self._folder.journal):
            if number < self._reader.segment and not self._needed[number]:
                del self._needed[number]
                remove_segment(self._folder.journal, number)
        self.tally.open_sessions = len(self._open)
        self.tally.decoded_bytes = self._open.decoded_bytes
        self.tally.lag_bytes = self._reader.unread_bytes()

    def _report(self, damage: Damage) -> None:
        if damage.kind == "torn":
            self.tally.torn += 1
        else:
            self.tally.damaged += 1
        self._keep_bytes(damage.data, damage.position, reason=f"journal-{damage.kind}", why="no whole record")

    def _keep_piece(self, piece: Piece, *, why: str) -> None:
        record = self._reader.read_at(piece.position)
        if record is not None:
            self._keep(record, piece.position, reason="unsealed", why=why)

    def _keep(self, record: Record, position: Position, *, reason: str, why: str) -> None:
        signal = Signal(record.signal).name.lower()
        encoding = record.encoding.name.lower()
        self._keep_bytes(record.payload, position, reason=f"{reason}-{signal}-{encoding}", why=why)

    def _keep_bytes(self, data: bytes, position: Position, *, reason: str, why: str) -> None:
        """Keep bytes aside; where that fails, their segment stays until the next start."""
        facts: dict[str, object] = {"message": why, "segment": position.segment, "offset": position.offset}
        try:
            facts["kept"] = str(self._aside.keep(data, position, reason=reason))
        except CritiqorError as error:
            self._needed[position.segment] += 1
            facts["not_kept"] = str(error)
        self.tally.kept_aside += 1
        self._tell(reason, facts)
