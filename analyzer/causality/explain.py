"""How a failure came about, in plain sentences: what was called with what, what came back, when, and what that is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from analyzer.causality.scene import Failure
from analyzer.session.accessors import ABSENT, name_of, payload_of, subject_of
from analyzer.session.instants import format_instant
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, EventKind, Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.call import Call
from analyzer.timeline.index import Timeline

__all__ = ["NO_FAILURE", "calls_of", "explain", "explain_steps", "step_of"]

NO_FAILURE: Final = "No failure was found."

_SHOWN = 6
_SHORT = 80
_WORDS: Mapping[str, str] = {
    EventKind.MEMORY_EVENT: "the memory is used",
    EventKind.RETRY_EVENT: "a retry",
    EventKind.CONTEXT_EVENT: "the context changes",
    EventKind.SKILL_EVENT: "a skill is at hand",
    "agent_start": "{subject} starts",
    "agent_end": "{subject} ends",
    "turn_start": "a turn begins",
    "turn_end": "a turn ends",
    "before_provider_request": "the model is asked",
    "usage_report": "tokens are reported",
}


def explain(timeline: Timeline, path: Sequence[str], failure: Failure | None) -> str:
    """Return a path to a failure in sentences, equal steps told once and a long middle left out.

    `path` holds ids of events, as `path_to` gives them; what is no event of the run is passed over.
    """
    if failure is None:
        return NO_FAILURE
    return " ".join((*explain_steps(timeline, path), f"That is {failure.cause.type}: {_reason(failure)}"))


def explain_steps(timeline: Timeline, path: Sequence[str]) -> list[str]:
    """Return the steps of a path, a sentence each; an output is told with its call where both are on the path."""
    calls = calls_of(timeline)
    told_by_call = {call.output_id for event_id in path if (call := calls.get(event_id)) is not None}
    wanted = (event_id for event_id in path if event_id not in told_by_call and event_id in timeline.position_of)
    events = [timeline.events[timeline.position_of[event_id]] for event_id in wanted]
    told = [(event, _step(event, calls)) for event in events]
    steps = [_sentence(list(group)) for _, group in groupby(told, key=lambda one: one[1])]
    if len(steps) > _SHOWN:
        left_out = len(steps) - _SHOWN + 1
        steps[_SHOWN - 2 : -1] = [f"{left_out} more steps follow."]
    return steps


def calls_of(timeline: Timeline) -> Mapping[str, Call]:
    """Return the calls by the id of the event that starts them."""
    return {call.event_id: call for call in timeline.calls}


def step_of(event: Event, calls: Mapping[str, Call]) -> str:
    """Return what an event tells of, in words, with its time."""
    when = _time_of(event)
    words = f"{f'At {when} ' if when else ''}{_step(event, calls)}"
    return words[0].upper() + words[1:]


def _sentence(group: list[tuple[Event, str]]) -> str:
    event, words = group[0]
    when = _time_of(event)
    first = f"{f'At {when} ' if when else ''}{words} ({event.event_id})."
    first = first[0].upper() + first[1:]
    if len(group) == 1:
        return first
    last = group[-1][0]
    until = f", the last time at {end}" if (end := _time_of(last)) else ""
    return f"{first} So it goes {len(group) - 1} times more{until} ({last.event_id})."


def _time_of(event: Event) -> str:
    if event.time_ns is None:
        return ""
    text = format_instant(event.time_ns)
    return text[11:19] if isinstance(text, str) else ""


def _step(event: Event, calls: Mapping[str, Call]) -> str:
    call = calls.get(event.event_id)
    if call is not None:
        return _called(call)
    teller = _TELLERS.get(event.event, _nothing)
    words = next(teller(event), None)
    if words is not None:
        return words
    said = _WORDS.get(event.event, _WORDS.get(name_of(event), "{subject} happens"))
    return said.replace("{subject}", subject_of(event))


def _called(call: Call) -> str:
    tool = call.tool or "an unnamed tool"
    arguments = "" if call.arguments is ABSENT or call.arguments in (None, {}) else f" with {_shown(call.arguments)}"
    if call.status == "error":
        return f"{tool} is called{arguments} and fails{_colon(call.error)}"
    return f"{tool} is called{arguments}"


def _answered(event: Event) -> Iterator[str]:
    error = event.error or (event.status == "error" and "an error")
    if error:
        yield f"{subject_of(event)} fails{_colon(error)}"
    else:
        yield f"{subject_of(event)} answers"


def _erred(event: Event) -> Iterator[str]:
    yield f"an error comes up{_colon(payload_of(event).get('message') or event.error)}"


def _said(event: Event) -> Iterator[str]:
    """Yield what somebody said, or what the model answered with."""
    payload = payload_of(event)
    messages = payload.get("messages")
    texts = [payload.get("text"), *(one.get("text") for one in _objects(messages))]
    text = next((text for text in texts if isinstance(text, str) and text.strip()), None)
    who = _speaker(event)
    asked = [request.get("name") for one in _objects(messages) for request in _objects(one.get("tool_requests"))]
    if asked:
        yield f"{who} asks for {', '.join(dict.fromkeys(map(str, asked)))}"
    elif text is not None:
        yield f"{who} says “{_shown(' '.join(text.split()))}”"
    elif event.event == EventKind.TOKEN_USAGE and name_of(event) != "usage_report":
        yield "the model answers"


def _speaker(event: Event) -> str:
    payload = payload_of(event)
    if payload.get("role") == "user":
        return "the user"
    agent = payload.get("agent")
    return agent if isinstance(agent, str) else "the model"


def _nothing(_: Event) -> Iterator[str]:
    return iter(())


_TELLERS: Mapping[str, Callable[[Event], Iterator[str]]] = {
    EventKind.TOOL_OUTPUT: _answered,
    EventKind.ERROR_EVENT: _erred,
    EventKind.TOKEN_USAGE: _said,
    EventKind.STATE_TRANSITION: _said,
}


def _objects(value: Json) -> list[dict[str, Json]]:
    return [one for one in value if is_object(one)] if is_list(value) else []


def _colon(error: Json) -> str:
    return f": {_shown(error)}" if error else ""


def _shown(value: Json) -> str:
    text = value if isinstance(value, str) else canonical(value).decode("utf-8", "replace")
    line = " ".join(text[: 4 * _SHORT].split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"


def _reason(failure: Failure) -> str:
    root = failure.cause.root_cause
    return failure.cause.description if root is None else root.description
