"""A model call as two events: what was sent to it that is new, and what came back."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, structs

from analyzer.session.model import EventKind
from analyzer.timeline.provenance import MOST_PARTS
from critiqor_otel.conventions.convention import Field
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.messages import Message, ToolRequest
from critiqor_otel.conventions.plans import Form
from critiqor_otel.reconstruct.account import Account
from critiqor_otel.reconstruct.draft import Draft, known
from critiqor_otel.reconstruct.node import Node
from critiqor_otel.reconstruct.side_events import retries, retry_of
from critiqor_otel.reconstruct.values import as_json

__all__ = ["ModelEvents"]


class _Sent(Struct):
    """What an agent's previous request sent."""

    messages: list[Message] = []
    tools: Any = None
    instructions: str | None = None
    parts: frozenset[str] = frozenset()


_IDENTITY = Form(model=Field.MODEL, provider=Field.PROVIDER)
_SENT = Form(
    messages=Field.INPUT_MESSAGES,
    instructions=Field.SYSTEM_INSTRUCTIONS,
    tools=Field.TOOL_DEFINITIONS,
    max_tokens=Field.MAX_TOKENS,
)
_PARTS = frozenset({Field.PROMPT_PARTS, Field.MESSAGE_PARTS})
_ANSWER = Form(finish_reasons=Field.FINISH_REASONS, messages=Field.OUTPUT_MESSAGES, cost_usd=Field.COST)


class ModelEvents:
    """Writes requests and responses; remembers for each agent what was sent, since every request sends it all again."""

    def __init__(self, account: Account) -> None:
        """Take what is known of the run."""
        self._account = account
        self._sent: dict[int, _Sent] = {}
        self._asked: dict[int, dict[str, Any]] = {}
        """Who asks whom in the calls under way, by the id() of the node."""

    def request(self, node: Node) -> Sequence[Draft]:
        """Return the request, and a retry when the span says it is not the first attempt."""
        facts = node.facts
        payload = self._who(node)
        self._asked[id(node)] = payload.copy()
        told = facts.known(_SENT)
        if told or not facts.lacks(_PARTS):
            agent = node.place.agent
            sent = self._sent.get(id(agent)) or self._sent.setdefault(id(agent), _Sent())
            payload |= _news(facts, told, sent)
        request = Draft(event=_STATE, event_type="before_provider_request", payload=payload)
        if node.span.events or not facts.lacks(_ATTEMPT):
            return request, *_retries(node)
        return (request,)

    def response(self, node: Node) -> Sequence[Draft]:
        """Return the response; a call still open has none, and one that reported no usage has no `usage`."""
        if node.end_ns is None:
            return ()
        failure = node.failure
        payload = self._asked.pop(id(node))
        usage = self._account.usage.get(id(node))
        if usage is not None:
            payload["usage"] = usage
        told = node.facts.known(_ANSWER)
        if told or not node.facts.lacks(_PARTS):
            payload |= self._answer(node, told)
        return (
            Draft(
                event=_USAGE,
                event_type="after_provider_response",
                status="ok" if failure is None else "error",
                error=None if failure is None else failure.message or failure.error_type,
                payload=payload,
                timed=True,
            ),
        )

    def _who(self, node: Node) -> dict[str, Any]:
        """Return which model of whom was asked by whom."""
        who = node.facts.known(_IDENTITY)
        agent = self._account.agent_name(node)
        if agent is not None:
            who["agent"] = agent
        return who

    def _answer(self, node: Node, told: dict[str, Any]) -> dict[str, Any]:
        messages: list[Message] | None = told.get("messages")
        return known(
            finish_reasons=told.get("finish_reasons") or _reasons(messages),
            messages=None if messages is None else [_told(message) for message in self._named(node, messages)],
            cost_usd=told.get("cost_usd"),
            message_parts=None if messages else node.facts.get(Field.MESSAGE_PARTS),
        )

    def _named(self, node: Node, messages: list[Message]) -> list[Message]:
        """Give requests that leave out their ids those under which later requests tell of them."""
        retold = deque(self._account.asked.get(id(node), ()))
        if not retold:
            return messages
        return [
            structs.replace(
                message,
                tool_requests=tuple(
                    retold.popleft().request if retold and _is_retold(one, retold[0].request) else one
                    for one in message.tool_requests
                ),
            )
            for message in messages
        ]


_STATE, _USAGE = EventKind.STATE_TRANSITION, EventKind.TOKEN_USAGE


def _news(facts: Facts, told: dict[str, Any], sent: _Sent) -> dict[str, Any]:
    """Return what a request sent that the one before did not."""
    news: dict[str, Any] = {}
    messages: list[Message] | None = told.get("messages")
    if messages is not None:
        news["messages"] = [_told(message) for message in _new(messages, sent)]
        news["messages_total"] = len(messages)
    instructions = _changed(sent, "instructions", told.get("instructions"))
    if instructions is not None:
        news["system_instructions"] = instructions
    tools = as_json(_changed(sent, "tools", told.get("tools")))
    if tools is not None:
        news["tools"] = tools
    if "max_tokens" in told:
        news["max_tokens"] = told["max_tokens"]
    parts = None if messages else _new_parts(facts, sent)
    if parts is not None:
        news["message_parts"] = parts
    return news


def _reasons(messages: list[Message] | None) -> list[str] | None:
    """Return why an answer ended as its messages say it, for spans that don't."""
    return [message.finish_reason for message in messages or () if message.finish_reason is not None] or None


def _is_retold(request: ToolRequest, again: ToolRequest) -> bool:
    return request.id is None and (request.name, request.arguments) == (again.name, again.arguments)


_ATTEMPT = frozenset({Field.ATTEMPT})


def _retries(node: Node) -> Iterator[Draft]:
    """Yield each attempt after the first that the span tells of, or the last one when it only counts them."""
    told = list(retries(node))
    attempt = node.facts.get(Field.ATTEMPT)
    if not told and attempt is not None and attempt > 1:
        told = [retry_of(node.facts, node)]
    yield from told


def _new(messages: list[Message], sent: _Sent) -> list[Message]:
    """Return the messages that the previous request did not begin with, and remember these."""
    before, sent.messages = sent.messages, messages
    count = len(before)
    return messages[count:] if messages[:count] == before else messages


def _new_parts(facts: Facts, sent: _Sent) -> list[str] | None:
    """Return the fingerprints of what was said that no earlier request told of, and remember them."""
    parts: list[str] | None = facts.get(Field.PROMPT_PARTS)
    if parts is None or len(parts) >= MOST_PARTS:
        return parts  # there may have been more words
    before, sent.parts = sent.parts, sent.parts.union(parts)
    return [part for part in parts if part not in before]


def _changed(sent: _Sent, what: str, value: Any) -> Any:
    """Return the value when it is not the one sent before, and remember it."""
    if value is None or value == getattr(sent, what):
        return None
    setattr(sent, what, value)
    return value


def _told(message: Message) -> dict[str, Any]:
    """Return a message as docs/session.md writes it."""
    requests = [
        known(id=request.id, name=request.name, arguments=as_json(request.arguments))
        for request in message.tool_requests
    ]
    responses = [
        known(id=one.id, name=one.name, result=as_json(one.result), is_error=one.is_error)
        for one in message.tool_responses
    ]
    return known(
        role=message.role,
        text=message.text,
        tool_requests=requests or None,
        tool_responses=responses or None,
    )
