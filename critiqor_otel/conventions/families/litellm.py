"""LiteLLM's otel callback: a span a call, each in a trace of its own, no tools, mostly empty attributes.

A proxy nests its request, the call and the raw provider request; only `litellm_request` (or the name the user gave the
generation) is the call.
"""

from collections.abc import Mapping
from typing import Any

from analyzer.session.shapes import is_object
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, BadValueError, Convention, Everywhere, Field, SpanRole
from critiqor_otel.conventions.indexed import indexed_messages, unflattened
from critiqor_otel.conventions.message_parts import request_of
from critiqor_otel.conventions.message_views import answered_text
from critiqor_otel.conventions.messages import Message, ToolRequest
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


def _answer_with_calls(span: Span) -> list[Message] | None:
    """Return the answer with the calls that stand beside it, numbered by call: `gen_ai.completion.1.function_call`."""
    beside = unflattened(span.attributes, "gen_ai.completion.")
    requests = [request for item in beside if is_object(item) and (request := _request_beside(item)) is not None]
    if not requests:
        return None
    texts = [item.get("content") for item in beside if is_object(item)]
    said = next((text for text in texts if isinstance(text, str) and text), None)
    return [Message(role="assistant", text=said or _text_of(span), tool_requests=tuple(requests))]


def _request_beside(item: Mapping[str, Any]) -> ToolRequest | None:
    call = item.get("function_call")
    return request_of(call) if is_object(call) else None


def _text_of(span: Span) -> str | None:
    """Return the text that the answer itself holds."""
    said = span.attributes.get("gen_ai.output.messages")
    try:
        found = None if said is None else answered_text(said)
    except BadValueError:
        return None
    return found if isinstance(found, str) else None


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
        Field.INPUT_MESSAGES: (
            Everywhere(indexed_messages("gen_ai.prompt.", role="user"), starts=("gen_ai.prompt.",)),
        ),
        Field.OUTPUT_MESSAGES: (
            Everywhere(_answer_with_calls),
            Everywhere(indexed_messages("gen_ai.completion.", role="assistant"), starts=("gen_ai.completion.",)),
        ),
        Field.TOOL_DEFINITIONS: (
            Everywhere(indexed_tools("llm.request.functions."), starts=("llm.request.functions.",)),
        ),
    },
    remedies={
        **content_by(_CONTENT),
        **dict.fromkeys((Fact.TOOL_CALLS, Fact.TOOL_ERRORS), _CONTENT),
    },
)
