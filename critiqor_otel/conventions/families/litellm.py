"""LiteLLM's otel callback: a span a call, each in a trace of its own, no tools, mostly empty attributes.

A proxy nests its request, the call and the raw provider request; only `litellm_request` (or the name the user gave the
generation) is the call.
"""

from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole
from critiqor_otel.conventions.indexed import indexed_messages
from critiqor_otel.conventions.remedies import content_by
from critiqor_otel.conventions.shapes import inner, integer, number, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.tool_definitions import indexed_tools
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_NOISE = frozenset({"raw_gen_ai_request", "Received Proxy Server Request", "Failed Proxy Server Request"})
_CALL_TYPES = {
    "chat": SpanRole.MODEL,
    "completion": SpanRole.MODEL,
    "acompletion": SpanRole.MODEL,
    "text_completion": SpanRole.MODEL,
    "atext_completion": SpanRole.MODEL,
    "responses": SpanRole.MODEL,
    "aresponses": SpanRole.MODEL,
    "anthropic_messages": SpanRole.MODEL,
    "embedding": SpanRole.EMBEDDING,
    "aembedding": SpanRole.EMBEDDING,
    "rerank": SpanRole.RETRIEVER,
    "arerank": SpanRole.RETRIEVER,
}


def _of_litellm(span: Span) -> SpanRole | None:
    if span.scope.name != "litellm" and "litellm.call_id" not in span.attributes:
        return None
    if span.name in _NOISE:
        return SpanRole.OTHER
    return _CALL_TYPES.get(str(span.attributes.get("llm.request.type")), _by_model(span))


def _by_model(span: Span) -> SpanRole:
    return SpanRole.MODEL if span.attributes.get("gen_ai.request.model") else SpanRole.OTHER


_USAGE = "metadata.usage_object"
_HIDDEN = "hidden_params"

_CONTENT = (
    "Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only, and leave litellm.turn_off_message_logging at"
    " False."
)

CONVENTION = Convention(
    name="litellm",
    source="https://github.com/BerriAI/litellm/blob/main/litellm/integrations/opentelemetry.py",
    known_by="the scope `litellm`, or `litellm.call_id`",
    recognise=_of_litellm,
    signs=Signs(keys=frozenset({"litellm.call_id"}), scopes=("litellm",)),
    fields={
        Field.SESSION_ID: (At("metadata.session_id", text), At("metadata.requester_metadata", inner("session_id"))),
        Field.CACHED_INPUT_TOKENS: (
            At("gen_ai.usage.cache_read.input_tokens", integer),
            At(_USAGE, inner("prompt_tokens_details", "cached_tokens", shape=integer)),
            At(_USAGE, inner("cache_read_input_tokens", shape=integer)),
        ),
        Field.CACHE_WRITE_TOKENS: (At(_USAGE, inner("cache_creation_input_tokens", shape=integer)),),
        Field.REASONING_TOKENS: (At(_USAGE, inner("completion_tokens_details", "reasoning_tokens", shape=integer)),),
        Field.COST: (At("gen_ai.cost.total_cost", number), At(_HIDDEN, inner("response_cost", shape=number))),
        Field.INPUT_MESSAGES: (Everywhere(indexed_messages("gen_ai.prompt.", role="user")),),
        Field.OUTPUT_MESSAGES: (Everywhere(indexed_messages("gen_ai.completion.", role="assistant")),),
        Field.TOOL_DEFINITIONS: (Everywhere(indexed_tools("llm.request.functions.")),),
    },
    remedies={
        **content_by(_CONTENT),
        **dict.fromkeys((Fact.TOOL_CALLS, Fact.TOOL_ERRORS), _CONTENT),
    },
)
