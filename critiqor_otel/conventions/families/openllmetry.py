"""OpenLLMetry (Traceloop): `traceloop.span.kind`, `llm.request.type`, and `gen_ai.prompt.N…` up to 0.4x.

From 0.5x on its spans are OTel GenAI spans as well, whose operation then says more than the kind. LangChain's tool
spans hold a callback's record, not the arguments.
"""

from collections.abc import Callable
from typing import Any

from analyzer.session.shapes import is_object
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole, When
from critiqor_otel.conventions.indexed import indexed_messages
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_views import answered_text, asked_text
from critiqor_otel.conventions.remedies import OPENLLMETRY_CONTENT, Extra, content_by
from critiqor_otel.conventions.shapes import composed, inner, integer, one_of, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.tool_definitions import indexed_tools
from critiqor_otel.conventions.unwrap import (
    call_keywords,
    graph_command,
    langchain_input,
    langchain_output,
    mcp_result,
    through,
    tool_message,
    tool_message_field,
    typed_blocks,
)
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_KIND = "traceloop.span.kind"
_ASSOCIATION = "traceloop.association.properties."
_TOOL = frozenset({"tool"})
_AGENT = frozenset({"agent", "workflow"})
_KINDS = {
    "workflow": SpanRole.AGENT,
    "agent": SpanRole.AGENT,
    "task": SpanRole.TURN,
    "tool": SpanRole.TOOL,
    "handoff": SpanRole.OTHER,
    "unknown": SpanRole.OTHER,
}
_REQUESTS = {
    "chat": SpanRole.MODEL,
    "completion": SpanRole.MODEL,
    "response": SpanRole.MODEL,
    "embedding": SpanRole.EMBEDDING,
    "rerank": SpanRole.RETRIEVER,
}
_OPERATIONS = {
    "chat": SpanRole.MODEL,
    "text_completion": SpanRole.MODEL,
    "generate_content": SpanRole.MODEL,
    "response": SpanRole.MODEL,  # OpenAI Agents
    "execute_tool": SpanRole.TOOL,
    "execute_task": SpanRole.TURN,
    "create_agent": SpanRole.SETUP,
    "embeddings": SpanRole.EMBEDDING,
}
_PROMPTS = ("gen_ai.prompt.", "llm.prompts.")
_COMPLETIONS = ("gen_ai.completion.", "llm.completions.")
_MARKS = frozenset({_KIND, "llm.request.type", "traceloop.workflow.name", "traceloop.entity.path"})
_GRAPHS = frozenset({"langgraph", "langchain"})


def _of_traceloop(span: Span) -> SpanRole | None:
    attributes = span.attributes
    if _MARKS.isdisjoint(attributes):
        return None
    kind, request = attributes.get(_KIND), attributes.get("llm.request.type")
    operation = attributes.get("gen_ai.operation.name")
    if (role := _OPERATIONS.get(str(operation))) is not None:
        return role
    if _is_inner_graph(span):
        return SpanRole.TURN
    return _KINDS.get(str(kind)) or _REQUESTS.get(str(request))


def _is_inner_graph(span: Span) -> bool:
    """Tell LangGraph's own workflow span inside `invoke_agent`, which is the same run told a second time."""
    return (
        span.attributes.get(_KIND) == "workflow"
        and span.parent_span_id is not None
        and str(span.attributes.get("gen_ai.provider.name")) in _GRAPHS
    )


def _said(read: Callable[[Any], Any], *keys: str) -> Callable[[Any], Any]:
    """Return the shape that reads a callback's record `{inputs, tags, metadata, kwargs}` or a Python call."""

    def shape(value: Any) -> Any:
        found = structured(value)
        for key in keys:
            if is_object(found) and key in found:
                return read(found[key])
        return read(call_keywords(found))

    return shape


def _call_id(value: Any) -> Any:
    """Return the call id LangChain hands a tool beside its arguments."""
    return inner("kwargs", "tool_call_id", shape=text)(value)


_STATUS = one_of({"failure": True, "error": True, "success": False})
_MESSAGE_STATUS = composed(tool_message_field("status", langchain_output, graph_command), _STATUS)
_ARGUMENTS = through(langchain_input, call_keywords)
_RESULT = through(langchain_output, graph_command, tool_message, mcp_result, typed_blocks)

CONVENTION = Convention(
    name="openllmetry",
    source="https://github.com/traceloop/openllmetry",
    known_by="`traceloop.*` attributes, or `llm.request.type`",
    recognise=_of_traceloop,
    signs=Signs(keys=_MARKS),
    fields={
        Field.SESSION_ID: (
            At("gen_ai.conversation.id", text),
            At(f"{_ASSOCIATION}thread_id", text),  # what LangChain also writes as the conversation's id
            At(f"{_ASSOCIATION}session_id", text),
            At(f"{_ASSOCIATION}conversation_id", text),
            At(f"{_ASSOCIATION}chat_id", text),
        ),
        Field.AGENT_NAME: (
            At("gen_ai.agent.name", text),
            At("traceloop.workflow.name", text),
            When(_KIND, _AGENT, At("traceloop.entity.name", text)),
        ),
        Field.INPUT: (At("traceloop.entity.input", _said(asked_text, "inputs")),),
        Field.OUTPUT: (At("traceloop.entity.output", _said(answered_text, "outputs")),),
        Field.MODEL: (At("llm.response.model", text), At("llm.request.model", text)),
        Field.PROVIDER: (At("llm.vendor", text),),
        Field.INPUT_TOKENS: (At("gen_ai.usage.prompt_tokens", integer), At("llm.usage.prompt_tokens", integer)),
        Field.OUTPUT_TOKENS: (
            At("gen_ai.usage.completion_tokens", integer),
            At("llm.usage.completion_tokens", integer),
        ),
        Field.TOTAL_TOKENS: (At("llm.usage.total_tokens", integer),),
        Field.INPUT_MESSAGES: (Everywhere(indexed_messages(*_PROMPTS, role="user"), starts=_PROMPTS),),
        Field.OUTPUT_MESSAGES: (Everywhere(indexed_messages(*_COMPLETIONS, role="assistant"), starts=_COMPLETIONS),),
        Field.TOOL_DEFINITIONS: (
            Everywhere(indexed_tools("llm.request.functions."), starts=("llm.request.functions.",)),
        ),
        Field.TOOL_NAME: (
            At("gen_ai.tool.name", text),
            When(_KIND, _TOOL, At("traceloop.entity.name", text)),
        ),
        Field.TOOL_CALL_ID: (
            At("gen_ai.tool.call.id", text),
            At("gen_ai.tool.call.arguments", _call_id),
            When(_KIND, _TOOL, At("traceloop.entity.input", _call_id)),
            At("gen_ai.tool.call.result", tool_message_field("tool_call_id", langchain_output, graph_command)),
        ),
        Field.TOOL_ARGUMENTS: (
            At("gen_ai.tool.call.arguments", _ARGUMENTS),
            When(_KIND, _TOOL, At("traceloop.entity.input", _ARGUMENTS)),
        ),
        Field.TOOL_RESULT: (
            At("gen_ai.tool.call.result", _RESULT),
            When(_KIND, _TOOL, At("traceloop.entity.output", _RESULT)),
        ),
        Field.FAILED: (
            At("gen_ai.tool.call.result", _MESSAGE_STATUS),
            When(_KIND, _TOOL, At("traceloop.entity.output", _MESSAGE_STATUS)),
            At("gen_ai.task.status", _STATUS),
        ),
    },
    remedies={
        **content_by(OPENLLMETRY_CONTENT),
        Fact.TOOL_CALLS: "Decorate each tool with @tool of traceloop.sdk.decorators.",
        Fact.TOOL_ERRORS: OPENLLMETRY_CONTENT,
        Fact.MODEL_CALLS: "Leave the model's client among the instruments of Traceloop.init().",
        Fact.TOKENS: 'Ask for usage where answers are streamed (OpenAI: stream_options={"include_usage": True}).',
        Extra.AGENT_NAME: "Decorate the agent with @agent(name=…) of traceloop.sdk.decorators.",
        Extra.CONVERSATION_ID: 'Call Traceloop.set_association_properties({"session_id": …}).',
    },
)
