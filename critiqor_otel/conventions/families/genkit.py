"""Genkit: what a span is stands in its subtype; input and output are the JSON of the action that it ran."""

from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Field, Shape, SpanRole, When
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.remedies import Extra
from critiqor_otel.conventions.shapes import inner, integer, json_value, one_of, strings, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.tool_definitions import tools
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_TYPE, _SUBTYPE = "genkit:type", "genkit:metadata:subtype"
_NAME, _INPUT, _OUTPUT = "genkit:name", "genkit:input", "genkit:output"
_SUBTYPES = {
    "flow": SpanRole.AGENT,
    "agent": SpanRole.AGENT,
    "model": SpanRole.MODEL,
    "background-model": SpanRole.MODEL,
    "tool": SpanRole.TOOL,
    "tool.v2": SpanRole.TOOL,
    "prompt": SpanRole.TURN,
    "executable-prompt": SpanRole.TURN,
    "embedder": SpanRole.EMBEDDING,
    "retriever": SpanRole.RETRIEVER,
    "reranker": SpanRole.RETRIEVER,
    "evaluator": SpanRole.EVALUATION,
}
_STEPS = frozenset({"util", "flowStep", "dotprompt"})
_AGENT, _MODEL, _TOOL, _LOOK_UP = (
    frozenset(word for word, role in _SUBTYPES.items() if role is wanted)
    for wanted in (SpanRole.AGENT, SpanRole.MODEL, SpanRole.TOOL, SpanRole.RETRIEVER)
)


def _of_genkit(span: Span) -> SpanRole | None:
    if _TYPE not in span.attributes:
        return None
    return SpanRole.TURN if str(span.attributes[_TYPE]) in _STEPS else SpanRole.OTHER


def _on(words: frozenset[str], key: str, shape: Shape) -> tuple[When]:
    return (When(_SUBTYPE, words, At(key, shape)),)


def _used(word: str) -> tuple[When]:
    return _on(_MODEL, _OUTPUT, inner("usage", word, shape=integer))


CONVENTION = Convention(
    name="genkit",
    source="https://github.com/firebase/genkit/blob/main/js/core/src/tracing/instrumentation.ts",
    known_by="`genkit:type`",
    kind_key=_SUBTYPE,
    kinds=_SUBTYPES,
    recognise=_of_genkit,
    signs=Signs(keys=frozenset({_TYPE})),
    fields={
        Field.SESSION_ID: (At("genkit:sessionId", text), At("genkit:metadata:sessionId", text)),
        Field.AGENT_NAME: _on(_AGENT, _NAME, text),
        Field.INPUT: _on(_AGENT, _INPUT, json_value),
        Field.OUTPUT: _on(_AGENT, _OUTPUT, json_value),
        Field.MODEL: _on(_MODEL, _NAME, text),
        Field.INPUT_TOKENS: _used("inputTokens"),
        Field.OUTPUT_TOKENS: _used("outputTokens"),
        Field.TOTAL_TOKENS: _used("totalTokens"),
        Field.CACHED_INPUT_TOKENS: _used("cachedContentTokens"),
        Field.REASONING_TOKENS: _used("thoughtsTokens"),
        Field.FINISH_REASONS: _on(_MODEL, _OUTPUT, inner("finishReason", shape=strings)),
        Field.MAX_TOKENS: _on(_MODEL, _INPUT, inner("config", "maxOutputTokens", shape=integer)),
        Field.INPUT_MESSAGES: _on(_MODEL, _INPUT, inner("messages", shape=conversation)),
        Field.OUTPUT_MESSAGES: _on(_MODEL, _OUTPUT, inner("message", shape=answer)),
        Field.TOOL_DEFINITIONS: _on(_MODEL, _INPUT, inner("tools", shape=tools)),
        Field.TOOL_NAME: _on(_TOOL, _NAME, text),
        Field.TOOL_ARGUMENTS: _on(_TOOL, _INPUT, json_value),
        Field.TOOL_RESULT: _on(_TOOL, _OUTPUT, json_value),
        Field.FAILED: (At("genkit:state", one_of({"error": True})),),
        Field.QUERY: _on(_LOOK_UP, _INPUT, json_value),
        Field.RECORDS: _on(_LOOK_UP, _OUTPUT, inner("documents")),
    },
    remedies={
        **dict.fromkeys((Fact.TOKENS, Extra.CACHED_INPUT), "Take a model plugin that returns usage."),
        Extra.CONVERSATION_ID: "Use a session: ai.createSession().",
    },
)
