"""Who said what in a run: instructions, users and agents, each utterance once, however many events repeat it.

A text travels far: it starts an agent, is sent to a model, and is sent again with every later request. The nth time one
source (the requests of an agent, its answers, the messages of a channel) tells of a text is its nth utterance, whoever
else tells of it too; a request that sends the whole history anew starts counting anew. What a request tells of an
agent's own words is not looked at where its answers are shown.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar

from msgspec import Struct

from analyzer.pattern import pattern
from analyzer.session.accessors import Places, first_given, name_of, payload_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, EventKind, Json
from analyzer.session.shapes import is_list, is_object

__all__ = ["Conversation", "Role", "Utterance", "conversation_of"]


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    """Whoever set the agent up: its instructions."""
    USER = "user"
    CALLER = "caller"
    """An agent that hands a task to another."""
    ASSISTANT = "assistant"


class Utterance(Struct, frozen=True, kw_only=True):
    """Something said once."""

    role: Role
    text: str
    """Stripped, never empty."""
    agent: str | None
    """The agent that says it, or hears it."""
    position: int
    """Of the first event that tells of it, in the timeline's events."""
    asks: bool = False
    """The message asks for tools besides."""


class Conversation(Struct, frozen=True, kw_only=True):
    """What was said in a run, in order."""

    utterances: tuple[Utterance, ...]
    answer: Utterance | None
    """What the run gave back: the output of its outermost agent, else the last thing said without asking for tools."""

    def by(self, *roles: Role) -> tuple[Utterance, ...]:
        """Return what these said, in order."""
        return tuple([one for one in self.utterances if one.role in roles])


_ROLES: Mapping[str, Role] = {
    **dict.fromkeys(("system", "developer", "instructions"), Role.SYSTEM),
    **dict.fromkeys(("user", "human", "customer"), Role.USER),
    **dict.fromkeys(("assistant", "model", "ai", "agent", "bot"), Role.ASSISTANT),
}
_TEXT = Places(("text", "content"), ("text", "content", "message"))
_ROLE = Places(("role",), ("role",))
# Messages with an event of their own, and who speaks where the event does not say it.
_SPOKEN: Mapping[str, Role] = {
    "input": Role.USER,
    "message_received": Role.USER,
    "message_sent": Role.ASSISTANT,
    "message_start": Role.ASSISTANT,
    "message_end": Role.ASSISTANT,
}
_ENDS = frozenset(("agent_end", "agent_finish"))
_INPUTS = ("input", "question", "query", "prompt", "task", "text", "content", "message")
# Prompted tool use in plain text (ReAct): the user's turn brings a result, the agent's turn asks for a tool.
_OBSERVED = pattern(r"Observation\s*:")
_ACTION = pattern(r"^Action\s*:.{0,200}\n\s{0,20}Action Input\s*:", re.MULTILINE)


def conversation_of(events: Sequence[Event]) -> Conversation:
    """Return what the events of a run tell of its conversation; linear in the events and their messages."""
    listener = _Listener()
    for position, event in enumerate(events):
        listener.take(event, position)
    return Conversation(utterances=tuple(listener.heard), answer=listener.answer())


class _Listener:
    """Hears the events one by one."""

    def __init__(self) -> None:
        self.heard: list[Utterance] = []
        self._known: dict[Hashable, list[Utterance]] = {}
        """By what was said: each utterance of it."""
        self._told: dict[Hashable, dict[Hashable, int]] = {}
        """By source: how often it told of what."""
        self._output: Hashable = None

    def take(self, event: Event, position: int) -> None:
        """Take the event at a position."""
        taker = self._takers.get(event.event)
        if taker is not None:
            taker(self, event, position)

    def answer(self) -> Utterance | None:
        """Return what the run gave back."""
        if self._output is not None:
            return self._known[self._output][-1]
        said = (one for one in reversed(self.heard) if one.role is Role.ASSISTANT and not one.asks)
        return next(said, None)

    def _transition(self, event: Event, position: int) -> None:
        name = name_of(event)
        if name == "before_provider_request":
            self._request(event, position)
        elif name == "agent_start":
            self._start(event, position)
        elif name in _ENDS:
            self._end(event, position)
        elif name in _SPOKEN:
            self._spoken(event, position, name)

    def _request(self, event: Event, position: int) -> None:
        payload = payload_of(event)
        messages = payload.get("messages")
        if messages is None and "system_instructions" not in payload:
            return
        agent = _agent(payload)
        source = ("request", agent)
        total = payload.get("messages_total")
        if is_list(messages) and (total is None or total == len(messages)):
            self._told.pop(source, None)
        instructions = _text(payload.get("system_instructions"))
        if instructions:
            self._hear(("instructions", agent), Role.SYSTEM, instructions, agent, position)
        self._messages(messages, source, agent, position)

    def _response(self, event: Event, position: int) -> None:
        payload = payload_of(event)
        messages = payload.get("messages")
        if messages is None:
            return
        agent = _agent(payload)
        self._messages(messages, ("response", agent), agent, position, Role.ASSISTANT)

    def _messages(
        self, messages: Json, source: Hashable, agent: str | None, position: int, unsaid: Role = Role.USER
    ) -> None:
        is_retold = unsaid is Role.USER and ("response", agent) in self._told
        for message in messages if is_list(messages) else ():
            if not is_object(message):
                continue
            role, text = _role(message.get("role"), unsaid), _text(message.get("text"))
            if role is None or not text or _is_result(role, text) or (is_retold and role is Role.ASSISTANT):
                continue
            asks = role is Role.ASSISTANT and (bool(message.get("tool_requests")) or _asks_in_words(text))
            self._hear(source, role, text, agent, position, asks=asks)

    def _start(self, event: Event, position: int) -> None:
        payload = payload_of(event)
        agent = _agent(payload)
        inner = payload.get("sub_agent") is True
        role = Role.CALLER if inner else Role.USER
        for said, text in _said(payload.get("input"), role):
            self._hear(("start", agent, inner), said, text, agent, position)

    def _end(self, event: Event, position: int) -> None:
        payload = payload_of(event)
        agent = _agent(payload)
        inner = payload.get("sub_agent") is True
        output = payload.get("output")
        last = [text for role, text in _said(output, Role.ASSISTANT) if role is Role.ASSISTANT][-1:]
        for text in last:
            self._hear(("end", agent, inner), Role.ASSISTANT, text, agent, position)
            if not inner:
                self._output = (Role.ASSISTANT, text)

    def _spoken(self, event: Event, position: int, name: str) -> None:
        message = payload_of(event).get("message")
        inner = message if is_object(message) else {}
        role = _role(inner.get("role", first_given(event, _ROLE)), _SPOKEN[name])
        text = _text(inner.get("content", inner.get("text")) if inner else first_given(event, _TEXT))
        if role is not None and text:
            self._hear(name, role, text, _agent(payload_of(event)), position)

    def _hear(
        self, source: Hashable, role: Role, text: str, agent: str | None, position: int, *, asks: bool = False
    ) -> None:
        """Take what a source tells of; it is news when the source told of it more often than all others."""
        what = (Role.USER if role is Role.CALLER else role, text)
        told = self._told.setdefault(source, {})
        told[what] = count = told.get(what, 0) + 1
        known = self._known.setdefault(what, [])
        if count > len(known):
            one = Utterance(role=role, text=text, agent=agent, position=position, asks=asks)
            known.append(one)
            self.heard.append(one)

    _takers: ClassVar[Mapping[str, Callable[[Any, Event, int], None]]] = {
        EventKind.STATE_TRANSITION: _transition,
        EventKind.TOKEN_USAGE: _response,
    }


def _agent(payload: Mapping[str, Any]) -> str | None:
    agent = payload.get("agent")
    return agent if isinstance(agent, str) else None


def _role(word: Json, unsaid: Role) -> Role | None:
    """Return who speaks; None for a tool, or for somebody unknown."""
    if not isinstance(word, str):
        return unsaid
    return _ROLES.get(word.lower())


def _said(value: Json, unsaid: Role) -> Iterator[tuple[Role, str]]:
    """Yield what an agent was started with or gave back: a text, an object, or messages."""
    messages = value.get("messages", value) if is_object(value) else value
    if not is_list(messages) or (unsaid is Role.ASSISTANT and messages and not any(map(is_object, messages))):
        text = (
            canonical(value).decode("utf-8", "replace")
            if is_list(messages)
            else _object_text(value)
            if is_object(value)
            else _text(value)
        )
        if text:
            yield unsaid, text
        return
    for message in messages:
        role = _role(message.get("role"), unsaid) if is_object(message) else unsaid
        content = message.get("content", message.get("text")) if is_object(message) else message
        text = _text(content)
        if role is not None and text:
            yield role, text


def _is_result(role: Role, text: str) -> bool:
    return role is Role.USER and _OBSERVED.match(text) is not None


def _asks_in_words(text: str) -> bool:
    return "Action Input" in text and _ACTION.search(text) is not None


def _object_text(value: Mapping[str, Any]) -> str:
    """Return what an object asks: its text under a known name; a flat one as JSON; nothing of a framework's state."""
    for name in _INPUTS:
        if isinstance(text := value.get(name), str):
            return text.strip()
    return "" if any(is_object(one) or is_list(one) for one in value.values()) else _text(value)


def _text(value: Json) -> str:
    """Return a content as text: a text, the texts of its blocks, else its JSON."""
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if is_list(value):
        return "\n".join(text for block in value if (text := _block(block))).strip()
    return canonical(value).decode("utf-8", "replace") if is_object(value) else ""


def _block(block: Json) -> str:
    text = block.get("text") if is_object(block) else block
    return text if isinstance(text, str) else ""
