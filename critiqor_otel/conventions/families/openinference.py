"""OpenInference (Arize, Phoenix): `openinference.span.kind`, `input.value`, numbered messages.

Content is captured by default. The OTel kind is always INTERNAL and says nothing. What instrumentations put around a
tool's arguments differs: LangChain a bare text, smolagents and LlamaIndex a record of the Python call.
"""

from collections.abc import Callable
from typing import Any

from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import (
    At,
    BadValueError,
    Convention,
    Everywhere,
    Field,
    FromEvent,
    SpanRole,
    When,
)
from critiqor_otel.conventions.indexed import indexed_messages, unflattened
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.kinds import OPENINFERENCE_KINDS
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.message_views import answered_text, asked_text
from critiqor_otel.conventions.messages import Message
from critiqor_otel.conventions.remedies import OPENINFERENCE_CONTENT, OPENINFERENCE_SESSION, Extra, content_by
from critiqor_otel.conventions.shapes import composed, inner, integer, number, one_of, strings, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.tool_definitions import indexed_tools
from critiqor_otel.conventions.unwrap import (
    call_keywords,
    graph_command,
    mcp_result,
    message_output,
    through,
    tool_message,
    tool_message_field,
    typed_blocks,
)
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_KIND = "openinference.span.kind"
_MODEL = frozenset({"LLM"})
_TOOL = frozenset({"TOOL"})
_AGENT = frozenset({"AGENT"})
_MESSAGE = (message_output, graph_command)
"""What LangChain and LangGraph put around the message that a tool gave back."""
_STATUS = one_of({"error": True, "success": False})
_LOOK_UP = frozenset({"RETRIEVER", "RERANKER"})


def _other_case(span: Span) -> SpanRole | None:
    kind = span.attributes.get(_KIND)
    return OPENINFERENCE_KINDS.get(kind.upper(), SpanRole.OTHER) if isinstance(kind, str) else None


def _messages(prefix: str, raw_key: str, *, role: str, read: Callable[[Any], Any]) -> Callable[[Span], Any]:
    """Return the shape that reads numbered messages, or the raw body where those leave out the ids of tool calls.

    The raw body is no text to parse where the numbered ones are whole: a history of 100 messages stands there twice.
    """
    numbered = indexed_messages(prefix, role=role)

    def shape(span: Span) -> Any:
        found = numbered(span)
        if found is not None and not any(_anonymous(message) for message in found):
            return found
        if span.attributes.get(_KIND) != "LLM" or (raw := span.attributes.get(raw_key)) is None:
            return found
        try:
            return read(raw) or found
        except BadValueError:
            return found

    return shape


def _anonymous(message: Message) -> bool:
    """Tell whether a message holds tool calls without ids, or an answer of no call (LiteLLM)."""
    ids = [*(request.id for request in message.tool_requests), *(answer.id for answer in message.tool_responses)]
    return None in ids


def _documents(span: Span) -> list[Any] | None:
    return unflattened(span.attributes, "retrieval.documents.") or None


def _answered_documents(value: Any) -> list[Any] | None:
    """Return the documents of a look-up's raw answer; an empty list says that it found nothing."""
    found = structured(value)
    if is_object(found):
        found = found.get("documents")
    return found if is_list(found) else None


def _own_name(span: Span) -> str | None:
    return span.name or None


CONVENTION = Convention(
    name="openinference",
    source="https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md",
    known_by="`openinference.span.kind`",
    kind_key=_KIND,
    kinds=OPENINFERENCE_KINDS,
    recognise=_other_case,
    signs=Signs(keys=frozenset({_KIND})),
    fields={
        Field.SESSION_ID: (
            At("session.id", text),
            At("metadata", inner("session_id", shape=text)),
            At("metadata", inner("thread_id", shape=text)),
            At("metadata", inner("conversation_id", shape=text)),
        ),
        Field.AGENT_NAME: (
            At("agent.name", text),
            At("graph.node.id", text),
            At("metadata", inner("lc_agent_name", shape=text)),
            When(_KIND, _AGENT, Everywhere(_own_name)),
        ),
        Field.INPUT: (At("input.value", asked_text),),
        Field.OUTPUT: (At("output.value", answered_text),),
        Field.MODEL: (
            At("llm.response.model_name", text),
            At("llm.model_name", text),
            At("llm.request.model_name", text),
            At("embedding.model_name", text),
        ),
        Field.PROVIDER: (At("llm.provider", text), At("llm.system", text)),
        Field.INPUT_TOKENS: (
            At("llm.token_count.prompt", integer),
            When(_KIND, _MODEL, At("output.value", inner("usage", "prompt_tokens", shape=integer))),  # AutoGen
        ),
        Field.OUTPUT_TOKENS: (
            At("llm.token_count.completion", integer),
            When(_KIND, _MODEL, At("output.value", inner("usage", "completion_tokens", shape=integer))),
        ),
        Field.TOTAL_TOKENS: (At("llm.token_count.total", integer),),
        Field.CACHED_INPUT_TOKENS: (At("llm.token_count.prompt_details.cache_read", integer),),
        Field.CACHE_WRITE_TOKENS: (At("llm.token_count.prompt_details.cache_write", integer),),
        Field.REASONING_TOKENS: (At("llm.token_count.completion_details.reasoning", integer),),
        Field.COST: (At("llm.cost.total", number),),
        Field.FINISH_REASONS: (At("llm.finish_reason", strings),),
        Field.MAX_TOKENS: (
            At("llm.invocation_parameters", inner("max_tokens", shape=integer)),
            At("llm.invocation_parameters", inner("max_completion_tokens", shape=integer)),
        ),
        Field.INPUT_MESSAGES: (
            Everywhere(
                _messages("llm.input_messages.", "input.value", role="user", read=conversation),
                starts=("llm.input_messages.", "input.value"),
            ),
        ),
        Field.OUTPUT_MESSAGES: (
            Everywhere(
                _messages("llm.output_messages.", "output.value", role="assistant", read=answer),
                starts=("llm.output_messages.", "output.value"),
            ),
        ),
        Field.TOOL_DEFINITIONS: (Everywhere(indexed_tools("llm.tools."), starts=("llm.tools.",)),),
        Field.TOOL_NAME: (At("tool.name", text), When(_KIND, _TOOL, Everywhere(_own_name))),
        Field.TOOL_CALL_ID: (
            At("tool.id", text),
            At("tool_call.id", text),
            When(_KIND, _TOOL, At("output.value", tool_message_field("tool_call_id", *_MESSAGE))),
        ),
        Field.TOOL_ARGUMENTS: (When(_KIND, _TOOL, At("input.value", through(call_keywords))),),
        Field.TOOL_RESULT: (
            When(_KIND, _TOOL, At("output.value", through(*_MESSAGE, tool_message, mcp_result, typed_blocks))),
        ),
        Field.FAILED: (
            When(_KIND, _TOOL, At("output.value", composed(tool_message_field("status", *_MESSAGE), _STATUS))),
        ),
        Field.ERROR_TYPE: (FromEvent("exception", "exception.type", text),),
        Field.ERROR_MESSAGE: (FromEvent("exception", "exception.message", text),),
        Field.QUERY: (When(_KIND, _LOOK_UP, At("input.value", text)),),
        Field.RECORDS: (
            Everywhere(_documents, starts=("retrieval.documents.",)),
            When(_KIND, _LOOK_UP, At("output.value", _answered_documents)),
        ),
        Field.EVALUATION_NAME: (At("eval.name", text), At("annotation.name", text)),
        Field.EVALUATION_SCORE: (At("eval.score", number), At("annotation.score", number)),
        Field.EVALUATION_LABEL: (At("eval.label", text), At("annotation.label", text)),
    },
    remedies={
        **content_by(OPENINFERENCE_CONTENT),
        Fact.TOOL_CALLS: OPENINFERENCE_CONTENT,
        Fact.TOOL_ERRORS: OPENINFERENCE_CONTENT,
        Fact.MODEL_CALLS: "Instrument the model's client too, for example with openinference-instrumentation-openai.",
        Fact.TOKENS: 'Ask for usage where answers are streamed (OpenAI: stream_options={"include_usage": True}).',
        Extra.AGENT_NAME: "Name the agent in its framework, or put an AGENT span with agent.name around each run.",
        Extra.CONVERSATION_ID: OPENINFERENCE_SESSION,
    },
)
