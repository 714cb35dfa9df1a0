"""LangSmith's OTel export: `langsmith.span.kind`, with inputs in `gen_ai.prompt` and outputs in `gen_ai.completion`.

Its operation names mislead (a retriever's is `embeddings`, a prompt template's `chat`), so the run type decides.
"""

from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole, When
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.message_views import answered_text, asked_text
from critiqor_otel.conventions.remedies import Extra, content_by
from critiqor_otel.conventions.shapes import composed, inner, integer, json_value, one_of, strings, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.unwrap import (
    call_keywords,
    graph_command,
    mcp_result,
    only_key,
    through,
    tool_message,
    tool_message_field,
    typed_blocks,
)
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_KIND = "langsmith.span.kind"
_MODEL = frozenset({"llm"})
_TOOL = frozenset({"tool"})
_LOOK_UP = frozenset({"retriever"})
_KINDS = {
    "llm": SpanRole.MODEL,
    "tool": SpanRole.TOOL,
    "chain": SpanRole.TURN,
    "retriever": SpanRole.RETRIEVER,
    "embedding": SpanRole.EMBEDDING,
    "prompt": SpanRole.OTHER,
    "parser": SpanRole.OTHER,
}
_SESSION_KEYS = ("thread_id", "session_id", "conversation_id")


def _root_chain(span: Span) -> SpanRole | None:
    """Tell an agent's own span: LangSmith has no run type for it, the outermost chain is it."""
    return SpanRole.AGENT if span.attributes.get(_KIND) == "chain" and span.parent_span_id is None else None


def _role(span: Span) -> SpanRole | None:
    kind = span.attributes.get(_KIND)
    return _root_chain(span) or (_KINDS.get(kind.lower(), SpanRole.OTHER) if isinstance(kind, str) else None)


def _own_name(span: Span) -> str | None:
    return span.name or None


def _details(part: str, key: str) -> tuple[At, ...]:
    """Return the places of a part of the tokens: the usage itself, and LangChain's in the run's metadata."""
    return (
        At(f"gen_ai.usage.{part}", inner(key, shape=integer)),
        At("langsmith.metadata.usage_metadata", inner(part, key, shape=integer)),
    )


_OUTPUT_STEPS = (only_key("output"), graph_command)

CONVENTION = Convention(
    name="langsmith",
    source="https://github.com/langchain-ai/langsmith-sdk/blob/main/python/langsmith/_internal/otel/_otel_exporter.py",
    known_by="`langsmith.*` attributes",
    recognise=_role,
    signs=Signs(keys=frozenset({_KIND})),
    fields={
        Field.SESSION_ID: tuple(At(f"langsmith.metadata.{key}", text) for key in _SESSION_KEYS),
        Field.AGENT_NAME: (At("langsmith.metadata.lc_agent_name", text), At("langsmith.trace.name", text)),
        Field.INPUT: (At("gen_ai.prompt", asked_text),),
        Field.OUTPUT: (At("gen_ai.completion", answered_text),),
        Field.MODEL: (
            At("gen_ai.response.model", text),
            At("gen_ai.request.model", text),
            At("langsmith.metadata.ls_model_name", text),
        ),
        Field.INPUT_TOKENS: (At("gen_ai.usage.input_tokens", integer),),
        Field.OUTPUT_TOKENS: (At("gen_ai.usage.output_tokens", integer),),
        Field.TOTAL_TOKENS: (At("gen_ai.usage.total_tokens", integer),),
        Field.CACHED_INPUT_TOKENS: _details("input_token_details", "cache_read"),
        Field.CACHE_WRITE_TOKENS: _details("input_token_details", "cache_creation"),
        Field.REASONING_TOKENS: _details("output_token_details", "reasoning"),
        Field.FINISH_REASONS: (At("gen_ai.response.finish_reasons", strings),),
        Field.INPUT_MESSAGES: (When(_KIND, _MODEL, At("gen_ai.prompt", conversation)),),
        Field.OUTPUT_MESSAGES: (When(_KIND, _MODEL, At("gen_ai.completion", answer)),),
        Field.TOOL_NAME: (When(_KIND, _TOOL, Everywhere(_own_name)),),
        Field.TOOL_CALL_ID: (
            When(_KIND, _TOOL, At("gen_ai.completion", tool_message_field("tool_call_id", *_OUTPUT_STEPS))),
        ),
        Field.TOOL_ARGUMENTS: (When(_KIND, _TOOL, At("gen_ai.prompt", through(only_key("input"), call_keywords))),),
        Field.TOOL_RESULT: (
            When(
                _KIND, _TOOL, At("gen_ai.completion", through(*_OUTPUT_STEPS, tool_message, mcp_result, typed_blocks))
            ),
        ),
        Field.FAILED: (
            When(
                _KIND,
                _TOOL,
                At(
                    "gen_ai.completion",
                    composed(tool_message_field("status", *_OUTPUT_STEPS), one_of({"error": True, "success": False})),
                ),
            ),
        ),
        Field.QUERY: (When(_KIND, _LOOK_UP, At("gen_ai.prompt", inner("query", shape=text))),),
        Field.RECORDS: (When(_KIND, _LOOK_UP, At("gen_ai.completion", inner("documents", shape=json_value))),),
    },
    remedies={
        **content_by("Unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS."),
        Extra.CONVERSATION_ID: "Put session_id or thread_id into the metadata of the run.",
    },
)
