"""How later events depend on earlier ones: on the values they gave, the words they said, the changes they made."""

from collections.abc import Iterator

from analyzer.causality.scene import Link, Scene
from analyzer.session.accessors import ABSENT, RESULT, first_given, payload_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, EventKind
from analyzer.session.shapes import is_list, is_number

__all__ = ["acted_on", "blocked", "exhausted", "failed_before", "uses"]

_SATURATED = 85  # percent of a model's window (critiqor.session.v1)
_CUT_OFF = frozenset(("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"))
_CONTEXT = EventKind.CONTEXT_EVENT
_REASONS = "finish_reasons"
_LEAST = 500  # characters of an output that can fill a context


def uses(scene: Scene) -> Iterator[Link]:
    """Tie an output to each later event that holds values of it."""
    events = scene.timeline.events
    for use in scene.timeline.uses:
        if use.source < use.target:
            yield Link(events[use.source].event_id, events[use.target].event_id, use.confidence, use.rule)


def acted_on(scene: Scene) -> Iterator[Link]:
    """Tie words that were wrong, or that made a value up, to the failed call that acts on them."""
    yield from _owed(scene, "informs")


def blocked(scene: Scene) -> Iterator[Link]:
    """Tie a change to the failed call that it shut out."""
    yield from _owed(scene, "blocks")


def failed_before(scene: Scene) -> Iterator[Link]:
    """Tie the first failed call of a tool to those that failed after it, with no success between."""
    yield from _owed(scene, "retries")


def _owed(scene: Scene, relation: str) -> Iterator[Link]:
    events, moves = scene.timeline.events, scene.course.moves.all
    for index, debt in scene.blame.debts.items():
        if debt.relation == relation:
            source, target = moves[debt.move], moves[index]
            yield Link(events[source.position].event_id, events[target.position].event_id, debt.confidence, debt.rule)


def exhausted(scene: Scene) -> Iterator[Link]:
    """Tie the largest output since the last time to an event that tells of a full context or of an answer cut off."""
    events = scene.timeline.events
    telling = (place for place, event in enumerate(events) if event.event == _CONTEXT or _REASONS in payload_of(event))
    full = [position for position in telling if _is_full(events[position])]
    start = 0
    for position in full:
        sized = [(_size(event), event.event_id) for event in _outputs(scene, start, position)]
        size, largest = max(sized, key=lambda one: one[0], default=(0, ""))
        if size >= _LEAST:
            yield Link(largest, events[position].event_id)
        start = position + 1


def _outputs(scene: Scene, start: int, end: int) -> Iterator[Event]:
    return (event for event in scene.timeline.events[start:end] if event.event == EventKind.TOOL_OUTPUT)


def _is_full(event: Event) -> bool:
    payload = payload_of(event)
    if event.event == _CONTEXT:
        share = payload.get("saturation", event.extra.get("saturation"))
        action = payload.get("action", event.extra.get("action"))
        return action == "compaction" or (is_number(share) and share >= _SATURATED)
    reasons = payload.get(_REASONS)
    if not reasons or not is_list(reasons):
        return False
    return any(isinstance(reason, str) and reason.lower() in _CUT_OFF for reason in reasons)


def _size(event: Event) -> int:
    result = first_given(event, RESULT)
    if isinstance(result, str):
        return len(result)
    return 0 if result is ABSENT or result is None else len(canonical(result))
