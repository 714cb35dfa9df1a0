"""The spans of a run that is being recorded, in the tracer that the user has set up.

What is a span and what an event of one is told by the same table as for recorded files (design §6); an event here
starts and ends real spans, so that those of other instrumentations find their parents.
"""

from collections.abc import Callable, Mapping
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode, Tracer
from opentelemetry.trace import SpanKind as SdkKind

from analyzer.session.model import Agent, Event
from critiqor_otel.conventions.carriage import (
    END_EVENT,
    END_SEQUENCE,
    EVENT,
    RUN_ID,
    SEQUENCE,
    SESSION,
    STREAM,
    ascii_json,
    event_text,
)
from critiqor_otel.emit import genai
from critiqor_otel.emit.aside import ASIDE
from critiqor_otel.emit.content import Content
from critiqor_otel.emit.open_span import EVENTS_PER_SPAN
from critiqor_otel.emit.plain_values import plain_text

__all__ = ["LiveSpans", "LiveTracks"]


class LiveTracks:
    """What the spans of one recorder have in common."""

    __slots__ = ("agent", "content", "run_id", "stream", "tracer")

    def __init__(self, tracer: Tracer, content: Content, *, run_id: str, stream: str, agent: Agent) -> None:
        """Take the tracer, what of content may stand on spans, and the names of run, stream and agent."""
        self.tracer = tracer
        self.content = content
        self.run_id = run_id
        self.stream = stream
        self.agent = agent


class LiveSpans:
    """The run's own span, and the spans and events below it. The recorder's lock guards it."""

    def __init__(self, tracks: LiveTracks, event: Event) -> None:
        """Start the run's span with the event that begins it; below the span that is current, if any."""
        self._tracks = tracks
        self._limits = _Limits(tracks.tracer)
        told = tracks.content.event(event)
        attributes = genai.agent_attributes(tracks.run_id, tracks.agent, told)
        name = genai.named("invoke_agent", attributes.get("gen_ai.agent.name"))
        self.root = self._start(name, attributes, event, told, 0, context=None)
        self._held = 0
        self._more: Span | None = None
        self._held_more = 0

    @property
    def is_recording(self) -> bool:
        """Tell whether anybody takes the spans; where nobody does, nothing more needs to be told."""
        return self.root.is_recording()

    def start(
        self, event: Event, sequence: int, name: str, describe: Callable[[Event], dict[str, Any]], kind: SdkKind
    ) -> Span:
        """Start a span with an event: below the current span where that is of this trace, else below the run's."""
        told = self._tracks.content.event(event)
        return self._start(name, describe(told), event, told, sequence, context=self._around(), kind=kind)

    def end(
        self,
        span: Span,
        event: Event,
        sequence: int,
        describe: Callable[[Event], dict[str, Any]],
        *,
        head: Mapping[str, Any] | None = None,
        failed: bool = False,
    ) -> None:
        """End a span with an event; the run's own with the head of its session."""
        told = self._tracks.content.event(event)
        span.set_attributes({**describe(told), **self._text(END_EVENT, event, told, sequence)})
        span.set_attribute(END_SEQUENCE, sequence)
        if head is not None:
            span.set_attribute(SESSION, ascii_json(dict(head)))
        if failed:
            self.fail(span, told)
        if span is self.root and self._more is not None:
            self._more.end(event.time_ns)
        span.end(event.time_ns)

    def single(
        self, event: Event, sequence: int, name: str, describe: Callable[[Event], dict[str, Any]], kind: SdkKind
    ) -> None:
        """Tell a span of one event alone, which lasted as long as the event says."""
        span = self.start(event, sequence, name, describe, kind)
        if event.status == "error":
            self.fail(span, self._tracks.content.event(event))
        span.end(event.time_ns)

    def add(self, event: Event, sequence: int) -> None:
        """Tell an event of the run's span, or of one that continues it when it is full."""
        told = self._tracks.content.event(event)
        attributes = {
            **genai.happening_attributes(told),
            SEQUENCE: sequence,
            STREAM: self._tracks.stream,
            **self._text(EVENT, event, told, sequence, of_event=True),
        }
        self._room(event).add_event(genai.happening_name(told), attributes, event.time_ns)

    def fail(self, span: Span, told: Event) -> None:
        """Say that what the span tells of failed."""
        span.set_attributes(genai.error_attributes(told))
        span.set_status(Status(StatusCode.ERROR, plain_text(str(told.error)) if told.error else None))

    def _room(self, event: Event) -> Span:
        if self._held < self._limits.events:
            self._held += 1
            return self.root
        if self._more is None or self._held_more >= self._limits.events:
            if self._more is not None:
                self._more.end(event.time_ns)
            attributes = {RUN_ID: plain_text(self._tracks.run_id), STREAM: self._tracks.stream}
            below = trace.set_span_in_context(self.root)
            self._more = self._tracks.tracer.start_span(
                "invoke_agent (continued)", below, attributes=attributes, start_time=event.time_ns
            )
            self._held_more = 0
        self._held_more += 1
        return self._more

    def _around(self) -> otel_context.Context | None:
        current, own = trace.get_current_span().get_span_context(), self.root.get_span_context()
        if current.is_valid and current.trace_id == own.trace_id:
            return None
        return trace.set_span_in_context(self.root)

    def _start(  # noqa: PLR0913  # what a span begins with, in one place
        self,
        name: str,
        attributes: Mapping[str, Any],
        event: Event,
        told: Event,
        sequence: int,
        *,
        context: otel_context.Context | None,
        kind: SdkKind = SdkKind.INTERNAL,
    ) -> Span:
        own = {
            RUN_ID: plain_text(self._tracks.run_id),
            STREAM: self._tracks.stream,
            SEQUENCE: sequence,
            **attributes,
            **self._text(EVENT, event, told, sequence),
        }
        began = event.time_ns
        if began is not None and event.duration_ms is not None:
            began -= int(event.duration_ms * 1e6)
        return self._tracks.tracer.start_span(name, context, kind, own, start_time=began)

    def _text(
        self, name: str, event: Event, told: Event, sequence: int, *, of_event: bool = False
    ) -> dict[str, str | list[str]]:
        """Return the carried text, in pieces where the SDK would cut it; what was withheld is put aside."""
        if told is not event and not self._tracks.content.capture:
            ASIDE.put(self._tracks.stream, sequence, event)
        limit = self._limits.event_text if of_event else self._limits.text
        text = event_text(told)
        if limit is None or len(text) <= limit:
            return {name: text}
        return {name: [text[start : start + limit] for start in range(0, len(text), limit)]}


class _Limits:
    """What the SDK cuts at; its field is private, and where it is missing its defaults hold."""

    def __init__(self, tracer: Tracer) -> None:
        limits = getattr(tracer, "_span_limits", None)
        self.events: int = getattr(limits, "max_events", None) or EVENTS_PER_SPAN
        self.text: int | None = getattr(limits, "max_span_attribute_length", None) or None
        self.event_text: int | None = getattr(limits, "max_attribute_length", None) or None
