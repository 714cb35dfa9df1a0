"""Whose run is this span of, and which spans were still open when the process ended? Next to any exporter.

A span of an agent gets `critiqor.run_id` and its place in the run as it starts, whatever instrumentation it is of; so
do the spans below it. What ends the process (the interpreter's exit, SIGTERM) ends the spans that are open, marked as
unfinished, so that they are exported too. `os._exit` and SIGKILL run nothing of ours: call `end_open_spans` before.
"""

import itertools
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from typing_extensions import override

from analyzer.session.shapes import is_object
from critiqor_otel.conventions.carriage import RUN_ID, SEQUENCE, UNFINISHED
from critiqor_otel.emit.agent_signs import is_agent_span
from critiqor_otel.emit.endings import before_end, in_forked_child
from critiqor_otel.emit.run_identity import run_id_of_process
from critiqor_otel.emit.watch import Alarm, Watch

__all__ = ["CritiqorSpanProcessor"]

_MOST_OPEN = 10_000  # spans; of more the oldest are no longer known to be open
_MOST_RUNS = 10_000  # traces of agents whose places are counted
_FLUSH_MS = 5_000


class _Run:
    """The spans of one trace of an agent in this process."""

    __slots__ = ("places", "run_id")

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.places = itertools.count()


class CritiqorSpanProcessor(SpanProcessor):
    """Stamps agent spans as they start, and ends what is open when the process ends."""

    def __init__(
        self,
        *,
        run_id: str | None = None,
        on_failure: Callable[[Alarm], object] | None = None,
        watch: Watch | None = None,
        end_open: bool = True,
    ) -> None:
        """Take the run's id (else that of the process, else the trace's), and whom to call when a run goes wrong.

        A `Watch` sets other thresholds. `end_open=False` leaves open spans alone when the process ends.
        """
        self._run_id = run_id
        self._watch = watch if watch is not None or on_failure is None else Watch(on_failure)
        self._runs: dict[int, _Run] = {}
        self._open: dict[int, Span] = {}
        self._others: object = None
        """All processors of the provider together, where the SDK lets us see them."""
        self._is_armed = not end_open
        if end_open:
            before_end(self._at_end)  # now, since SIGTERM can be taken in the main thread only
        in_forked_child(_forgetting(weakref.ref(self)))

    @override
    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        context: Any = span.get_span_context()
        held = _live_attributes(span)
        run = self._runs.get(context.trace_id)
        if run is None:
            if not is_agent_span(span, held):
                return
            run = self._begin_run(context.trace_id, held)
            self._others = getattr(span, "_span_processor", None)
        if RUN_ID not in held:
            _stamp(span, held, run)
        self._keep(context.span_id, span)

    @override
    def on_end(self, span: ReadableSpan) -> None:
        context: Any = span.get_span_context()
        if self._open.pop(context.span_id, None) is not None and self._watch is not None:
            run = self._runs.get(context.trace_id)
            if run is not None:
                self._watch.look_at(span, run.run_id)

    @override
    def shutdown(self) -> None:
        self.end_open_spans()

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True

    def end_open_spans(self) -> int:
        """End the agent spans that are open, marked as unfinished, the innermost first; return how many there were."""
        ended = 0
        while self._open:
            with suppress(KeyError):  # ended by its own thread meanwhile
                _, span = self._open.popitem()
                if span.is_recording():
                    span.set_attribute(UNFINISHED, True)  # noqa: FBT003  # the attribute's value
                    span.end()
                    ended += 1
        return ended

    def forget(self) -> None:
        """Let go of all spans: in a forked child, where they are the parent's to end."""
        self._runs.clear()
        self._open.clear()

    def _begin_run(self, trace_id: int, held: Mapping[str, Any]) -> _Run:
        if len(self._runs) >= _MOST_RUNS:
            with suppress(KeyError, StopIteration, RuntimeError):  # another thread was faster
                del self._runs[next(iter(self._runs))]
        if not self._is_armed:
            # Again, since a provider that was made after this processor would otherwise end before it.
            self._is_armed = True
            before_end(self._at_end)
        own = held.get(RUN_ID)
        run_id = own if isinstance(own, str) else self._run_id or run_id_of_process() or f"{trace_id:032x}"
        run = self._runs[trace_id] = _Run(run_id)
        return run

    def _keep(self, span_id: int, span: Span) -> None:
        if len(self._open) >= _MOST_OPEN:
            with suppress(KeyError, StopIteration, RuntimeError):
                del self._open[next(iter(self._open))]
        self._open[span_id] = span

    def _at_end(self) -> None:
        """End what is open, and have everybody who takes spans send them: at SIGTERM nobody else will ask."""
        self.end_open_spans()
        flush = getattr(self._others, "force_flush", None)
        if flush is not None:
            flush(_FLUSH_MS)


def _live_attributes(span: Span) -> Mapping[str, Any]:
    """Return the attributes of a span that nobody else has yet; the private field spares a lock and a copy."""
    private = getattr(getattr(span, "_attributes", None), "_dict", None)
    return private if is_object(private) else span.attributes or {}


def _stamp(span: Span, held: Mapping[str, Any], run: _Run) -> None:
    bounded: Any = getattr(span, "_attributes", None)
    most = getattr(bounded, "maxlen", 0)
    if held.__class__ is dict and (most is None or len(held) + 2 <= most):
        private: Any = held
        private[RUN_ID] = run.run_id
        private[SEQUENCE] = next(run.places)
    else:
        span.set_attributes({RUN_ID: run.run_id, SEQUENCE: next(run.places)})


def _forgetting(processor: "weakref.ref[CritiqorSpanProcessor]") -> Any:
    def forget() -> None:
        alive = processor()
        if alive is not None:
            alive.forget()

    return forget
