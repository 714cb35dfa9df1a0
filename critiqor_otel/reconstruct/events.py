"""Which events a span of each role becomes, at its start and at its end: one table for each."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from analyzer.session.model import EventKind
from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.plans import Form
from critiqor_otel.reconstruct import side_events
from critiqor_otel.reconstruct.account import Account
from critiqor_otel.reconstruct.calls import ToolCall
from critiqor_otel.reconstruct.draft import Draft, known, state
from critiqor_otel.reconstruct.model_events import ModelEvents
from critiqor_otel.reconstruct.node import Node
from critiqor_otel.reconstruct.values import as_json

__all__ = ["Events"]

_Drafts = Iterator[Draft]
_Writer = Callable[[Account, Node], Iterable[Draft]]


class Events:
    """Writes a run's events, span by span, in the order of the walk through the tree."""

    def __init__(self, account: Account) -> None:
        """Take what is known of the run."""
        self._account = account
        models = ModelEvents(account)
        self._start: Mapping[SpanRole, _Writer] = {**_START, SpanRole.MODEL: lambda _, node: models.request(node)}
        self._end: Mapping[SpanRole, _Writer] = {**_END, SpanRole.MODEL: lambda _, node: models.response(node)}

    def at_start(self, node: Node) -> Iterable[Draft]:
        """Return what the span tells when it begins; every span tells something."""
        account = self._account
        own = self._start.get(node.tells, _other)(account, node)
        if node.span.events and node.tells is not SpanRole.MODEL:  # whose own writer tells its attempts
            own = (*own, *side_events.retries(node))
        told = account.told_to.get(id(node))
        return own if told is None else (*map(_output_of, told), *own)

    def at_end(self, node: Node) -> Iterable[Draft]:
        """Return what the span tells when it ends."""
        account = self._account
        own = self._end.get(node.tells, _nothing)(account, node)
        known = id(node)
        if known in account.failures or known in account.asked_by or node.span.events or not node.facts.lacks(_EXTRAS):
            return *own, *self._beside(node)
        return own

    def _beside(self, node: Node) -> _Drafts:
        """Yield what a span of any role may tell beside its own events."""
        account = self._account
        if id(node) in account.failures:
            yield from _failure(account, node)
        yield from side_events.extras(node)
        for call in account.asked_by.get(id(node), ()):
            yield _call_of(call, account.agent_name(node))
            if call.answered_at_once:
                yield _output_of(call)


def _nothing(_: Account, __: Node) -> Iterable[Draft]:
    return ()


def _agent_start(_: Account, node: Node) -> _Drafts:
    yield state(
        "agent_start",
        agent=node.facts.get(Field.AGENT_NAME),
        input=as_json(node.facts.get(Field.INPUT)),
        tools=as_json(node.facts.get(Field.TOOL_DEFINITIONS)),
        sub_agent=node.place.super_agent is not None or None,
        unfinished=True if node.end_ns is None else None,
    )


def _agent_end(account: Account, node: Node) -> _Drafts:
    yield from _usage_report(account, node)
    if node.end_ns is None:
        return
    failure = node.failure
    yield Draft(
        event=EventKind.STATE_TRANSITION,
        event_type="agent_end",
        status="ok" if failure is None else "error",
        error=None if failure is None else failure.message or failure.error_type,
        payload=known(agent=node.facts.get(Field.AGENT_NAME), output=as_json(node.facts.get(Field.OUTPUT))),
        timed=True,
    )


def _turn_start(_: Account, node: Node) -> _Drafts:
    yield state("turn_start", name=node.span.name)


def _turn_end(account: Account, node: Node) -> _Drafts:
    yield from _usage_report(account, node)
    if node.end_ns is not None:
        yield Draft(
            event=EventKind.STATE_TRANSITION,
            event_type="turn_end",
            payload=known(name=node.span.name),
            timed=True,
        )


def _usage_report(account: Account, node: Node) -> _Drafts:
    usage = account.usage.get(id(node))
    if usage is not None:
        yield Draft(
            event=EventKind.TOKEN_USAGE,
            event_type="usage_report",
            payload={"usage": usage, "scope": "run", **known(model=node.facts.get(Field.MODEL))},
        )


def _usage_only(account: Account, node: Node) -> _Drafts:
    reported = list(_usage_report(account, node))
    yield from reported or _other(account, node)


def _message_in(account: Account, node: Node) -> _Drafts:
    """Yield what the user said; a message that tells nothing at either end of its span is kept by its name."""
    said = node.facts.get(Field.INPUT)
    if said is not None:
        yield state("message_received", role="user", text=as_json(said))
    elif node.end_ns is None or node.facts.get(Field.OUTPUT) is None:
        yield from _other(account, node)


def _message_out(account: Account, node: Node) -> _Drafts:
    """Yield what the agent said."""
    said = node.facts.get(Field.OUTPUT)
    if said is not None and node.end_ns is not None:
        agent = node.facts.get(Field.AGENT_NAME) or account.agent_name(node)
        yield state("message_sent", role="assistant", agent=agent, text=as_json(said))


def _tool_call(account: Account, node: Node) -> Iterable[Draft]:
    call = _call_of(account.call_of[id(node)], account.agent_name(node))
    return (call,) if node.facts.get(_SKILL) is None else (call, *side_events.skill(account, node))


_SKILL = Field.SKILL_NAME
_EXTRAS = side_events.EXTRAS


def _tool_result(account: Account, node: Node) -> Iterable[Draft]:
    return () if node.end_ns is None else (_output_of(account.call_of[id(node)]),)


def _other(_: Account, node: Node) -> Iterable[Draft]:
    return (state(node.span.name or "span", name=node.span.name),)


_TOLD_BY_CALL = frozenset({SpanRole.OTHER, SpanRole.PROCESS})


def _failure(account: Account, node: Node) -> _Drafts:
    """Yield the failure that began here; a tool's is told by its output."""
    failure = account.failures[id(node)]
    inside_call = node.place.tool is not None and node.tells in _TOLD_BY_CALL
    if node.tells is SpanRole.TOOL or inside_call:
        return
    yield Draft(
        event=EventKind.ERROR_EVENT,
        event_type="error",
        error=failure.message or failure.error_type,
        payload=known(error_type=failure.error_type, message=failure.message, where=node.span.name),
    )


_CALL, _OUTPUT = EventKind.TOOL_CALL, EventKind.TOOL_OUTPUT


def _call_of(call: ToolCall, agent: str | None) -> Draft:
    payload: dict[str, Any] = {}
    if call.arguments is not None:
        payload["input"] = call.arguments
    if agent is not None:
        payload["agent"] = agent
    if call.pseudo:
        payload["pseudo"] = True
    if call.node is None:
        payload["basis"] = "derived"
    elif call.arguments is None:
        payload |= call.node.facts.known(_INPUT_PRINTS)
    return Draft(event=_CALL, event_type="tool_call", tool_name=call.name, tool_call_id=call.call_id, payload=payload)


_INPUT_PRINTS = Form(input_fingerprint=Field.INPUT_FINGERPRINT, input_parts=Field.INPUT_PARTS)
"""Keyed fingerprints, which stand on a call's span in place of content."""
_RESULT_PRINTS = Form(result_fingerprint=Field.RESULT_FINGERPRINT, result_parts=Field.RESULT_PARTS)
_STATUS = {True: "error", False: "ok", None: None}


def _output_of(call: ToolCall) -> Draft:
    payload: dict[str, Any] = {}
    if call.result is not None:
        payload["result"] = call.result
    if call.exit_code is not None:
        payload["exit_code"] = call.exit_code
    if call.error_type is not None:
        payload["error_type"] = call.error_type
    if call.result is None and call.node is not None:
        payload |= call.node.facts.known(_RESULT_PRINTS)
    return Draft(
        event=_OUTPUT,
        event_type="tool_result",
        tool_name=call.name,
        tool_call_id=call.call_id,
        status=_STATUS[call.failed],
        error=call.error if call.failed else None,
        payload=payload,
        timed=call.node is not None,
    )


_START: Mapping[SpanRole, _Writer] = {
    SpanRole.AGENT: _agent_start,
    SpanRole.TURN: _turn_start,
    SpanRole.TOOL: _tool_call,
    SpanRole.MEMORY: side_events.memory_start,
    SpanRole.RETRIEVER: side_events.memory_start,
    SpanRole.SKILL: side_events.skill,
    SpanRole.DECISION: side_events.decision,
    SpanRole.EVALUATION: side_events.evaluation,
    SpanRole.CONTEXT: side_events.context,
    SpanRole.RETRY: side_events.retry,
    SpanRole.PROCESS: side_events.process_start,
    SpanRole.USAGE: _usage_only,
    SpanRole.MESSAGE: _message_in,
}

_END: Mapping[SpanRole, _Writer] = {
    SpanRole.AGENT: _agent_end,
    SpanRole.TURN: _turn_end,
    SpanRole.TOOL: _tool_result,
    SpanRole.MEMORY: side_events.memory_end,
    SpanRole.RETRIEVER: side_events.memory_end,
    SpanRole.PROCESS: side_events.process_end,
    SpanRole.USAGE: _message_out,
    SpanRole.MESSAGE: _message_out,
}
