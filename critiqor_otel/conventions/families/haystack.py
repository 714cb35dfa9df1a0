"""Haystack's own tracing: what a span is stands in its name, or in the type of the component that it ran.

The content is JSON of what went into a component and came out of it; what a model call used is in the `meta` of its
reply.
"""

from typing import Any

from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Field, Shape, SpanRole
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.message_views import answered_text, asked_text
from critiqor_otel.conventions.remedies import Extra, content_by
from critiqor_otel.conventions.shapes import composed, flag, inner, integer, json_value, strings, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.tool_definitions import tools
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_NAMES = {
    "haystack.pipeline.run": SpanRole.AGENT,
    "haystack.async_pipeline.run": SpanRole.AGENT,
    "haystack.agent.run": SpanRole.AGENT,
    "haystack.agent.step": SpanRole.TURN,
    "haystack.agent.step.llm": SpanRole.MODEL,
    "haystack.agent.step.tool": SpanRole.TOOL,
}
_COMPONENT = "haystack.component.run"
_TYPE, _IN, _OUT = "haystack.component.type", "haystack.component.input", "haystack.component.output"
_LLM_IN, _LLM_OUT = "haystack.agent.step.llm.input", "haystack.agent.step.llm.output"
_CONTENT = "Set HAYSTACK_CONTENT_TRACING_ENABLED=true before Haystack is imported."
_COMPONENTS = {
    "Generator": SpanRole.MODEL,
    "Embedder": SpanRole.EMBEDDING,
    "Retriever": SpanRole.RETRIEVER,
    "Ranker": SpanRole.RETRIEVER,
}
"""Haystack names components by what they do, and asks those who write their own to do so too."""


def _component(span: Span) -> SpanRole | None:
    if span.name != _COMPONENT:
        return None
    kind = str(span.attributes.get(_TYPE))
    return next((role for end, role in _COMPONENTS.items() if kind.endswith(end)), SpanRole.TURN)


def _reply(*path: str, shape: Shape) -> tuple[At, At]:
    """Return the places of a fact in a first reply; a generator of plain text writes its `meta` beside it."""

    def first(value: Any) -> Any:
        body = structured(value)
        replies = body.get("replies") if is_object(body) else None
        if not is_list(replies) or not replies:
            return None
        reply, beside = replies[0], body.get("meta")
        meta = reply.get("meta") if is_object(reply) else beside[0] if is_list(beside) and beside else None
        return inner(*path, shape=shape)({"message": reply, "meta": meta})

    return At(_LLM_OUT, first), At(_OUT, first)


def _listed(value: Any) -> Any:
    return value if is_list(value) else None


def _used(word: str, *inside: str) -> tuple[At, ...]:
    return _reply("meta", "usage", word, *inside, shape=integer)


CONVENTION = Convention(
    name="haystack",
    source="https://github.com/deepset-ai/haystack/tree/main/haystack/tracing",
    known_by="a span named `haystack.pipeline.run`, `.component.run` or `.agent.*`",
    names=_NAMES,
    recognise=_component,
    signs=Signs(names=("haystack.",)),
    fields={
        Field.INPUT: (
            At("haystack.agent.input", asked_text),
            At("haystack.pipeline.input_data", json_value),
            At(_IN, asked_text),
        ),
        Field.OUTPUT: (
            At("haystack.agent.output", answered_text),
            At("haystack.pipeline.output_data", json_value),
            At(_OUT, answered_text),
        ),
        Field.MODEL: _reply("meta", "model", shape=text),
        Field.INPUT_TOKENS: (*_used("prompt_tokens"), *_used("input_tokens")),
        Field.OUTPUT_TOKENS: (*_used("completion_tokens"), *_used("output_tokens")),
        Field.TOTAL_TOKENS: _used("total_tokens"),
        Field.CACHED_INPUT_TOKENS: _used("prompt_tokens_details", "cached_tokens"),
        Field.REASONING_TOKENS: _used("completion_tokens_details", "reasoning_tokens"),
        Field.FINISH_REASONS: _reply("meta", "finish_reason", shape=strings),
        Field.INPUT_MESSAGES: (At(_LLM_IN, conversation), At(_IN, conversation)),
        Field.OUTPUT_MESSAGES: _reply("message", shape=answer),
        Field.TOOL_DEFINITIONS: (At(_LLM_IN, inner("tools", shape=tools)), At(_IN, inner("tools", shape=tools))),
        Field.TOOL_NAME: (At("haystack.tool.name", text),),
        Field.TOOL_ARGUMENTS: (At("haystack.agent.step.tool.input", json_value),),
        Field.TOOL_RESULT: (At("haystack.agent.step.tool.output", json_value),),
        Field.FAILED: (At("haystack.tool.error", flag),),
        Field.QUERY: (At(_IN, inner("query", shape=text)),),
        Field.RECORDS: (At(_OUT, composed(inner("documents"), _listed)),),
    },
    remedies={**content_by(_CONTENT), Fact.TOKENS: _CONTENT, Extra.CACHED_INPUT: _CONTENT},
)
