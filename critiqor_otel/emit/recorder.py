"""Which tools did this run call, what did they give back, what did it cost: evidence recorded as the agent runs.

The signatures are those of critiqor's documentation. With a tracer provider set each record is a span or an event of
one as well; without, it is the record and nothing else.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Self

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import Span

from analyzer.evaluation.evidence import EvaluationEvidence, RuntimeMetrics, ToolCall, ToolOutput
from analyzer.evaluation.frozen import freeze
from analyzer.lenient import as_text
from analyzer.session.model import Agent, Session
from critiqor_otel.emit.ledger import error_text, is_told, mark_told
from critiqor_otel.emit.recording import Recording
from critiqor_otel.emit.recording_options import RecordingOptions
from critiqor_otel.emit.run_identity import new_run_id, run_id_of_process, run_id_of_span
from critiqor_otel.emit.side_records import SideRecords
from critiqor_otel.emit.told_spans import current_span
from critiqor_otel.emit.tool_wrapping import ToolRun, Unrecorded, wrap

__all__ = ["EvidenceRecorder", "current_recorder", "monitor", "wrap_tool"]

_CURRENT: ContextVar["EvidenceRecorder | None"] = ContextVar("critiqor_recorder", default=None)
_DEFAULTS = RecordingOptions()
_SECOND = 1_000_000_000


def monitor(prompt: str = "", *, agent: str | None = None, options: RecordingOptions = _DEFAULTS) -> "EvidenceRecorder":
    """Return a recorder for one execution of an agent, to be used in a `with` block."""
    return EvidenceRecorder(prompt, agent=agent, options=options)


def current_recorder() -> "EvidenceRecorder | None":
    """Return the innermost recorder whose block this code runs in, in this thread or task."""
    return _CURRENT.get()


def wrap_tool(name: str, func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the tool, its calls recorded by the recorder that is current at the call; without one it runs as it is."""

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToolRun:
        recorder = _CURRENT.get()
        return Unrecorded() if recorder is None else recorder.begin_tool(name, args, kwargs)

    return wrap(func, begin)


class EvidenceRecorder(SideRecords):
    """Records one execution of an agent, as a context manager (sync or async) or by its methods alone.

    Safe in threads and tasks. Inside another recorder's block it records a sub-agent of the same run.
    """

    def __init__(self, prompt: str = "", *, agent: str | None = None, options: RecordingOptions = _DEFAULTS) -> None:
        """Take the user's prompt and the agent's name; nothing is recorded yet."""
        outer = _CURRENT.get()
        self.prompt = prompt
        self.response = ""
        self._options = options
        run_id = options.run_id or _run_id(outer)
        super().__init__(Recording(run_id, Agent(name=agent), options, is_inner=outer is not None))
        self._ledger = self._recording.ledger
        self._began: float | None = None
        self._latency: float | None = None
        self._outer: Token[EvidenceRecorder | None] | None = None
        self._attached: Token[otel_context.Context] | None = None

    @property
    def run_id(self) -> str:
        """The id of the run that this execution is, or is a part of."""
        return self._recording.run_id

    def __enter__(self) -> Self:
        """Begin the run: its clock, its `agent_start`, its span."""
        self._began = self._options.elapsed()
        self._outer = _CURRENT.set(self)
        self._recording.begin(self.prompt)
        self._attached = self._recording.spans.attach()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the run; an exception that is not recorded yet is recorded, and goes on."""
        if error is not None and not is_told(error, self._ledger):
            self._recording.exception(error)
        if self._attached is not None:
            otel_context.detach(self._attached)
            self._attached = None
        if self._outer is not None:
            with suppress(ValueError):  # entered in another context, a fixture's say
                _CURRENT.reset(self._outer)
            self._outer = None
        self._latency = self._elapsed()
        self._recording.close(None if error is None else error_text(error), self.response)

    async def __aenter__(self) -> Self:
        """As `__enter__`."""
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """As `__exit__`."""
        self.__exit__(kind, error, traceback)

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls so far, in order."""
        return list(self._ledger.tool_calls)

    @property
    def tool_outputs(self) -> list[ToolOutput]:
        """The outputs so far, in order."""
        return list(self._ledger.tool_outputs)

    @property
    def trace(self) -> list[dict[str, Any]]:
        """The trace so far: events as dicts with `event` and `timestamp` (seconds since the epoch)."""
        with self._ledger.lock:
            return [record.trace_event() for record in self._ledger.records]

    @property
    def token_usage(self) -> dict[str, Any]:
        """The tokens so far, summed over the model calls."""
        return dict(self._ledger.token_usage)

    @property
    def errors(self) -> list[str]:
        """The errors so far, each once."""
        return list(self._ledger.errors)

    @property
    def retries(self) -> int:
        """The retries so far."""
        return self._ledger.retries

    def record_tool_call(self, tool: str, args: Mapping[str, Any] | None = None, call_id: str | None = None) -> None:
        """Record that a tool was called."""
        self._record_call(tool, args or {}, call_id)

    def record_tool_output(self, tool: str, output: Any, call_id: str | None = None, error: str | None = None) -> None:
        """Record what a tool gave back, or the error it failed with."""
        self._record_output(tool, output, call_id, None if error is None else as_text(error), None)

    def record_llm_call(
        self,
        model: str | None = None,
        token_usage: Mapping[str, Any] | None = None,
        *,
        duration_ms: float | None = None,
    ) -> None:
        """Record a call of a model and the tokens it took; they are summed over the run."""
        usage = freeze(token_usage or {})
        self._ledger.add_usage(usage)
        self._recording.record(
            "llm_call",
            {"model": model, "token_usage": usage},
            payload={"model": model, "usage": usage or None, "agent": self._recording.agent.name},
            duration_ms=duration_ms,
        )

    def record_event(self, name: str, /, **payload: Any) -> None:
        """Record anything else under its name."""
        kept = freeze(payload)
        self._recording.record(as_text(name), kept, payload=kept)

    def wrap_tool(self, name: str, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the tool with each call recorded here; functions, coroutines and generators stay what they are."""
        return wrap(func, lambda args, kwargs: self.begin_tool(name, args, kwargs))

    def finish(self, response: str = "", prompt: str | None = None) -> EvaluationEvidence:
        """Return the evidence so far; later records don't change it."""
        if response:
            self.response = as_text(response)
        if prompt is not None:
            self.prompt = prompt
        if self._began is None:
            self._recording.close(None, self.response)
        latency = self._elapsed() if self._latency is None else self._latency
        ledger = self._ledger
        with ledger.lock:
            trace_events = [record.trace_event() for record in ledger.records]
            if not self._recording.is_closed:
                trace_events.append({"event": "agent_finish", "timestamp": self._options.now_ns() / _SECOND})
            return EvaluationEvidence(
                prompt=self.prompt,
                response=self.response,
                tool_calls=tuple(ledger.tool_calls),
                tool_outputs=tuple(ledger.tool_outputs),
                trace=trace_events,
                metrics=RuntimeMetrics(latency, ledger.token_usage, ledger.retries, tuple(ledger.errors)),
                evidence_level="fully_instrumented",
            )

    def session(self) -> Session:
        """Return the records so far as a session, content and all."""
        return self._recording.session()

    def begin_tool(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ToolRun:
        """Record the call of a tool by its arguments, and return what takes its outcome."""
        with self._ledger.lock:
            call_id = f"{name}-{len(self._ledger.tool_calls) + 1}"
            span = self._record_call(name, {"args": list(args), "kwargs": dict(kwargs)}, call_id)
        return _ToolRun(self, name, call_id, span)

    def failed_tool(self, name: str, call_id: str, error: BaseException) -> None:
        """Record the exception of a tool, which is not recorded again on its way out."""
        self._record_output(name, "", call_id, error_text(error), type(error).__qualname__)
        mark_told(error, self._ledger)

    def _record_call(self, tool: str, args: Mapping[str, Any], call_id: str | None) -> Span | None:
        name, kept, now = as_text(tool), freeze(args), self._options.now_ns()
        with self._ledger.lock:
            self._ledger.tool_calls.append(ToolCall(name, kept, call_id, now / _SECOND))
        return self._recording.record(
            "tool_start",
            {"tool": name, "args": kept, "call_id": call_id},
            event_type="tool_call",
            payload={"input": kept, "agent": self._recording.agent.name},
            tool_name=name,
            tool_call_id=call_id,
            time_ns=now,
        )

    def _record_output(self, tool: str, output: Any, call_id: str | None, error: str | None, kind: str | None) -> None:
        name, kept, now = as_text(tool), freeze(output), self._options.now_ns()
        with self._ledger.lock:
            self._ledger.tool_outputs.append(ToolOutput(name, kept, call_id, error, now / _SECOND))
            if error is not None:
                self._ledger.errors.append(error)
        result = None if error is not None and kept == "" else kept
        self._recording.record(
            "tool_end",
            {"tool": name, "output": kept, "call_id": call_id, "error": error},
            event_type="tool_result",
            payload={"result": result, "error_type": kind},
            tool_name=name,
            tool_call_id=call_id,
            status="ok" if error is None else "error",
            error=error,
            time_ns=now,
        )

    def _elapsed(self) -> float | None:
        return None if self._began is None else self._options.elapsed() - self._began


class _ToolRun:
    """One call of a wrapped tool."""

    __slots__ = ("_call_id", "_name", "_recorder", "_span")

    def __init__(self, recorder: EvidenceRecorder, name: str, call_id: str, span: Span | None) -> None:
        self._recorder = recorder
        self._name = name
        self._call_id = call_id
        self._span = span

    def current(self) -> AbstractContextManager[None]:
        return current_span(self._span)

    def done(self, output: Any) -> None:
        self._recorder.record_tool_output(self._name, output, call_id=self._call_id)

    def failed(self, error: BaseException) -> None:
        self._recorder.failed_tool(self._name, self._call_id, error)


def _run_id(outer: EvidenceRecorder | None) -> str:
    """Return the run around: of the outer recorder, of the current span, of the process; else a new one."""
    if outer is not None:
        return outer.run_id
    return run_id_of_span(trace.get_current_span()) or run_id_of_process() or new_run_id()
