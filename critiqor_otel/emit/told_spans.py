"""A recorder's records become spans, when there is anybody to take them."""

import os
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import Token
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import Span
from opentelemetry.trace import SpanKind as SdkKind

from analyzer.session.accessors import RESULT, call_id_of, first_given, skill_of, tool_of
from analyzer.session.model import Agent, Event, EventKind
from analyzer.timeline.outcome import outcome_of
from critiqor_otel.conventions.carriage import OUR_SCOPE, UNFINISHED
from critiqor_otel.emit import genai
from critiqor_otel.emit.content import Content, captures_content
from critiqor_otel.emit.fingerprints import Fingerprints
from critiqor_otel.emit.live_spans import LiveSpans, LiveTracks
from critiqor_otel.emit.recording_options import RecordingOptions

__all__ = ["ToldSpans", "current_span"]

_Key = tuple[str | None, str | None]


class ToldSpans:
    """The spans of one recorder, from the event that begins the run to the one that ends it."""

    def __init__(self, run_id: str, agent: Agent, options: RecordingOptions) -> None:
        """Take the run; no span is started yet."""
        self._run_id = run_id
        self._agent = agent
        self._options = options
        self._stream = os.urandom(4).hex()
        self._live: LiveSpans | None = None
        self._closed = False
        self._calls: dict[_Key, deque[Span]] = {}

    @property
    def stream(self) -> str:
        """A word that no other recorder of the run has; event ids begin with it."""
        return self._stream

    @property
    def is_live(self) -> bool:
        """Tell whether anybody takes the spans."""
        return self._live is not None

    def begin(self, event: Event) -> None:
        """Start the run's span with its first event."""
        options = self._options
        provider = trace.get_tracer_provider() if options.tracer_provider is None else options.tracer_provider
        content = Content(
            capture=captures_content(options.capture_content),
            redaction=options.redaction,
            fingerprints=Fingerprints(options.fingerprint_key),
        )
        tracks = LiveTracks(
            provider.get_tracer(OUR_SCOPE), content, run_id=self._run_id, stream=self._stream, agent=self._agent
        )
        live = LiveSpans(tracks, event)
        self._live = live if live.is_recording else None

    def attach(self) -> Token[otel_context.Context] | None:
        """Make the run's span the current one; return what `detach` needs."""
        if self._live is None:
            return None
        return otel_context.attach(trace.set_span_in_context(self._live.root))

    def tell(self, event: Event, sequence: int) -> Span | None:
        """Tell an event; return the span that it started, when it started one."""
        if self._live is None or self._closed:
            return None
        teller = _TELLERS.get(event.event, _happening)
        return teller(self, self._live, event, sequence)

    def end(self, event: Event, sequence: int, head: Mapping[str, Any], *, failed: bool) -> None:
        """End the run's span, and before it what is still open."""
        if self._live is None or self._closed:
            return
        self._closed = True
        for waiting in self._calls.values():
            for span in waiting:
                if span.is_recording():
                    span.set_attribute(UNFINISHED, True)  # noqa: FBT003  # the attribute's value
                    span.end(event.time_ns)
        self._live.end(self._live.root, event, sequence, _nothing, head=head, failed=failed)

    def call(self, live: LiveSpans, event: Event, sequence: int) -> Span:
        """Start the span of a tool call, and keep it for the output."""
        name = genai.named("execute_tool", tool_of(event))
        span = live.start(event, sequence, name, genai.tool_call_attributes, SdkKind.INTERNAL)
        for key in _keys(event):
            self._calls.setdefault(key, deque()).append(span)
        return span

    def output(self, live: LiveSpans, event: Event, sequence: int) -> None:
        """End the span of the call that the output answers; without one it is an event of the run's."""
        span = self._answered(_keys(event)[0])
        if span is None:
            live.add(event, sequence)
            return
        failed = outcome_of(event, first_given(event, RESULT)).status == "error"
        live.end(span, event, sequence, genai.tool_output_attributes, failed=failed)

    def _answered(self, key: _Key) -> Span | None:
        waiting = self._calls.get(key, deque())
        while waiting:
            span = waiting.popleft()
            if span.is_recording():
                return span
        self._calls.pop(key, None)
        return None


@contextmanager
def current_span(span: Span | None) -> Generator[None]:
    """Make a span the current one inside the block."""
    if span is None:
        yield
        return
    token = otel_context.attach(trace.set_span_in_context(span))
    try:
        yield
    finally:
        otel_context.detach(token)


def _keys(event: Event) -> list[_Key]:
    """Return what an output can name a call by: its id, else the tool."""
    call_id, tool = call_id_of(event), tool_of(event)
    return [(None, tool)] if call_id is None else [(call_id, None), (None, tool)]


def _nothing(_: Event) -> dict[str, Any]:
    return {}


def _happening(_: ToldSpans, live: LiveSpans, event: Event, sequence: int) -> None:
    live.add(event, sequence)


def _model(_: ToldSpans, live: LiveSpans, event: Event, sequence: int) -> None:
    attributes = genai.model_attributes(event)
    name = genai.named("chat", attributes.get("gen_ai.response.model"))
    live.single(event, sequence, name, genai.model_attributes, SdkKind.CLIENT)


def _memory(_: ToldSpans, live: LiveSpans, event: Event, sequence: int) -> None:
    operation = genai.MEMORY_OPERATIONS.get(genai.operation_of(event), event.event_type)
    live.single(event, sequence, operation, genai.memory_attributes, SdkKind.INTERNAL)


def _skill(_: ToldSpans, live: LiveSpans, event: Event, sequence: int) -> None:
    name = genai.named(event.event_type, skill_of(event))
    live.single(event, sequence, name, genai.skill_attributes, SdkKind.INTERNAL)


_Teller = Callable[[ToldSpans, LiveSpans, Event, int], Span | None]
_TELLERS: Mapping[str, _Teller] = {
    EventKind.TOOL_CALL: ToldSpans.call,
    EventKind.TOOL_OUTPUT: ToldSpans.output,
    EventKind.TOKEN_USAGE: _model,
    EventKind.MEMORY_EVENT: _memory,
    EventKind.SKILL_EVENT: _skill,
}
