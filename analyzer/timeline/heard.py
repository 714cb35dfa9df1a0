"""Which texts of a run may hold what others gave: outputs, arguments, prompts, answers, in order, each once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter

from msgspec import Struct

from analyzer.session.accessors import ABSENT, RESULT, Absent, Places, first_given, payload_of
from analyzer.session.model import Event, EventKind, Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Conversation, Role

__all__ = ["Heard", "Way", "heard_in"]


class Way(StrEnum):
    """How a text comes into a run."""

    OUTPUT = "output"
    """A tool or the memory gave it."""
    ARGUMENTS = "arguments"
    PROMPT = "prompt"
    """The user, the instructions or a calling agent said it to the model."""
    ANSWER = "answer"
    """The agent said it."""


class Heard(Struct, frozen=True, kw_only=True):
    """One text, or the keyed fingerprints of its words where content is withheld."""

    position: int
    way: Way
    value: Json | Absent = ABSENT
    parts: tuple[str, ...] | None = None

    @property
    def known(self) -> bool:
        """Whether anything of it is carried."""
        return self.value is not ABSENT or self.parts is not None


_QUERY = Places(("query",), ("query", "prompt"))
_RECORDS = Places(("records",), ("records", *RESULT.payload))
_REASON = Places(("reason",), ("reason", "text", "content"))
_PRINTED = Places(("text",), ("text",))
_MESSAGES = "message_parts"
_BY_AGENT = frozenset(("after_provider_response", "agent_end", "agent_finish", "message_sent"))


def heard_in(
    events: Sequence[Event], calls: Sequence[Call], orphans: Sequence[Event], conversation: Conversation
) -> list[Heard]:
    """Return the texts in order of their events."""
    found = [*_of_calls(events, calls), *_of_conversation(conversation)]
    lost = {event.event_id for event in orphans}
    for position, event in enumerate(events):
        reader = _READERS.get(event.event)
        if reader is not None:
            found += reader(event, position)
        elif event.event_id in lost and event.event == EventKind.TOOL_OUTPUT:
            found.append(_output(event, position))
    found.sort(key=attrgetter("position"))
    return found


def _of_calls(events: Sequence[Event], calls: Sequence[Call]) -> Iterator[Heard]:
    for call in calls:
        start = events[call.position]
        arguments = call.arguments
        parts = _parts(start, "input_parts") if arguments is ABSENT else None
        yield Heard(position=call.position, way=Way.ARGUMENTS, value=arguments, parts=parts)
        if call.output_position < 0:
            continue
        result = call.error if call.result is ABSENT and call.error is not None else call.result
        parts = _parts(events[call.output_position], "result_parts") if result is ABSENT else None
        yield Heard(position=call.output_position, way=Way.OUTPUT, value=result, parts=parts)


def _of_conversation(conversation: Conversation) -> Iterator[Heard]:
    for said in conversation.utterances:
        way = Way.ANSWER if said.role is Role.ASSISTANT else Way.PROMPT
        yield Heard(position=said.position, way=way, value=said.text)


def _output(event: Event, position: int) -> Heard:
    result = first_given(event, RESULT)
    parts = _parts(event, "result_parts") if result is ABSENT else None
    return Heard(position=position, way=Way.OUTPUT, value=result, parts=parts)


def _of_memory(event: Event, position: int) -> Iterator[Heard]:
    if "observed_as" in payload_of(event):
        return  # a copy of a tool's event
    for way, places, parts in (
        (Way.ARGUMENTS, _QUERY, "input_parts"),
        (Way.OUTPUT, _RECORDS, "result_parts"),
    ):
        heard = Heard(position=position, way=way, value=first_given(event, places), parts=_parts(event, parts))
        if heard.known:
            yield heard


def _of_spoken(event: Event, position: int) -> Iterable[Heard]:
    """Return the fingerprints of what was said; the texts are the conversation's."""
    parts = _parts(event, _MESSAGES)
    if parts is None:
        return ()
    way = Way.ANSWER if event.event_type in _BY_AGENT else Way.PROMPT
    return (Heard(position=position, way=way, parts=parts),)


def _of_decision(event: Event, position: int) -> Iterator[Heard]:
    reason = first_given(event, _REASON)
    if reason is not ABSENT:
        yield Heard(position=position, way=Way.ANSWER, value=reason)


def _of_process(event: Event, position: int) -> Iterator[Heard]:
    text = first_given(event, _PRINTED)
    if text is not ABSENT and payload_of(event).get("in_call") is not True:
        yield Heard(position=position, way=Way.ANSWER, value=text)


_READERS: Mapping[str, Callable[[Event, int], Iterable[Heard]]] = {
    EventKind.MEMORY_EVENT: _of_memory,
    EventKind.STATE_TRANSITION: _of_spoken,
    EventKind.TOKEN_USAGE: _of_spoken,
    EventKind.DECISION: _of_decision,
    EventKind.PROCESS_OUTPUT: _of_process,
}


def _parts(event: Event, name: str) -> tuple[str, ...] | None:
    payload = event.payload
    parts = payload.get(name) if is_object(payload) else None
    return tuple(part for part in parts if isinstance(part, str)) if is_list(parts) else None
