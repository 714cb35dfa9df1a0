"""Session files written by the agent's own process: no server, no endpoint, the embedded default.

Spans wait until their run is over: its root ended and nothing came for a moment, or the process ends. What comes later
for a run that was written becomes its continuation.
"""

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from typing_extensions import override

from critiqor_otel.conventions.carriage import CARRIED, END_EVENT, END_SEQUENCE, EVENT, SEQUENCE, STREAM, event_text
from critiqor_otel.decode.sdk import SdkReader
from critiqor_otel.emit.aside import ASIDE
from critiqor_otel.emit.endings import before_end
from critiqor_otel.emit.export_rules import ExportRules
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.errors import OutputError
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Resource, Span, SpanEvent
from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.open_sessions import Closed, OpenSessions, Patience, Piece
from critiqor_otel.spool.sealed_runs import Arrival, seal
from critiqor_otel.spool.segments import Position

__all__ = ["RUNS_VARIABLE", "SessionExporter"]

RUNS_VARIABLE = "CRITIQOR_RUNS_DIR"
"""The folder of session files (critiqor.session.v1)."""

_SECOND = 1_000_000_000
_DEFAULT_RULES = ExportRules()
# Children end before their root in one process, so little is waited for; an agent may wait for a person for hours.
_PATIENCE = Patience(
    after_root_ns=2 * _SECOND, idle_ns=6 * 3600 * _SECOND, longest_ns=24 * 3600 * _SECOND, decoded_bytes=1 << 62
)
_MOST_SPANS = 500_000  # of all runs together; past it the runs that are open are written as far as they are known
_MOST_RESOURCES = 256
_NOWHERE = Position(0, 0)
_logger = logging.getLogger(__name__)


class SessionExporter(SpanExporter):
    """Writes `runs/<run_id>/session.json` for each run that this process sees."""

    def __init__(
        self,
        runs: str | Path | None = None,
        *,
        rules: ExportRules = _DEFAULT_RULES,
        patience: Patience = _PATIENCE,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Take the folder (else CRITIQOR_RUNS_DIR, else `runs`), what is scrubbed, and how long to wait."""
        self._runs = Path(runs or os.environ.get(RUNS_VARIABLE) or "runs")
        self._rules = rules
        self._patience = patience
        self._now_ns = now_ns
        self._is_shut = False
        self.lost = 0
        """Spans of sessions that could not be written."""
        self._begin()
        ASIDE.ask()
        before_end(self.shutdown, at_exit=False)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_beginning(weakref.ref(self)))

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._is_shut:
            return SpanExportResult.FAILURE
        with self._lock:
            now = self._now_ns()
            for trace_id, found in self._by_trace(spans).items():
                piece = Piece(trace_id, _NOWHERE, 0, found, None, len(found))
                self._write(self._open.add(piece, now_ns=now, transport="in_process"))
                self._count += len(found)
            self._write(self._open.take_due(now))
            if self._count > _MOST_SPANS:
                self._write(self._open.take_all(CloseReason.TOO_LARGE))
            self._watch()
        return SpanExportResult.SUCCESS

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write the runs whose root has ended; the others go on."""
        with self._lock:
            self._write(self._open.take_due(self._now_ns() + self._patience.after_root_ns))
        return True

    @override
    def shutdown(self) -> None:
        """Write all that is open."""
        if self._is_shut:
            return
        self._is_shut = True
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._write(self._open.take_all(CloseReason.SHUTDOWN))
        ASIDE.release()

    def begin_anew(self) -> None:
        """Forget everything: in a forked child, where it is the parent's to write."""
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._open = OpenSessions(self._patience)
        self._reader = SdkReader()
        self._resources: dict[int, tuple[Resource, Resource]] = {}
        self._timer: threading.Timer | None = None
        self._count = 0

    def _watch(self) -> None:
        """Look again when a run may be over: nobody else calls when no more spans come."""
        if self._timer is None and len(self._open):
            self._timer = threading.Timer(self._patience.after_root_ns / _SECOND, self._look)
            self._timer.daemon = True
            self._timer.start()

    def _look(self) -> None:
        with self._lock:
            self._timer = None
            if not self._is_shut:
                self._write(self._open.take_due(self._now_ns()))
                self._watch()

    def _by_trace(self, spans: Iterable[ReadableSpan]) -> dict[str, list[Span]]:
        redaction = self._rules.redaction
        traces: dict[str, list[Span]] = {}
        for one in spans:
            span = _with_content(self._reader.span(one), redaction)
            scrubbed = span if redaction is None else self._scrubbed(span, redaction)
            traces.setdefault(span.trace_id, []).append(scrubbed)
        return traces

    def _scrubbed(self, span: Span, redaction: Redaction) -> Span:
        known = self._resources.get(id(span.resource))
        if known is None:
            if len(self._resources) >= _MOST_RESOURCES:
                self._resources.clear()
            # Holding the resource keeps its id() its own.
            known = self._resources[id(span.resource)] = (span.resource, redaction.resource(span.resource))
        return msgspec.structs.replace(redaction.span(span, carried=CARRIED), resource=known[1])

    def _write(self, closed: Iterable[Closed]) -> None:
        for one in closed:
            spans = [span for piece in one.session.pieces for span in piece.spans or ()]
            self._count -= len(spans)
            found = reconstruct(spans)
            arrival = Arrival(transport="in_process", close_reason=one.reason, duplicates=found.repeats)
            for session in found.sessions:
                try:
                    seal(session, arrival, runs=self._runs)
                except OutputError as error:
                    self.lost += len(spans)
                    _logger.error("The session of run %s is lost: %s", session.run_id, error)  # noqa: TRY400


def _with_content(span: Span, redaction: Redaction | None) -> Span:
    """Return the span with the events that a recorder withheld from it, content and all."""
    stream = span.attributes.get(STREAM)
    if not isinstance(stream, str):
        return span
    held: dict[str, Any] = dict(span.attributes)
    for text, sequence in ((EVENT, SEQUENCE), (END_EVENT, END_SEQUENCE)):
        _put_back(held, text, stream, held.get(sequence), redaction)
    return msgspec.structs.replace(
        span, attributes=held, events=tuple(_event_with_content(event, stream, redaction) for event in span.events)
    )


def _event_with_content(event: SpanEvent, stream: str, redaction: Redaction | None) -> SpanEvent:
    if EVENT not in event.attributes:
        return event
    held: dict[str, Any] = dict(event.attributes)
    _put_back(held, EVENT, stream, held.get(SEQUENCE), redaction)
    return SpanEvent(event.time_ns, event.name, held)


def _put_back(held: dict[str, Any], text: str, stream: str, sequence: Any, redaction: Redaction | None) -> None:
    event = ASIDE.take(stream, sequence) if text in held and isinstance(sequence, int) else None
    if event is not None:
        held[text] = event_text(event if redaction is None else redaction.event(event))


def _beginning(exporter: "weakref.ref[SessionExporter]") -> Callable[[], None]:
    def begin() -> None:
        alive = exporter()
        if alive is not None:
            alive.begin_anew()

    return begin
