"""MLflow tracing over OTLP: `mlflow.spanType`. Every attribute value is JSON, plain words too: `"TOOL"` in quotes."""

from collections.abc import Callable
from typing import Any

from analyzer.session.shapes import is_object
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole, When
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.message_views import answered_text, asked_text
from critiqor_otel.conventions.remedies import Extra, content_by
from critiqor_otel.conventions.shapes import composed, encoded, inner, integer, json_value, number, one_of, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.tool_definitions import tools
from critiqor_otel.conventions.unwrap import (
    call_keywords,
    mcp_result,
    through,
    tool_message,
    tool_message_field,
    typed_blocks,
)
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_TYPE = "mlflow.spanType"
_INPUTS = "mlflow.spanInputs"
_OUTPUTS = "mlflow.spanOutputs"
_USAGE = "mlflow.chat.tokenUsage"
_ROLES = {
    "CHAT_MODEL": SpanRole.MODEL,
    "LLM": SpanRole.MODEL,
    "TOOL": SpanRole.TOOL,
    "AGENT": SpanRole.AGENT,
    "WORKFLOW": SpanRole.AGENT,
    "CHAIN": SpanRole.TURN,
    "TASK": SpanRole.TURN,
    "RETRIEVER": SpanRole.RETRIEVER,
    "RERANKER": SpanRole.RETRIEVER,
    "EMBEDDING": SpanRole.EMBEDDING,
    "MEMORY": SpanRole.MEMORY,
    "EVALUATOR": SpanRole.EVALUATION,
    "GUARDRAIL": SpanRole.EVALUATION,
    "PARSER": SpanRole.OTHER,
    "UNKNOWN": SpanRole.OTHER,
}


def _either(*words: str) -> frozenset[str]:
    """Return the words as MLflow writes them, in quotes, and as a reader of its files may have left them."""
    return frozenset(words) | {f'"{word}"' for word in words}


_MODEL = _either("CHAT_MODEL", "LLM")
_TOOL = _either("TOOL")
_AGENT = _either("AGENT")
_LOOK_UP = _either("RETRIEVER", "RERANKER")


def _usage(*keys: str) -> tuple[At, ...]:
    return tuple(At(_USAGE, inner(key, shape=integer)) for key in keys)


def _decoded(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return encoded(read)


def _question(value: Any) -> Any:
    """Return what a traced function was asked: its one argument, or the last thing a user says in it."""
    found = call_keywords(structured(value))
    if is_object(found) and len(found) == 1:
        (found,) = found.values()
    return asked_text(found)


def _own_name(span: Span) -> str | None:
    return span.name or None


CONVENTION = Convention(
    name="mlflow",
    source="https://github.com/mlflow/mlflow/blob/master/mlflow/tracing/constant.py",
    known_by="`mlflow.spanType`",
    kind_key=_TYPE,
    kinds={spelling: role for word, role in _ROLES.items() for spelling in (f'"{word}"', word)},
    recognise=lambda span: SpanRole.OTHER if _TYPE in span.attributes else None,
    signs=Signs(keys=frozenset({_TYPE})),
    fields={
        Field.SESSION_ID: (At("mlflow.trace.session", encoded(text)),),
        Field.AGENT_NAME: (When(_TYPE, _AGENT, Everywhere(_own_name)),),
        Field.INPUT: (At(_INPUTS, _decoded(_question)),),
        Field.OUTPUT: (At(_OUTPUTS, _decoded(answered_text)),),
        Field.MODEL: (At("mlflow.llm.model", encoded(text)), At("model", encoded(text))),
        Field.PROVIDER: (At("mlflow.llm.provider", encoded(text)), At("mlflow.message.format", encoded(text))),
        Field.INPUT_TOKENS: _usage("input_tokens"),
        Field.OUTPUT_TOKENS: _usage("output_tokens"),
        Field.TOTAL_TOKENS: _usage("total_tokens"),
        Field.CACHED_INPUT_TOKENS: _usage("cache_read_input_tokens"),
        Field.CACHE_WRITE_TOKENS: _usage("cache_creation_input_tokens"),
        Field.COST: (At("mlflow.llm.cost", inner("total_cost", shape=number)),),
        Field.INPUT_MESSAGES: (When(_TYPE, _MODEL, At(_INPUTS, conversation)),),
        Field.OUTPUT_MESSAGES: (When(_TYPE, _MODEL, At(_OUTPUTS, _decoded(answer))),),
        Field.TOOL_DEFINITIONS: (At("mlflow.chat.tools", tools), At("tools", tools)),
        Field.MAX_TOKENS: (At("max_tokens", encoded(integer)),),
        Field.TOOL_NAME: (When(_TYPE, _TOOL, Everywhere(_own_name)),),
        Field.TOOL_ARGUMENTS: (When(_TYPE, _TOOL, At(_INPUTS, _decoded(through(call_keywords)))),),
        Field.TOOL_RESULT: (
            When(_TYPE, _TOOL, At(_OUTPUTS, _decoded(through(tool_message, mcp_result, typed_blocks)))),
        ),
        Field.FAILED: (
            When(
                _TYPE,
                _TOOL,
                At(_OUTPUTS, _decoded(composed(tool_message_field("status"), one_of({"error": True})))),
            ),
        ),
        Field.QUERY: (When(_TYPE, _LOOK_UP, At(_INPUTS, _decoded(_question))),),
        Field.RECORDS: (When(_TYPE, _LOOK_UP, At(_OUTPUTS, _decoded(json_value))),),
    },
    remedies={
        **content_by("Call set_inputs() and set_outputs() on the span, as @mlflow.trace does."),
        Fact.TOOL_CALLS: 'Decorate each tool with @mlflow.trace(span_type="TOOL").',
        Fact.MODEL_CALLS: 'Decorate each model call with @mlflow.trace(span_type="CHAT_MODEL"), or use autolog().',
        **dict.fromkeys(
            (Fact.TOKENS, Extra.CACHED_INPUT), "Set mlflow.chat.tokenUsage on model spans, as autolog() does."
        ),
        Extra.AGENT_NAME: 'Decorate the agent with @mlflow.trace(name=…, span_type="AGENT").',
        Extra.CONVERSATION_ID: "Set mlflow.trace.session on the root span: metadata of the trace stay behind.",
    },
)
