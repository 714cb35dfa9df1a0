"""Vercel AI SDK 3 to 6: `ai.operationId`. From 7 on it writes OTel GenAI spans.

The usage on the outer span of a run is that of its last step alone, so only `doGenerate` and `doStream` report tokens.
"""

from typing import Any

from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole, When
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_shapes import conversation, message_of
from critiqor_otel.conventions.message_views import asked_text
from critiqor_otel.conventions.messages import Message
from critiqor_otel.conventions.remedies import Extra, content_by
from critiqor_otel.conventions.shapes import encoded, inner, integer, json_value, strings, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.tool_definitions import tools
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_OPERATION = "ai.operationId"
_MODEL_CALLS = frozenset(
    {
        "ai.generateText.doGenerate",
        "ai.streamText.doStream",
        "ai.generateObject.doGenerate",
        "ai.streamObject.doStream",
    }
)
_KINDS = {
    **dict.fromkeys(sorted(_MODEL_CALLS), SpanRole.MODEL),
    "ai.toolCall": SpanRole.TOOL,
    "ai.generateText": SpanRole.AGENT,
    "ai.streamText": SpanRole.AGENT,
    "ai.generateObject": SpanRole.AGENT,
    "ai.streamObject": SpanRole.AGENT,
    "ai.embed": SpanRole.EMBEDDING,
    "ai.embedMany": SpanRole.EMBEDDING,
    "ai.embed.doEmbed": SpanRole.EMBEDDING,
    "ai.embedMany.doEmbed": SpanRole.EMBEDDING,
    "ai.rerank": SpanRole.RETRIEVER,
    "ai.rerank.doRerank": SpanRole.RETRIEVER,
}
_SESSION_KEYS = ("sessionId", "session_id", "threadId", "thread_id", "conversationId", "conversation_id", "chatId")


def _other_operation(span: Span) -> SpanRole | None:
    return SpanRole.OTHER if str(span.attributes.get(_OPERATION, "")).startswith("ai.") else None


def _of_call(key: str) -> When:
    return When(_OPERATION, _MODEL_CALLS, At(key, integer))


def _of_provider(*path: str) -> When:
    return When(_OPERATION, _MODEL_CALLS, At("ai.response.providerMetadata", inner(*path, shape=integer)))


def _answer(span: Span) -> list[Message] | None:
    """Return the step's answer: its text or object, and its tool calls (`input` in 5, `args` in 4)."""
    attributes = span.attributes
    if str(attributes.get(_OPERATION)) not in _MODEL_CALLS:
        return None
    fields: dict[str, Any] = {
        "content": attributes.get("ai.response.text") or attributes.get("ai.response.object"),
        "tool_calls": structured(attributes.get("ai.response.toolCalls")),
        "finish_reason": attributes.get("ai.response.finishReason"),
    }
    message = message_of(fields, role="assistant")
    return None if message is None else [message]


CONVENTION = Convention(
    name="vercel",
    source="https://ai-sdk.dev/docs/ai-sdk-core/telemetry",
    known_by="`ai.operationId`",
    kind_key=_OPERATION,
    kinds=_KINDS,
    recognise=_other_operation,
    signs=Signs(keys=frozenset({_OPERATION})),
    fields={
        Field.SESSION_ID: tuple(At(f"ai.telemetry.metadata.{key}", text) for key in _SESSION_KEYS),
        Field.AGENT_NAME: (At("ai.telemetry.functionId", text), At("resource.name", text)),
        Field.INPUT: (At("ai.prompt", asked_text),),
        Field.OUTPUT: (At("ai.response.text", text), At("ai.response.object", json_value)),
        Field.MODEL: (At("ai.response.model", text), At("ai.model.id", text)),
        Field.PROVIDER: (At("gen_ai.system", text), At("ai.model.provider", text)),
        Field.INPUT_TOKENS: (
            _of_call("gen_ai.usage.input_tokens"),
            _of_call("ai.usage.inputTokens"),
            _of_call("ai.usage.promptTokens"),
        ),
        Field.OUTPUT_TOKENS: (
            _of_call("gen_ai.usage.output_tokens"),
            _of_call("ai.usage.outputTokens"),
            _of_call("ai.usage.completionTokens"),
        ),
        Field.TOTAL_TOKENS: (_of_call("ai.usage.totalTokens"),),
        Field.CACHED_INPUT_TOKENS: (
            _of_call("ai.usage.cachedInputTokens"),
            _of_call("ai.usage.inputTokenDetails.cacheReadTokens"),
            _of_provider("openai", "cachedPromptTokens"),  # 4
        ),
        Field.CACHE_WRITE_TOKENS: (_of_call("ai.usage.inputTokenDetails.cacheWriteTokens"),),
        Field.REASONING_TOKENS: (
            _of_call("ai.usage.reasoningTokens"),
            _of_call("ai.usage.outputTokenDetails.reasoningTokens"),
            _of_provider("openai", "reasoningTokens"),  # 4
        ),
        Field.FINISH_REASONS: (At("ai.response.finishReason", strings),),
        Field.MAX_TOKENS: (At("ai.settings.maxOutputTokens", integer), At("ai.settings.maxTokens", integer)),
        Field.INPUT_MESSAGES: (When(_OPERATION, _MODEL_CALLS, At("ai.prompt.messages", conversation)),),
        Field.OUTPUT_MESSAGES: (Everywhere(_answer),),
        Field.TOOL_DEFINITIONS: (At("ai.prompt.tools", tools),),
        Field.TOOL_NAME: (At("ai.toolCall.name", text),),
        Field.TOOL_CALL_ID: (At("ai.toolCall.id", text),),
        Field.TOOL_ARGUMENTS: (At("ai.toolCall.args", encoded(json_value)),),
        Field.TOOL_RESULT: (At("ai.toolCall.result", encoded(json_value)),),
    },
    remedies={
        **content_by("Leave recordInputs and recordOutputs of experimental_telemetry at true."),
        Extra.AGENT_NAME: "Set functionId of experimental_telemetry.",
        Extra.CONVERSATION_ID: "Put sessionId into metadata of experimental_telemetry.",
        Extra.CACHED_INPUT: "Stream the answers (streamText): only then are cached tokens reported.",
    },
)
