"""Spans wait in a queue and are exported in batches by a thread, as the SDK's batch processor does, at less cost.

`on_end` appends a reference and no more. What finds the queue full is counted and told to the exporter, which the SDK's
processor does not do; it flushes at the end of the process, at SIGTERM too, and goes on in forked children.
"""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter
from typing_extensions import override

from critiqor_otel.emit.endings import before_end, in_forked_child

__all__ = ["BatchOptions", "Collector", "SpanBatcher"]

_CHUNK = 64  # spans that a collector is given at a time
_logger = logging.getLogger(__name__)

_SUPPRESS = getattr(otel_context, "_SUPPRESS_INSTRUMENTATION_KEY", "suppress_instrumentation")
"""The key by which instrumentations know that they must not trace an export."""


def _number(name: str, otherwise: int) -> int:
    try:
        found = int(os.environ.get(name, ""))
    except ValueError:
        return otherwise
    return found if found > 0 else otherwise


@runtime_checkable
class Collector(Protocol):
    """An exporter that takes spans a few at a time and sends them many at a time.

    Spans that wait as bytes cost less than spans that wait as objects: those are looked at by every round of Python's
    garbage collector.
    """

    def collect(self, spans: Sequence[ReadableSpan]) -> None:
        """Take spans, and send when there are enough."""
        ...

    def send_collected(self) -> None:
        """Send what was taken."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """How spans wait; the defaults are OTEL_BSP_*, else those named here."""

    queue: int = 0
    """Spans that may wait; 0: OTEL_BSP_MAX_QUEUE_SIZE, else 16,384."""
    batch: int = 0
    """Spans of one export; 0: OTEL_BSP_MAX_EXPORT_BATCH_SIZE, else 512."""
    delay_ms: int = 0
    """Milliseconds after which waiting spans are exported; 0: OTEL_BSP_SCHEDULE_DELAY, else 5,000."""
    end_ms: int = 30_000
    """Milliseconds that the end of the process waits for what is left."""


class SpanBatcher(SpanProcessor):
    """Hands ended spans to an exporter, batch by batch."""

    _is_shut: bool
    _is_woken: bool
    _thread: threading.Thread

    def __init__(self, exporter: SpanExporter, options: BatchOptions | None = None) -> None:
        """Take the exporter and begin to wait for spans."""
        given = options or BatchOptions()
        self._exporter = exporter
        self._most = given.queue or _number("OTEL_BSP_MAX_QUEUE_SIZE", 16_384)
        batch = given.batch or _number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)
        self._collector = exporter if isinstance(exporter, Collector) else None
        self._batch = min(batch if self._collector is None else _CHUNK, self._most)
        self._delay = (given.delay_ms or _number("OTEL_BSP_SCHEDULE_DELAY", 5_000)) / 1000
        self._end_seconds = given.end_ms / 1000
        self._begin()
        before_end(self.shutdown)
        in_forked_child(self.renew)

    @override
    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        pass

    @override
    def on_end(self, span: ReadableSpan) -> None:
        context = span.get_span_context()
        if context is None or not context.trace_flags.sampled:
            return
        queue = self._queue
        if self._is_shut or len(queue) >= self._most:
            self._turn_away()
            return
        queue.append(span)
        if len(queue) >= self._batch and not self._is_woken:
            self._is_woken = True
            self._wake.set()

    @override
    def shutdown(self) -> None:
        """Export what waits, for as long as the end may take, then take nothing more."""
        if self._is_shut:
            return
        self._is_shut = True
        self._wake.set()
        self._thread.join(self._end_seconds)
        left = len(self._queue)
        if left:
            _logger.error("%d spans were still waiting when the process ended, and are lost", left)
            self._lose(left)
        self._exporter.shutdown()

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        if self._is_shut and not self._thread.is_alive():
            return True  # all that could be exported has been
        with self._flushed:
            self._asked += 1
            mine = self._asked
            self._wake.set()
            return self._flushed.wait_for(lambda: self._answered >= mine, timeout_millis / 1000)

    def renew(self) -> None:
        """Begin anew in a forked child, where the thread is gone and what waits is the parent's to send."""
        was_shut = self._is_shut
        self._begin()
        if was_shut:
            self.shutdown()

    def _begin(self) -> None:
        self._queue: deque[ReadableSpan] = deque()
        self._wake = threading.Event()
        self._flushed = threading.Condition()
        self._asked = self._answered = 0
        self._is_woken = self._is_shut = False
        self._turned_away = 0
        self._thread = threading.Thread(target=self._work, name="critiqor-spans", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        token = otel_context.attach(otel_context.set_value(_SUPPRESS, True))  # noqa: FBT003  # the key's value
        due = time.monotonic() + self._delay
        while True:
            self._wake.wait(max(due - time.monotonic(), 0.0))
            self._wake.clear()
            self._is_woken = False
            asked, is_last = self._asked, self._is_shut
            self._export_waiting()
            if is_last or asked != self._answered or time.monotonic() >= due:
                self._send_collected()
                self._tell_turned_away()
                due = time.monotonic() + self._delay
            with self._flushed:
                self._answered = asked
                self._flushed.notify_all()
            if is_last:
                break
        otel_context.detach(token)

    def _export_waiting(self) -> None:
        queue = self._queue
        while queue:
            batch = [queue.popleft() for _ in range(min(len(queue), self._batch))]
            try:
                if self._collector is None:
                    self._exporter.export(batch)
                else:
                    self._collector.collect(batch)
            except Exception:
                _logger.exception("An exporter failed on %d spans", len(batch))
                self._lose(len(batch))

    def _send_collected(self) -> None:
        try:
            if self._collector is not None:
                self._collector.send_collected()
        except Exception:
            _logger.exception("An exporter failed to send what it had collected")

    def _turn_away(self) -> None:
        if self._is_shut and not self._turned_away:
            _logger.error("Spans that end after the shutdown are lost")
        self._turned_away += 1
        self._lose(1)

    def _tell_turned_away(self) -> None:
        turned_away, self._turned_away = self._turned_away, 0
        if turned_away:
            text = "%d spans are lost: %d were waiting already, which is all that may (OTEL_BSP_MAX_QUEUE_SIZE)"
            _logger.error(text, turned_away, self._most)

    def _lose(self, count: int) -> None:
        tell: Callable[[int], Any] | None = getattr(self._exporter, "count_lost", None)
        if tell is not None:
            tell(count)
