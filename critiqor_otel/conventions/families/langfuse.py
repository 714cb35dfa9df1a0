"""Langfuse SDK (OTel based): `langfuse.observation.type`; also what its API's observations become.

A tool's name is the span's. `usage_details.input` leaves cached input out wherever cached input stands beside it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from analyzer.session.shapes import is_object
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole, When
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.message_views import answered_text, asked_text
from critiqor_otel.conventions.remedies import Extra, content_by
from critiqor_otel.conventions.shapes import inner, integer, number, one_of, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.tool_definitions import tools
from critiqor_otel.conventions.unwrap import call_keywords, mcp_result, through, typed_blocks
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_TYPE = "langfuse.observation.type"
_INPUT = "langfuse.observation.input"
_OUTPUT = "langfuse.observation.output"
_USAGE = "langfuse.observation.usage_details"
_MODEL = frozenset({"generation", "GENERATION"})
_TOOL = frozenset({"tool", "TOOL"})
_AGENT = frozenset({"agent", "AGENT"})
_LOOK_UP = frozenset({"retriever", "RETRIEVER"})
_KINDS = {
    "generation": SpanRole.MODEL,
    "tool": SpanRole.TOOL,
    "agent": SpanRole.AGENT,
    "chain": SpanRole.TURN,
    "span": SpanRole.TURN,
    "retriever": SpanRole.RETRIEVER,
    "embedding": SpanRole.EMBEDDING,
    "evaluator": SpanRole.EVALUATION,
    "guardrail": SpanRole.EVALUATION,
    "event": SpanRole.OTHER,
}


def _other_case(span: Span) -> SpanRole | None:
    """Read the types of the API's observations, which are upper case."""
    kind = span.attributes.get(_TYPE)
    return _KINDS.get(kind.lower(), SpanRole.OTHER) if isinstance(kind, str) else None


_CACHED = ("input_cached_tokens", "cache_read_input_tokens", "input_cache_read")
_CACHE_WRITES = ("cache_creation_input_tokens", "input_cache_creation", "cache_write_input_tokens")


def _details(*keys: str) -> tuple[At, ...]:
    return tuple(At(_USAGE, inner(key, shape=integer)) for key in keys)


def _whole_input(value: Any) -> int | None:
    """Return the input with the cached part, which stands beside it unless the total says otherwise."""
    usage = structured(value)
    if not is_object(usage) or (given := _count(usage, "input")) is None:
        return None
    beside = sum(_count(usage, key) or 0 for key in (*_CACHED, *_CACHE_WRITES))
    total = _count(usage, "total")
    included = total is not None and total == given + (_count(usage, "output") or 0)
    return given if included else given + beside


def _count(usage: Mapping[str, Any], key: str) -> int | None:
    return None if usage.get(key) is None else integer(usage[key])


def _limit(value: Any) -> int | None:
    """Return a limit of tokens; the wrapped OpenAI client says that there is none."""
    return None if value in ("Infinity", "inf") else integer(value)


def _in_call(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the shape that first takes off the Python call which `@observe` wrote down."""

    def shape(value: Any) -> Any:
        found = structured(value)
        within = call_keywords(found)
        return read(value if within is found else within)

    return shape


def _own_name(span: Span) -> str | None:
    return span.name or None


CONVENTION = Convention(
    name="langfuse",
    source="https://langfuse.com/integrations/native/opentelemetry",
    known_by="`langfuse.observation.type`",
    kind_key=_TYPE,
    kinds=_KINDS,
    recognise=_other_case,
    signs=Signs(keys=frozenset({_TYPE})),
    fields={
        Field.SESSION_ID: (At("langfuse.session.id", text), At("session.id", text)),
        Field.AGENT_NAME: (When(_TYPE, _AGENT, Everywhere(_own_name)), At("langfuse.trace.name", text)),
        Field.INPUT: (At(_INPUT, _in_call(asked_text)), At("langfuse.trace.input", _in_call(asked_text))),
        Field.OUTPUT: (At(_OUTPUT, answered_text), At("langfuse.trace.output", answered_text)),
        Field.MODEL: (At("langfuse.observation.model.name", text),),
        Field.INPUT_TOKENS: (At(_USAGE, _whole_input), *_details("prompt_tokens", "input_tokens")),
        Field.OUTPUT_TOKENS: _details("output", "completion_tokens", "output_tokens"),
        Field.CACHED_INPUT_TOKENS: (
            *_details(*_CACHED),
            At(_USAGE, inner("prompt_tokens_details", "cached_tokens", shape=integer)),  # as OpenAI says it
            At(_USAGE, inner("input_tokens_details", "cached_tokens", shape=integer)),
        ),
        Field.CACHE_WRITE_TOKENS: _details(*_CACHE_WRITES),
        Field.REASONING_TOKENS: (
            *_details("output_reasoning_tokens", "output_reasoning", "reasoning_tokens"),
            At(_USAGE, inner("completion_tokens_details", "reasoning_tokens", shape=integer)),
            At(_USAGE, inner("output_tokens_details", "reasoning_tokens", shape=integer)),
        ),
        Field.COST: (At("langfuse.observation.cost_details", inner("total", shape=number)),),
        Field.MAX_TOKENS: (At("langfuse.observation.model.parameters", inner("max_tokens", shape=_limit)),),
        Field.INPUT_MESSAGES: (When(_TYPE, _MODEL, At(_INPUT, _in_call(conversation))),),
        Field.OUTPUT_MESSAGES: (When(_TYPE, _MODEL, At(_OUTPUT, answer)),),
        Field.TOOL_DEFINITIONS: (When(_TYPE, _MODEL, At(_INPUT, inner("tools", shape=tools))),),
        Field.TOOL_NAME: (When(_TYPE, _TOOL, Everywhere(_own_name)),),
        Field.TOOL_ARGUMENTS: (When(_TYPE, _TOOL, At(_INPUT, through(call_keywords))),),
        Field.TOOL_RESULT: (When(_TYPE, _TOOL, At(_OUTPUT, through(mcp_result, typed_blocks))),),
        Field.FAILED: (At("langfuse.observation.level", one_of({"error": True})),),
        Field.ERROR_MESSAGE: (At("langfuse.observation.status_message", text),),
        Field.QUERY: (When(_TYPE, _LOOK_UP, At(_INPUT, _in_call(text))),),
    },
    remedies={
        **content_by(
            "Leave capture_input and capture_output of @observe at True, and"
            " LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED unset."
        ),
        Fact.TOOL_CALLS: 'Decorate each tool with @observe(as_type="tool").',
        Fact.MODEL_CALLS: 'Decorate each model call with @observe(as_type="generation").',
        **dict.fromkeys((Fact.TOKENS, Extra.CACHED_INPUT), "Pass usage_details to update_current_generation()."),
        Extra.AGENT_NAME: 'Decorate the agent with @observe(name=…, as_type="agent").',
        Extra.CONVERSATION_ID: "Run the agent inside propagate_attributes(session_id=…).",
    },
)
