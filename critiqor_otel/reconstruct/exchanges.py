"""What the model asked tools for, and what it was told they gave: read from the messages of a run's model calls.

Some frameworks hand messages on in spans of their own (AutoGen); and where neither tools nor models leave any span, the
agent's transcript is all there is.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import Any

import msgspec
from msgspec import Struct

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.messages import Message, ToolRequest, ToolResponse
from critiqor_otel.reconstruct.node import Node

__all__ = ["Asked", "Exchanges", "canonical"]


class Asked(Struct, frozen=True):
    """A request for a tool in a model's answer, or that a later request tells of an answer which is silent."""

    request: ToolRequest
    model: Node
    turn: int
    """The number of the model call, in order of time."""
    ordinal: int
    """How many requests with this id came before in the run; for one without an id, how many for this tool."""
    place: int
    """How many requests without an id came before in the run, for any tool."""
    next_start_ns: int | None
    """When the same agent next called a model."""
    retold: bool = False
    """The answer leaves out the request's id, which is that of a later history."""

    @property
    def call_id(self) -> str | None:
        """Return the request's id, if it is the first of that id: Google's SDK counts calls anew in each answer."""
        return None if self.ordinal and not self.retold else self.request.id

    def could_start(self, tool: Node) -> bool:
        """Tell whether the tool's span began after the request was under way."""
        return (tool.start_ns or 0) >= (self.model.start_ns or 0)

    def in_turn(self, tool: Node) -> bool:
        """Tell whether the tool's span began before the agent's next model call."""
        return self.next_start_ns is None or (tool.start_ns or 0) < self.next_start_ns


class Exchanges:
    """The requests of a run's outermost model calls, and the answers to them in later requests."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        """Read the answers of the model calls; their inputs are read when an answer is looked for."""
        self._speakers = [node for node in nodes if node.role in _SPEAKERS and _is_outermost(node)]
        self._said: tuple[Field, ...] = (Field.OUTPUT_MESSAGES,)
        self._heard: tuple[Field, ...] = (Field.INPUT_MESSAGES, Field.OUTPUT_MESSAGES)
        if not any(node.role in _DIRECT for node in nodes):
            self._speakers = [node for node in nodes if node.facts.get(Field.TRANSCRIPT) is not None][:1]
            self._said = self._heard = (Field.TRANSCRIPT,)
        self._answers: dict[tuple[str, int], list[tuple[int, Node, ToolResponse]]] | None = None
        self.asked: list[Asked] = []
        said = frozenset(self._said)
        if not all(node.facts.lacks(said) for node in self._speakers):
            self._speakers.sort(key=lambda node: node.sort_key)
            self.asked = self._named(list(self._requests()))

    def answer_to(self, asked: Asked) -> tuple[ToolResponse, Node] | None:
        """Return the first answer told after the request, and the model call that was told it."""
        if self._answers is None:
            self._answers = self._read_answers()
        for key in _keys_of(asked):
            for turn, node, response in self._answers.get(key, ()):
                if turn >= asked.turn:
                    return response, node
        return None

    def _requests(self) -> Iterator[Asked]:
        following = self._following()
        counts: Counter[tuple[str, bool]] = Counter()
        place = 0
        for turn, (node, later) in enumerate(zip(self._speakers, following, strict=True)):
            next_start = None if later is None else later.start_ns
            for request in self._requests_of(node, later):
                same = (request.name, False) if request.id is None else (request.id, True)
                yield Asked(request, node, turn, counts[same], place, next_start)
                counts[same] += 1
                place += request.id is None

    def _requests_of(self, node: Node, later: Node | None) -> list[ToolRequest]:
        """Return what an answer asks for; where it says nothing at all, what the agent's next request tells of it."""
        said = list(_messages(node, self._said))
        found = [request for message in said for request in message.tool_requests]
        if found or later is None or node.role is not _MODEL or any(message.text for message in said):
            return found
        before, after = list(_messages(node, _HISTORY)), list(_messages(later, _HISTORY))
        if not before or after[: len(before)] != before:
            return []
        told = takewhile(lambda message: message.role == "assistant", after[len(before) :])
        return [request for message in told for request in message.tool_requests]

    def _named(self, asked: list[Asked]) -> list[Asked]:
        """Give requests without an id the id under which a later request tells them again (LiteLLM)."""
        if all(one.request.id is not None for one in asked):
            return asked
        retold = self._retold({one.request.id for one in asked})
        named: list[Asked] = []
        for one in asked:
            turn, again = retold.get((one.request.name, one.ordinal), (0, one.request))
            fits = turn > one.turn and canonical(again.arguments) == canonical(one.request.arguments)
            missing = fits and one.request.id is None
            named.append(msgspec.structs.replace(one, request=again, retold=True) if missing else one)
        return named

    def _retold(self, known: Collection[str | None]) -> dict[tuple[str, int], tuple[int, ToolRequest]]:
        """Map tool and number to the requests of other ids in histories, and the turn that first tells of each.

        What the first history holds was asked for before the run.
        """
        retold: dict[tuple[str, int], tuple[int, ToolRequest]] = {}
        seen = set(known)
        counts: Counter[str] = Counter()
        for turn, node in enumerate(self._speakers):
            for request in (one for message in _messages(node, _HISTORY) for one in message.tool_requests):
                if request.id in seen:
                    continue
                seen.add(request.id)
                if turn:
                    retold[request.name, counts[request.name]] = (turn, request)
                    counts[request.name] += 1
        return retold

    def _following(self) -> list[Node | None]:
        """Return the next model call of each speaker's agent."""
        next_of: dict[int, Node] = {}
        found: list[Node | None] = []
        for node in reversed(self._speakers):
            agent = id(node.place.agent)
            found.append(next_of.get(agent))
            if node.role is _MODEL:
                next_of[agent] = node
        return found[::-1]

    def _read_answers(self) -> dict[tuple[str, int], list[tuple[int, Node, ToolResponse]]]:
        """Index the answers by call id, or by tool and number; of an answer sent again and again the first is kept."""
        answers: dict[tuple[str, int], list[tuple[int, Node, ToolResponse]]] = {}
        last: dict[tuple[str, int], Any] = {}
        for turn, node in enumerate(self._speakers):
            counts: dict[str, int] = {}
            for response in (one for message in _messages(node, self._heard) for one in message.tool_responses):
                name = response.id or (_NAMELESS if response.name is None else f"name:{response.name}")
                key = (name, counts.get(name, 0))
                counts[name] = key[1] + 1
                if last.get(key) != response:
                    last[key] = response
                    answers.setdefault(key, []).append((turn, node, response))
        return answers


_HISTORY = (Field.INPUT_MESSAGES,)
_NAMELESS = "nameless"


def _keys_of(asked: Asked) -> Sequence[tuple[str, int]]:
    """Return where the answer to a request may stand: under its id; else its tool's name; else its place alone.

    Of an id that comes again the answers are numbered in a history; who begins a new one numbers them anew.
    """
    if (name := asked.request.id) is not None:
        return ((name, 0),) if asked.call_id else ((name, asked.ordinal), (name, 0))
    return ((f"name:{asked.request.name}", asked.ordinal), (_NAMELESS, asked.place))


_DIRECT = frozenset({SpanRole.MODEL, SpanRole.TOOL})
_SPEAKERS = frozenset({SpanRole.MODEL, SpanRole.USAGE, SpanRole.MESSAGE})


_MODEL = SpanRole.MODEL


def _is_outermost(node: Node) -> bool:
    return node.role is not _MODEL or node.place.model is node


def _messages(node: Node, fields: Sequence[Field]) -> Iterator[Message]:
    """Yield a span's messages; a model is told results in its input, and in its own answer (a provider's tools)."""
    for field in fields:
        yield from node.facts.get(field) or ()


def canonical(value: Any) -> str:
    """Return one spelling for equal JSON values, whatever the order of their keys."""
    try:
        return msgspec.json.encode(value, order="sorted", enc_hook=repr).decode()
    except (TypeError, ValueError, RecursionError):
        return repr(value)
