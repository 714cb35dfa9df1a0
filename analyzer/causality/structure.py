"""How the events of a run hang together by their order, their ids, their spans and whom they are addressed to."""

from collections.abc import Iterator
from itertools import pairwise

from analyzer.causality.scene import Link, Scene
from analyzer.cause import Confidence
from analyzer.session.accessors import name_of, payload_of, tool_of
from analyzer.session.model import Event, EventKind, SpanRef
from analyzer.session.shapes import is_object
from analyzer.timeline.repeats import Lesson
from analyzer.timeline.tool_purpose import hands_over_to
from analyzer.timeline.tool_words import name_words

__all__ = [
    "asked_for",
    "events_inside",
    "failed_then_again",
    "handed_over",
    "in_order",
    "outputs",
    "repeats",
    "retries",
    "spans_inside",
]

_SCOPES = frozenset(("agent_start", "turn_start"))
_SCOPE_ENDS = {"agent_end": "agent_start", "agent_finish": "agent_start", "turn_end": "turn_start"}


def in_order(scene: Scene) -> Iterator[Link]:
    """Tie each event to the next in time."""
    ids = [event.event_id for event in scene.timeline.events]
    return map(Link, ids, ids[1:])


def asked_for(scene: Scene) -> Iterator[Link]:
    """Tie the model's answer that asks for a call, or the words with which it is made, to the call."""
    events = scene.timeline.events
    for move in scene.course.moves.all:
        for call in move.calls:
            if move.position < call.position:
                yield Link(events[move.position].event_id, call.event_id)


def outputs(scene: Scene) -> Iterator[Link]:
    """Tie a call to its output."""
    for call in scene.timeline.calls:
        if call.output_id is not None and call.output_position > call.position:
            yield Link(call.event_id, call.output_id)


def failed_then_again(scene: Scene) -> Iterator[Link]:
    """Tie a failed call to the equal one after it."""
    for repetition in scene.timeline.repetitions:
        for lesson, (call, again) in zip(repetition.lessons, pairwise(repetition.calls), strict=False):
            if lesson is Lesson.FAILED:
                yield Link(call.event_id, again.event_id)


def repeats(scene: Scene) -> Iterator[Link]:
    """Tie a call that did not fail to the equal one after it that brought no news."""
    for repetition in scene.timeline.repetitions:
        lessons = pairwise(repetition.lessons)
        for (before, lesson), (call, again) in zip(lessons, pairwise(repetition.calls), strict=True):
            if before is not Lesson.FAILED and lesson is not Lesson.NEWS:
                yield Link(call.event_id, again.event_id, Confidence.LOW if lesson is Lesson.UNKNOWN else None)


def retries(scene: Scene) -> Iterator[Link]:
    """Tie a retry that an event tells of to its call, the earlier of the two first."""
    timeline = scene.timeline
    for retry in timeline.retries:
        if retry.call is None:
            continue
        call = timeline.calls[retry.call]
        is_later = timeline.position_of[retry.event.event_id] > call.position
        ends = (call.event_id, retry.event.event_id)
        yield Link(*ends) if is_later else Link(ends[1], ends[0])


def spans_inside(scene: Scene) -> Iterator[Link]:
    """Tie the first event of a span to the first event of each span inside."""
    first: dict[SpanRef, int] = {}
    events = scene.timeline.events
    for position, event in enumerate(events):
        if event.span is not None:
            first.setdefault(event.span, position)
    for span, position in first.items():
        otel = payload_of(events[position]).get("otel")
        parent_id = otel.get("parent_span_id") if is_object(otel) else None
        parent = first.get(SpanRef(span.trace_id, parent_id)) if isinstance(parent_id, str) else None
        if parent is not None and parent < position:
            yield Link(events[parent].event_id, events[position].event_id)


def events_inside(scene: Scene) -> Iterator[Link]:
    """Tie the innermost open agent or turn to each event that came from no span."""
    open_scopes: list[tuple[str, str]] = []
    for event in scene.timeline.events:
        if event.span is not None:
            continue
        name = name_of(event)
        if open_scopes:
            yield Link(open_scopes[-1][1], event.event_id)
        if name in _SCOPES:
            open_scopes.append((name, event.event_id))
        elif name in _SCOPE_ENDS:
            _close(open_scopes, _SCOPE_ENDS[name])


def _close(open_scopes: list[tuple[str, str]], started: str) -> None:
    while open_scopes:
        if open_scopes.pop()[0] == started:
            return


def handed_over(scene: Scene) -> Iterator[Link]:
    """Tie what hands work over to an agent to the first event of that agent after it."""
    waiting: dict[str, str] = {}
    for event in scene.timeline.events:
        to = _addressee(event)
        if not to and not waiting:
            continue
        agent = _name(payload_of(event).get("agent"))
        if agent and agent in waiting:
            yield Link(waiting.pop(agent), event.event_id)
        if to and to != agent:
            waiting[to] = event.event_id


def _addressee(event: Event) -> str:
    """Return to whom an event hands over: a message by its address, a call by its tool's name; empty without one."""
    if event.event == EventKind.TOOL_CALL:
        tool = tool_of(event)
        return (hands_over_to(tool) or "") if tool else ""
    to = payload_of(event).get("to")
    return "" if to is None else _name(to)


def _name(agent: object) -> str:
    return "_".join(name_words(agent)) if isinstance(agent, str) else ""
