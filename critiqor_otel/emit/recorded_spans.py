"""The events of a recorded run become spans, one after the other, as a file grows or all at once.

The table is design §6: the run, turns, model calls, tool calls, memory operations and skills are spans; what else
happens is an event of the span around it.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from analyzer.session.accessors import RESULT, call_id_of, first_given, payload_of, skill_of, tool_of
from analyzer.session.model import Agent, Event, EventKind
from analyzer.timeline.outcome import outcome_of
from critiqor_otel.emit import genai
from critiqor_otel.emit.open_span import OpenSpan, Told, Tracks
from critiqor_otel.span import Link, Span, SpanKind

__all__ = ["RecordedSpans"]

_Key = tuple[Any, ...]
_Teller = Callable[[Told], Iterator[Span]]

_FAILED_SKILL = frozenset(("error", "failed", "mismatch"))


class RecordedSpans:
    """Makes spans of a run's events in the order of the file; every span comes out once, when it is finished."""

    def __init__(self, tracks: Tracks, agent: Agent, *, parent: str | None = None) -> None:
        """Begin the run's own span, below the parent given."""
        self._tracks = tracks
        self._agent = agent
        name = genai.named("invoke_agent", agent.name)
        self._root = OpenSpan(tracks, "run", name, parent=parent, kind=SpanKind.INTERNAL)
        self._root.set(genai.agent_attributes(tracks.run_id, agent, None))
        self._root_began = self._root_ended = False
        self._frames: list[tuple[str, OpenSpan]] = [("run", self._root)]
        self._open: dict[str, OpenSpan] = {}
        """Calls without an answer (of tools, models, memory) by span id, in the order they began."""
        self._waiting: dict[_Key, deque[OpenSpan]] = {}
        """The same by what an answer names; those that were answered drop out when they are met."""
        self._answered: set[_Key] = set()
        self._turns = 0
        self._time_ns = 1
        # A name as observed decides before the kind.
        self._tellers: Mapping[str, _Teller] = {
            "agent_start": self._agent_start,
            "agent_end": self._agent_end,
            "agent_finish": self._agent_end,
            "turn_start": self._turn_start,
            "turn_end": self._turn_end,
            "before_provider_request": self._request,
            "tool_execution_update": self._tool_update,
            "usage_report": self._add,
            EventKind.TOOL_CALL: self._tool_call,
            EventKind.TOOL_OUTPUT: self._tool_output,
            EventKind.TOKEN_USAGE: self._response,
            EventKind.MEMORY_EVENT: self._memory,
            EventKind.SKILL_EVENT: self._skill,
        }

    def feed(self, event: Event, sequence: int) -> Iterator[Span]:
        """Take the next event and yield the spans that are finished with it."""
        told = Told(event, sequence, self._time_ns)
        self._time_ns = told.time_ns
        teller = self._tellers.get(event.event_type) or self._tellers.get(event.event, self._add)
        yield from teller(told)

    def finish(self, attributes: Mapping[str, Any], links: tuple[Link, ...] = ()) -> Iterator[Span]:
        """Yield what is still open, as unfinished, and last the run's own span with the attributes given."""
        for span in self._open.values():
            yield from span.spans(self._time_ns)
        self._open.clear()
        while len(self._frames) > 1:
            yield from self._frames.pop()[1].spans(self._time_ns)
        for link in links:
            self._root.link(link)
        self._root.set(attributes)
        yield from self._root.spans()

    @property
    def _around(self) -> OpenSpan:
        return self._frames[-1][1]

    def _begin(self, told: Told, name: str, attributes: dict[str, Any], kind: SpanKind = SpanKind.INTERNAL) -> OpenSpan:
        span = OpenSpan(self._tracks, f"event {told.sequence}", name, parent=self._around.span_id, kind=kind)
        span.begin(told, attributes)
        return span

    def _add(self, told: Told) -> Iterator[Span]:
        yield from self._around.add(told)

    def _agent_start(self, told: Told) -> Iterator[Span]:
        if len(self._frames) == 1 and not self._root_began:
            self._root_began = True
            attributes = genai.agent_attributes(self._tracks.run_id, self._agent, told.event)
            self._root.begin(told, attributes)
            self._root.name = genai.named("invoke_agent", attributes.get("gen_ai.agent.name"))
            return
        attributes = genai.agent_attributes("", Agent(), told.event)
        name = genai.named("invoke_agent", attributes.get("gen_ai.agent.name"))
        self._frames.append(("agent", self._begin(told, name, attributes)))
        yield from ()

    def _agent_end(self, told: Told) -> Iterator[Span]:
        failed = told.event.status == "error"
        if any(kind == "agent" for kind, _ in self._frames):
            yield from self._close("agent", told, failed=failed)
        elif self._root_began and not self._root_ended:
            self._root_ended = True
            yield from self._close_inner(0, told.time_ns)
            self._root.end(told, {}, failed=failed)
        else:
            yield from self._add(told)

    def _turn_start(self, told: Told) -> Iterator[Span]:
        self._turns += 1
        self._frames.append(("turn", self._begin(told, f"turn {self._turns}", {"critiqor.span.kind": "turn"})))
        yield from ()

    def _turn_end(self, told: Told) -> Iterator[Span]:
        if any(kind == "turn" for kind, _ in self._frames):
            yield from self._close("turn", told, failed=told.event.status == "error")
        else:
            yield from self._add(told)

    def _close(self, kind: str, told: Told, *, failed: bool) -> Iterator[Span]:
        index = max(place for place, (held, _) in enumerate(self._frames) if held == kind)
        yield from self._close_inner(index, told.time_ns)
        _, span = self._frames.pop()
        span.end(told, {}, failed=failed)
        yield from span.spans()

    def _close_inner(self, index: int, time_ns: int) -> Iterator[Span]:
        """Close the frames inside the one at the index, which nobody ended."""
        while len(self._frames) > index + 1:
            yield from self._frames.pop()[1].spans(time_ns)

    def _tool_call(self, told: Told) -> Iterator[Span]:
        key = _tool_key(told.event)
        if key[1] is not None and (key in self._answered or self._oldest(key) is not None):
            yield from self._again(key, told)
            return
        attributes = genai.tool_call_attributes(told.event)
        span = self._begin(told, genai.named("execute_tool", attributes.get("gen_ai.tool.name")), attributes)
        self._wait(key, span)
        # An output that names no call belongs to the oldest open one of its tool.
        self._wait(("tool", None, tool_of(told.event)), span)

    def _tool_update(self, told: Told) -> Iterator[Span]:
        yield from self._again(_tool_key(told.event), told)

    def _tool_output(self, told: Told) -> Iterator[Span]:
        key = _tool_key(told.event)
        span = self._take(key)
        if span is None:
            yield from self._add(told)
            return
        self._answered.add(key)
        failed = outcome_of(told.event, first_given(told.event, RESULT)).status == "error"
        span.end(told, genai.tool_output_attributes(told.event), failed=failed)
        yield from span.spans()

    def _again(self, key: _Key, told: Told) -> Iterator[Span]:
        """Let a further report of a call be an event of its span, or of the span around when that is finished."""
        yield from (self._oldest(key) or self._around).add(told)

    def _request(self, told: Told) -> Iterator[Span]:
        attributes = genai.model_attributes(told.event)
        name = genai.named("chat", attributes.get("gen_ai.request.model"))
        self._wait(("chat",), self._begin(told, name, attributes, SpanKind.CLIENT))
        yield from ()

    def _response(self, told: Told) -> Iterator[Span]:
        span = self._take(("chat",))
        attributes = genai.model_attributes(told.event)
        failed = told.event.status == "error"
        if span is not None:
            span.end(told, attributes, failed=failed)
        else:
            name = genai.named("chat", attributes.get("gen_ai.response.model"))
            span = self._single(told, name, attributes, SpanKind.CLIENT, failed=failed)
        yield from span.spans()

    def _memory(self, told: Told) -> Iterator[Span]:
        event = told.event
        key = ("memory", call_id_of(event), event.event_type)
        attributes = genai.memory_attributes(event)
        failed = event.status == "error"
        if (span := self._take(key)) is not None:
            span.end(told, attributes, failed=failed)
            yield from span.spans()
            return
        name = genai.named(attributes.get("gen_ai.operation.name") or event.event_type, None)
        if event.event_type != EventKind.MEMORY_EVENT and event.status is None and "operation" in payload_of(event):
            self._wait(key, self._begin(told, name, attributes))
            return
        yield from self._single(told, name, attributes, SpanKind.INTERNAL, failed=failed).spans()

    def _skill(self, told: Told) -> Iterator[Span]:
        name = genai.named(told.event.event_type, skill_of(told.event))
        failed = told.event.status in _FAILED_SKILL
        attributes = genai.skill_attributes(told.event)
        yield from self._single(told, name, attributes, SpanKind.INTERNAL, failed=failed).spans()

    def _single(self, told: Told, name: str, attributes: dict[str, Any], kind: SpanKind, *, failed: bool) -> OpenSpan:
        """Return the span of what one event alone tells of."""
        span = self._begin(told, name, attributes, kind)
        span.last_from(told.event.duration_ms)
        if failed:
            span.fail(told.event)
        return span

    def _wait(self, key: _Key, span: OpenSpan) -> None:
        self._open[span.span_id] = span
        self._waiting.setdefault(key, deque()).append(span)

    def _oldest(self, key: _Key) -> OpenSpan | None:
        """Return the oldest open span that answers to the key."""
        waiting = self._waiting.get(key)
        while waiting and waiting[0].span_id not in self._open:
            waiting.popleft()
        return waiting[0] if waiting else None

    def _take(self, key: _Key) -> OpenSpan | None:
        """Return the oldest open span that answers to the key; it is open no more."""
        span = self._oldest(key)
        return None if span is None else self._open.pop(span.span_id)


def _tool_key(event: Event) -> _Key:
    call_id = call_id_of(event)
    return ("tool", call_id, None if call_id is not None else tool_of(event))
