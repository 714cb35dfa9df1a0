"""What a run did, step by step: a tool call with its output, a model call, a turn, an agent; each inside another."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from analyzer.session.accessors import name_of, payload_of, subject_of
from analyzer.session.model import Event, EventKind, SpanRef
from analyzer.session.shapes import is_object
from analyzer.timeline.index import Timeline

__all__ = ["RunStep", "StepKind", "steps_of"]


class StepKind(StrEnum):
    """What a step is; the order is that of the legend."""

    AGENT = "agent"
    TURN = "turn"
    MODEL = "model"
    TOOL = "tool"
    MEMORY = "memory"
    SKILL = "skill"
    RETRY = "retry"
    ERROR = "error"
    CONTEXT = "context"
    DECISION = "decision"
    MESSAGE = "message"
    PROCESS = "process"
    OTHER = "other"


class RunStep(msgspec.Struct, kw_only=True):
    """One row of the timeline. Times are nanoseconds since the epoch; None where no event tells one."""

    kind: StepKind
    name: str
    events: list[int]
    """Positions in the timeline's events, in order; each event belongs to one step."""
    parent: int = -1
    """The step it lies in, always an earlier one; -1 where it lies in none."""
    start_ns: int | None = None
    end_ns: int | None = None
    failed: bool = False
    again: bool = False
    """It does once more what failed before."""
    folded: int = 0
    """How many steps it stands for; 0 when it is one itself."""


_BY_NAME: Mapping[str, StepKind] = {
    **dict.fromkeys(("agent_start", "agent_end", "agent_finish", "session_start", "session_end"), StepKind.AGENT),
    **dict.fromkeys(("turn_start", "turn_end"), StepKind.TURN),
    **dict.fromkeys(("before_provider_request", "after_provider_response", "usage_report", "llm_call"), StepKind.MODEL),
    **dict.fromkeys(
        ("message_received", "message_sent", "message_start", "message_update", "message_end", "input"),
        StepKind.MESSAGE,
    ),
}
_BY_KIND: Mapping[str, StepKind] = {
    EventKind.TOOL_CALL: StepKind.TOOL,
    EventKind.TOOL_OUTPUT: StepKind.TOOL,
    EventKind.MEMORY_EVENT: StepKind.MEMORY,
    EventKind.SKILL_EVENT: StepKind.SKILL,
    EventKind.RETRY_EVENT: StepKind.RETRY,
    EventKind.ERROR_EVENT: StepKind.ERROR,
    EventKind.TOKEN_USAGE: StepKind.MODEL,
    EventKind.CONTEXT_EVENT: StepKind.CONTEXT,
    EventKind.DECISION: StepKind.DECISION,
    EventKind.PROCESS_START: StepKind.PROCESS,
    EventKind.PROCESS_OUTPUT: StepKind.PROCESS,
    EventKind.PROCESS_END: StepKind.PROCESS,
}
# What opens a step that lasts until its end event, and what ends it.
_OPENS: Mapping[str, str] = {
    name: name.removesuffix("_start") for name in ("agent_start", "turn_start", "session_start", "process_start")
}
_ENDS: Mapping[str, str] = {
    "agent_end": "agent",
    "agent_finish": "agent",
    "turn_end": "turn",
    "session_end": "session",
    "process_end": "process",
}
_DEEPEST = 64  # open scopes among which an end is looked for
_CENTURY_MS = 3.2e12  # a longer step is a wrong number
# Start and end of these stand on one span.
_ON_ONE_SPAN = frozenset((StepKind.AGENT, StepKind.TURN, StepKind.MEMORY, StepKind.SKILL, StepKind.PROCESS))


def steps_of(timeline: Timeline) -> list[RunStep]:
    """Return the steps of a run in order of their first event; one pass over the events."""
    builder = _Builder(timeline)
    for position, event in enumerate(timeline.events):
        builder.add(position, event)
    builder.mark_repeats(timeline)
    return builder.steps


class _Builder:
    """Puts each event into a step of its own or into an open one."""

    def __init__(self, timeline: Timeline) -> None:
        self.steps: list[RunStep] = []
        self._owners = _owners(timeline)
        self._failed = {call.event_id for call in timeline.calls if call.status == "error"}
        self._step_of: dict[object, int] = {}
        self._first_of_span: dict[SpanRef, int] = {}
        self._open: list[tuple[str, int]] = []

    def add(self, position: int, event: Event) -> None:
        name = name_of(event)
        kind = _BY_NAME.get(name) or _BY_KIND.get(event.event, StepKind.OTHER)
        key = self._key(event, kind)
        number = self._ended(event, name) if key is None else self._step_of.get(key)
        if number is None:
            number = self._begin(event, kind, name)
            if key is not None:
                self._step_of[key] = number
        step = self.steps[number]
        step.events.append(position)
        self._extend(step, event)

    def mark_repeats(self, timeline: Timeline) -> None:
        """Mark the calls that a retry event speaks of, and those that follow an equal one that failed."""
        for call_id in timeline.retries_of:
            self._mark(call_id)
        for repetition in timeline.repetitions:
            for before, after in zip(repetition.calls, repetition.calls[1:], strict=False):
                if before.status == "error":
                    self._mark(after.event_id)

    def _mark(self, event_id: str) -> None:
        number = self._step_of.get(self._owners.get(event_id))
        if number is not None:
            self.steps[number].again = True

    def _key(self, event: Event, kind: StepKind) -> object:
        """Return what all events of the step have in common; None for a step of its own."""
        owner = self._owners.get(event.event_id)
        if owner is not None:
            return owner
        return (kind, event.span) if event.span is not None and kind in _ON_ONE_SPAN else None

    def _begin(self, event: Event, kind: StepKind, name: str) -> int:
        number = len(self.steps)
        self.steps.append(RunStep(kind=kind, name=_name(event, kind), events=[], parent=self._parent(event)))
        if event.span is not None:
            self._first_of_span.setdefault(event.span, number)
        elif name in _OPENS:
            self._open.append((_OPENS[name], number))
        return number

    def _parent(self, event: Event) -> int:
        if event.span is not None:
            own = self._first_of_span.get(event.span)
            if own is not None:
                return own
            above = _parent_span(event)
            found = None if above is None else self._first_of_span.get(SpanRef(event.span.trace_id, above))
            if found is not None:
                return found
        return self._open[-1][1] if self._open else -1

    def _ended(self, event: Event, name: str) -> int | None:
        """Return the open step that a spanless event ends, and close it with all that was opened inside."""
        scope = _ENDS.get(name)
        if event.span is not None or scope is None or not any(opened == scope for opened, _ in self._open[-_DEEPEST:]):
            return None
        while True:
            opened, number = self._open.pop()
            if opened == scope:
                return number

    def _extend(self, step: RunStep, event: Event) -> None:
        start, end = _times(event)
        if start is not None and (step.start_ns is None or start < step.start_ns):
            step.start_ns = start
        if end is not None and (step.end_ns is None or end > step.end_ns):
            step.end_ns = end
        step.failed |= (
            step.kind is StepKind.ERROR
            or event.status == "error"
            or event.error is not None
            or event.event_id in self._failed
        )


def _name(event: Event, kind: StepKind) -> str:
    """Return what the step is about: of a model call its model, else as everywhere."""
    model = payload_of(event).get("model") if kind is StepKind.MODEL else None
    return model if isinstance(model, str) and model else subject_of(event).removesuffix("_start")


def _owners(timeline: Timeline) -> dict[str, object]:
    """Return which call or model call an event belongs to, by event id."""
    owners: dict[str, object] = {}
    for number, call in enumerate(timeline.calls):
        _own(owners, call.event_ids, ("call", number))
    for number, model_call in enumerate(timeline.model_calls):
        ids = (model_call.request_id, model_call.response_id)
        _own(owners, (event_id for event_id in ids if event_id is not None), ("model call", number))
    return owners


def _own(owners: dict[str, object], event_ids: Iterable[str], owner: object) -> None:
    for event_id in event_ids:
        owners.setdefault(event_id, owner)


def _times(event: Event) -> tuple[int | None, int | None]:
    """Return when what the event tells of began and ended: an event at a start tells its end, one at an end its start.

    Which of the two it is shows in `payload.otel`, which the first event of a span carries.
    """
    at, lasted = event.time_ns, event.duration_ms
    if at is None:
        return None, None
    if lasted is None or not 0 <= lasted < _CENTURY_MS:
        return at, at
    length = int(lasted * 1e6)
    return (at, at + length) if "otel" in payload_of(event) else (at - length, at)


def _parent_span(event: Event) -> str | None:
    otel = payload_of(event).get("otel")
    found = otel.get("parent_span_id") if is_object(otel) else None
    return found if isinstance(found, str) else None
