"""Spans as they come become session files: runs wait until they are over, then they are written, each once."""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from critiqor_otel.conventions.carriage import CARRIED
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.errors import OutputError
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span
from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.open_sessions import Closed, OpenSessions, Patience, Piece
from critiqor_otel.spool.sealed_runs import Arrival, seal
from critiqor_otel.spool.segments import Position

__all__ = ["PATIENCE", "SessionWriter", "WriterConfig"]

_SECOND = 1_000_000_000
# Children end before their root in one process, so little is waited for; an agent may wait for a person for hours.
PATIENCE = Patience(
    after_root_ns=2 * _SECOND, idle_ns=6 * 3600 * _SECOND, longest_ns=24 * 3600 * _SECOND, decoded_bytes=1 << 62
)
_MOST_SPANS = 500_000  # of all runs together; past it the runs that are open are written as far as they are known
_MOST_SHARED = 256
_Shared = TypeVar("_Shared")
_NOWHERE = Position(0, 0)
_logger = logging.getLogger(__name__)


class WriterConfig(Struct, frozen=True, kw_only=True):
    """What a writer is told; it crosses a process boundary as JSON."""

    runs: str
    """The folder of session files."""
    redaction: Redaction | None
    patience: Patience = PATIENCE


class SessionWriter:
    """Holds the runs that are open, and writes those that are over. One thread at a time."""

    def __init__(self, config: WriterConfig) -> None:
        """Begin with nothing open."""
        self._config = config
        self._open = OpenSessions(config.patience)
        self._scrubbed_once: dict[int, tuple[Any, Any]] = {}
        self._count = 0
        self.lost = 0
        """Spans of sessions that could not be written."""

    def __len__(self) -> int:
        return len(self._open)

    def take(self, spans: Iterable[Span], now_ns: int) -> None:
        """Take spans, and write what is over by now."""
        traces: dict[str, list[Span]] = {}
        redaction = self._config.redaction
        for span in spans:
            scrubbed = span if redaction is None else self._scrubbed(span, redaction)
            traces.setdefault(span.trace_id, []).append(scrubbed)
        for trace_id, found in traces.items():
            piece = Piece(trace_id, _NOWHERE, 0, found, None, len(found))
            self._count += len(found)
            self._write(self._open.add(piece, now_ns=now_ns, transport="in_process"))
        self.look(now_ns)
        if self._count > _MOST_SPANS:
            self._write(self._open.take_all(CloseReason.TOO_LARGE))

    def look(self, now_ns: int) -> None:
        """Write what is over by now."""
        self._write(self._open.take_due(now_ns))

    def flush(self, now_ns: int) -> None:
        """Write the runs whose root has ended; the others go on."""
        self._write(self._open.take_due(now_ns + self._config.patience.after_root_ns))

    def close(self) -> None:
        """Write all that is open."""
        self._write(self._open.take_all(CloseReason.SHUTDOWN))

    def hand_over(self) -> list[Span]:
        """Return the spans of all that is open, which somebody else writes from now on."""
        self._count = 0
        closed = self._open.take_all(CloseReason.FLUSH)
        return [span for one in closed for piece in one.session.pieces for span in piece.spans or ()]

    def _write(self, closed: Iterable[Closed]) -> None:
        for one in closed:
            spans = [span for piece in one.session.pieces for span in piece.spans or ()]
            self._count -= len(spans)
            try:
                self._seal(spans, one.reason)
            except OutputError as error:
                self.lost += len(spans)
                _logger.error("A session of %d spans is lost: %s", len(spans), error)  # noqa: TRY400  # it says it all
            except Exception:  # the agent goes on, and so do its other runs
                self.lost += len(spans)
                _logger.exception("A session of %d spans is lost", len(spans))

    def _seal(self, spans: list[Span], reason: CloseReason) -> None:
        found = reconstruct(spans)
        arrival = Arrival(transport="in_process", close_reason=reason, duplicates=found.repeats)
        for session in found.sessions:
            seal(session, arrival, runs=Path(self._config.runs))

    def _scrubbed(self, span: Span, redaction: Redaction) -> Span:
        return msgspec.structs.replace(
            redaction.span(span, carried=CARRIED),
            resource=self._shared(span.resource, redaction.resource),
            scope=self._shared(span.scope, redaction.scope),
        )

    def _shared(self, thing: _Shared, scrub: Callable[[_Shared], _Shared]) -> _Shared:
        """Return what many spans point at without its secrets, scrubbed once."""
        known = self._scrubbed_once.get(id(thing))
        if known is None:
            if len(self._scrubbed_once) >= _MOST_SHARED:
                self._scrubbed_once.clear()
            # Holding the thing keeps its id() its own.
            known = self._scrubbed_once[id(thing)] = (thing, scrub(thing))
        found: _Shared = known[1]
        return found
