"""Session files written from inside the agent's process: no server, no endpoint, the embedded default.

Spans wait until their run is over: its root ended and nothing came for a moment, or the process ends. What comes later
for a run that was written becomes its continuation. From some hundreds of spans on, a helper process does the work.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import msgspec
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from typing_extensions import override

from critiqor_otel.conventions.carriage import END_EVENT, END_SEQUENCE, EVENT, LOST, SEQUENCE, STREAM, event_text
from critiqor_otel.decode.sdk import SdkReader, held_attributes
from critiqor_otel.emit.aside import ASIDE
from critiqor_otel.emit.endings import before_end, in_forked_child
from critiqor_otel.emit.export_rules import ExportRules
from critiqor_otel.emit.helper_process import HelperProcess
from critiqor_otel.emit.otlp_wire import Encoded, OtlpEncoder, request_of
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.emit.session_writer import PATIENCE, SessionWriter, WriterConfig
from critiqor_otel.span import Span, SpanEvent
from critiqor_otel.spool.open_sessions import Patience

__all__ = ["RUNS_VARIABLE", "SessionExporter"]

RUNS_VARIABLE = "CRITIQOR_RUNS_DIR"
"""The folder of session files (critiqor.session.v1)."""

_SECOND = 1_000_000_000
_MANY = 500  # spans; below, starting a process costs more than it saves
_NOTHING: Mapping[str, Any] = {}
_DEFAULT_RULES = ExportRules()
_logger = logging.getLogger(__name__)


class SessionExporter(SpanExporter):
    """Writes `runs/<run_id>/session.json` for each run that this process sees."""

    _lost_by_helper: int

    def __init__(  # each with a default; a user names one or none
        self,
        runs: str | Path | None = None,
        *,
        rules: ExportRules = _DEFAULT_RULES,
        helper_after: int | None = _MANY,
        end_seconds: float = 30.0,
        patience: Patience = PATIENCE,
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Take the folder (else CRITIQOR_RUNS_DIR, else `runs`), what is scrubbed, and how long to wait.

        After so many spans a helper process writes the files (None: never); the end waits for it as long as is said.
        """
        folder = Path(runs or os.environ.get(RUNS_VARIABLE) or "runs").absolute()
        self._config = WriterConfig(runs=str(folder), redaction=rules.redaction, patience=patience)
        self._helper_after = helper_after
        self._end_seconds = end_seconds
        self._now_ns = now_ns
        self._is_shut = False
        self._begin()
        ASIDE.ask()
        before_end(self.shutdown, at_exit=False)
        in_forked_child(self.begin_anew)

    @property
    def lost(self) -> int:
        """Spans of sessions that could not be written, as far as is known."""
        return self._writer.lost + self._lost_by_helper + self._lost_before

    def count_lost(self, count: int) -> None:
        """Count spans that were lost before they came here, in a full queue say; the next one to come tells of them."""
        self._lost_before += count
        self._untold += count

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._is_shut:
            return SpanExportResult.FAILURE
        with self._lock:
            self._count += len(spans)
            if self._helper is None and self._helper_after is not None and self._count > self._helper_after:
                self._start_helper()
            if self._helper is None:
                self._writer.take(map(self._read, spans, self._told()), self._now_ns())
                self._watch()
            else:
                self._hand_on(list(map(self._encoded, spans, self._told())))
        return SpanExportResult.SUCCESS

    def collect(self, spans: Sequence[ReadableSpan]) -> None:
        """Take spans a few at a time: they wait here in any case."""
        self.export(spans)

    def send_collected(self) -> None:
        """Do nothing: what is over is written when its time has come."""

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write the runs whose root has ended; the others go on."""
        with self._lock:
            if self._helper is None:
                self._writer.flush(self._now_ns())
                return True
            try:
                lost = self._helper.flush(timeout_millis / 1000)
            except OSError as error:
                self._give_up_helper(error)
                return False
            self._lost_by_helper = self._lost_by_helper if lost is None else lost
            return lost is not None

    @override
    def shutdown(self) -> None:
        """Write all that is open."""
        if self._is_shut:
            return
        self._is_shut = True
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._writer.close()
            if self._helper is not None and not self._helper.close(self._end_seconds):
                _logger.warning("Session files are still being written by another process")
        ASIDE.release()

    def begin_anew(self) -> None:
        """Forget everything: in a forked child, where it is the parent's to write."""
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._writer = SessionWriter(self._config)
        self._reader = SdkReader()
        self._encoder = OtlpEncoder(None)
        self._helper: HelperProcess | None = None
        self._timer: threading.Timer | None = None
        self._count = 0
        self._lost_by_helper = self._lost_before = self._untold = 0

    def _watch(self) -> None:
        """Look again when a run may be over: nobody else calls when no more spans come."""
        if self._timer is None and len(self._writer):
            self._timer = threading.Timer(self._config.patience.after_root_ns / _SECOND, self._look)
            self._timer.daemon = True
            self._timer.start()

    def _look(self) -> None:
        with self._lock:
            self._timer = None
            if not self._is_shut:
                self._writer.look(self._now_ns())
                self._watch()

    def _told(self) -> Iterator[Mapping[str, Any]]:
        """Yield what the spans of an export tell besides: the first, what was lost before it."""
        untold, self._untold = self._untold, 0
        yield {LOST: untold} if untold else _NOTHING
        yield from repeat(_NOTHING)

    def _read(self, span: ReadableSpan, more: Mapping[str, Any]) -> Span:
        read = _with_content(self._reader.span(span), self._config.redaction)
        return msgspec.structs.replace(read, attributes={**read.attributes, **more}) if more else read

    def _encoded(self, span: ReadableSpan, more: Mapping[str, Any]) -> Encoded:
        held = held_attributes(span)
        if STREAM in held:
            return self._encoder.span(self._read(span, more))
        return self._encoder.sdk_span(span, (held, more) if more else (held,))

    def _start_helper(self) -> None:
        try:
            self._helper = HelperProcess(self._config)
        except OSError as error:
            self._give_up_helper(error)
            return
        self._hand_on([self._encoder.span(span) for span in self._writer.hand_over()])

    def _hand_on(self, encoded: list[Encoded]) -> None:
        if self._helper is None or not encoded:
            return
        try:
            self._helper.send(request_of(encoded))
        except OSError as error:
            self._lost_by_helper += len(encoded)
            self._give_up_helper(error)

    def _give_up_helper(self, error: OSError) -> None:
        _logger.error("Session files are written by the agent itself from here on: %s", error)
        if self._helper is not None:
            self._helper.close(0)
        self._helper = self._helper_after = None


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
