"""What the model asked tools for, and what it was told they gave: read from the messages of a run's model calls."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.messages import Message, ToolRequest, ToolResponse
from critiqor_otel.reconstruct.node import Node
from critiqor_otel.reconstruct.places import Place

__all__ = ["Asked", "Exchanges", "canonical"]


class Asked(Struct, frozen=True):
    """A request for a tool in a model's answer."""

    request: ToolRequest
    model: Node
    turn: int
    """The number of the model call, in order of time."""
    ordinal: int
    """How many requests for this tool without an id came before in the run."""
    next_start_ns: int | None
    """When the same agent next called a model."""

    def could_start(self, tool: Node) -> bool:
        """Tell whether the tool's span began after the request was under way."""
        return (tool.start_ns or 0) >= (self.model.start_ns or 0)

    def in_turn(self, tool: Node) -> bool:
        """Tell whether the tool's span began before the agent's next model call."""
        return self.next_start_ns is None or (tool.start_ns or 0) < self.next_start_ns


class Exchanges:
    """The requests of a run's outermost model calls, and the answers to them in later requests."""

    def __init__(self, nodes: Sequence[Node], places: Mapping[int, Place]) -> None:
        """Read the answers of the model calls; their inputs are read when an answer is looked for."""
        self._models = [node for node in nodes if node.role is SpanRole.MODEL and places[id(node)].model is node]
        self._models.sort(key=lambda node: node.sort_key)
        self._answers: dict[tuple[str, int], list[tuple[int, Node, ToolResponse]]] | None = None
        self.asked: list[Asked] = list(self._requests(places))

    def answer_to(self, asked: Asked) -> tuple[ToolResponse, Node] | None:
        """Return the first answer told after the request, and the model call that was told it."""
        if self._answers is None:
            self._answers = self._read_answers()
        key = (asked.request.id, 0) if asked.request.id is not None else (f"name:{asked.request.name}", asked.ordinal)
        for turn, node, response in self._answers.get(key, ()):
            if turn >= asked.turn:
                return response, node
        return None

    def _requests(self, places: Mapping[int, Place]) -> Iterator[Asked]:
        next_start = self._next_starts(places)
        counts: dict[str, int] = {}
        for turn, node in enumerate(self._models):
            for message in _messages(node, Field.OUTPUT_MESSAGES):
                for request in message.tool_requests:
                    ordinal = counts.get(request.name, 0)
                    counts[request.name] = ordinal + (request.id is None)
                    yield Asked(request, node, turn, ordinal, next_start[turn])

    def _next_starts(self, places: Mapping[int, Place]) -> list[int | None]:
        following: dict[int, int | None] = {}
        starts: list[int | None] = []
        for node in reversed(self._models):
            agent = id(places[id(node)].agent)
            starts.append(following.get(agent))
            following[agent] = node.start_ns
        return starts[::-1]

    def _read_answers(self) -> dict[tuple[str, int], list[tuple[int, Node, ToolResponse]]]:
        """Index the answers by call id, or by tool and number; of an answer sent again and again the first is kept."""
        answers: dict[tuple[str, int], list[tuple[int, Node, ToolResponse]]] = {}
        last: dict[tuple[str, int], Any] = {}
        for turn, node in enumerate(self._models):
            counts: dict[str, int] = {}
            for response in _responses(node):
                if response.id is not None:
                    key = (response.id, 0)
                else:
                    name = f"name:{response.name}"
                    key = (name, counts.get(name, 0))
                    counts[name] = key[1] + 1
                if last.get(key) != response:
                    last[key] = response
                    answers.setdefault(key, []).append((turn, node, response))
        return answers


def _messages(node: Node, field: Field) -> list[Message]:
    return node.facts.get(field) or []


def _responses(node: Node) -> Iterator[ToolResponse]:
    """Yield the results a model call was told, then those its own answer holds (tools that the provider runs)."""
    for field in (Field.INPUT_MESSAGES, Field.OUTPUT_MESSAGES):
        for message in _messages(node, field):
            yield from message.tool_responses


def canonical(value: Any) -> str:
    """Return one spelling for equal JSON values, whatever the order of their keys."""
    try:
        return msgspec.json.encode(value, order="sorted", enc_hook=repr).decode()
    except (TypeError, ValueError, RecursionError):
        return repr(value)
