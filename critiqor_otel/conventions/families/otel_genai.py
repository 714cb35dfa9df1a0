"""OpenTelemetry's own GenAI conventions, all vintages: attributes, span events, and log records joined as events.

The newest names come first in each row; 1.36 and before used `gen_ai.system`, `gen_ai.usage.prompt_tokens` and events.
"""

from typing import Any

from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, FromEvent, FromResource, SpanRole
from critiqor_otel.conventions.event_messages import event_answer, event_conversation
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.message_views import answered_text, asked_text, instructions
from critiqor_otel.conventions.remedies import (
    AGENT_FRAMEWORK_CONTENT,
    OPENLLMETRY_CONTENT,
    Aspect,
    Extra,
    Library,
    content_by,
)
from critiqor_otel.conventions.shapes import (
    always,
    composed,
    flag,
    integer,
    json_value,
    number,
    one_of,
    signed,
    strings,
    text,
)
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.skills import skill_of_call
from critiqor_otel.conventions.tool_definitions import tools
from critiqor_otel.conventions.unwrap import mcp_result, through, tool_message, tool_message_field, typed_blocks
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_DETAILS = "gen_ai.client.inference.operation.details"
_EVALUATION = "gen_ai.evaluation.result"
_EXCEPTIONS = ("gen_ai.client.operation.exception", "gen_ai.execute_tool.exception", "exception")

_OPERATIONS = {
    "chat": SpanRole.MODEL,
    "generate_content": SpanRole.MODEL,
    "text_completion": SpanRole.MODEL,
    "execute_tool": SpanRole.TOOL,
    "invoke_agent": SpanRole.AGENT,
    "invoke_workflow": SpanRole.AGENT,
    "create_agent": SpanRole.SETUP,
    "create_memory_store": SpanRole.SETUP,
    "delete_memory_store": SpanRole.SETUP,
    "plan": SpanRole.DECISION,
    "retrieval": SpanRole.RETRIEVER,
    "embeddings": SpanRole.EMBEDDING,
    **{f"{word}_memory": SpanRole.MEMORY for word in ("search", "get", "create", "update", "upsert", "delete")},
    "execute_task": SpanRole.TURN,  # OpenLLMetry's graph nodes
    "agent_step": SpanRole.TURN,  # Vercel 7
    "rerank": SpanRole.RETRIEVER,  # Vercel 7
    "execute_event_loop_cycle": SpanRole.TURN,  # Strands
}


def _unnamed_operation(span: Span) -> SpanRole | None:
    """Tell what a span is that names no operation, or one that no convention knows."""
    attributes = span.attributes
    if span.name == _EVALUATION:
        return SpanRole.EVALUATION
    if attributes.get("gen_ai.operation.name"):
        return SpanRole.OTHER
    if attributes.get("gen_ai.tool.name"):
        return SpanRole.TOOL
    if "gen_ai.request.model" in attributes and not _MODEL_SIGNS.isdisjoint(attributes):
        return SpanRole.MODEL
    return SpanRole.OTHER if "gen_ai.conversation.id" in attributes or "gen_ai.agent.name" in attributes else None


_MODEL_SIGNS = frozenset(
    {
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "gen_ai.response.model",
        "gen_ai.response.finish_reasons",
    }
    | {"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.prompt", "gen_ai.completion"}
)


def _after(*prefixes: str) -> Any:
    """Return the shape that reads a name out of the span's: `execute_tool search`."""

    def read(span: Span) -> str | None:
        for prefix in prefixes:
            if span.name.startswith(prefix):
                return span.name[len(prefix) :].strip() or None
        return None

    return read


_MEMORY_WORDS = {
    "search_memory": "search",
    "get_memory": "get",
    "create_memory": "create",
    "update_memory": "update",
    "upsert_memory": "update",
    "delete_memory": "delete",
}

_CONTENT = (
    "Set OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and"
    " OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY."
)
_IN_MESSAGES = (Fact.TOOL_CALLS, Fact.TOOL_ERRORS)  # of a bare client, only messages tell of tools
_MODEL_SPANS = "Instrument the model's client too, for example with opentelemetry-instrumentation-genai-openai."
_REMEDIES: dict[Aspect, str] = {
    **content_by(_CONTENT),
    **dict.fromkeys(_IN_MESSAGES, _CONTENT),
    Fact.MODEL_CALLS: _MODEL_SPANS,
    Fact.TOKENS: 'Ask for usage where answers are streamed (OpenAI: stream_options={"include_usage": True}).',
    Extra.AGENT_NAME: "Put an invoke_agent span with gen_ai.agent.name around each run.",
    Extra.CONVERSATION_ID: "Set gen_ai.conversation.id on the agent's span.",
}
_LOGGED = (
    "Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, and export log records: they carry the messages."
)
_SUCCESSOR = "Use opentelemetry-instrumentation-genai-openai, which succeeds opentelemetry-instrumentation-openai-v2."
_LIBRARIES = (
    Library(
        name="OpenAI Agents",
        scopes=("opentelemetry.instrumentation.genai.openai_agents",),
        remedies={
            Fact.TOKENS: _MODEL_SPANS,
            Extra.CACHED_INPUT: _MODEL_SPANS,
            Extra.CONVERSATION_ID: "Pass group_id to RunConfig.",
        },
    ),
    Library(
        name="openai-v2",
        scopes=("opentelemetry.instrumentation.openai_v2",),
        remedies={
            **content_by(_LOGGED),
            **dict.fromkeys(_IN_MESSAGES, _LOGGED),
            Extra.CACHED_INPUT: _SUCCESSOR,
        },
    ),
    Library(
        name="openai-v2 on util-genai",
        scopes=("opentelemetry.util.genai",),
        remedies={Extra.CACHED_INPUT: _SUCCESSOR},
    ),
    Library(
        name="Microsoft Agent Framework",
        scopes=("agent_framework",),
        remedies=content_by(AGENT_FRAMEWORK_CONTENT),
    ),
    Library(
        name="Vercel AI SDK",
        scopes=("gen_ai",),
        remedies=content_by("Leave recordInputs and recordOutputs of telemetry at true."),
    ),
    Library(
        name="OpenLLMetry",
        scopes=tuple(
            f"opentelemetry.instrumentation.{name}" for name in ("openai.v", "anthropic", "langchain", "crewai")
        ),
        remedies={**content_by(OPENLLMETRY_CONTENT), **dict.fromkeys(_IN_MESSAGES, OPENLLMETRY_CONTENT)},
    ),
)

_CACHED_INPUT = (
    *("cache_read.input_tokens", "cache_read_input_tokens", "details.cache_read_tokens", "cached_tokens"),
    *("input_tokens.cached", "cached_input_tokens", "input_cached_tokens", "cache_read_tokens"),
)
_CACHE_WRITES = (
    *("cache_creation.input_tokens", "cache_creation_input_tokens", "cache_write_input_tokens"),
    *("details.cache_write_tokens", "input_tokens.cache_write", "cache_creation_tokens", "cache_write_tokens"),
)
_REASONING = (
    *("reasoning.output_tokens", "reasoning_tokens", "details.reasoning_tokens"),
    *("output_tokens.reasoning", "reasoning_output_tokens"),
)

_SIGNS = frozenset(
    f"gen_ai.{key}" for key in ("operation.name", "tool.name", "request.model", "conversation.id", "agent.name")
)

CONVENTION = Convention(
    name="otel-genai",
    source="https://github.com/open-telemetry/semantic-conventions-genai",
    known_by="`gen_ai.operation.name`, or a tool name, a conversation id or a model with usage under `gen_ai.*`",
    kind_key="gen_ai.operation.name",
    kinds=_OPERATIONS,
    recognise=_unnamed_operation,
    signs=Signs(keys=_SIGNS, names=(_EVALUATION,)),
    fields={
        Field.SESSION_ID: (At("gen_ai.conversation.id", text), At("session.id", text), At("gen_ai.thread.id", text)),
        Field.AGENT_NAME: (
            At("gen_ai.agent.name", text),
            At("gen_ai.workflow.name", text),  # before 0.1.0
            FromResource("gen_ai.main_agent.name", text),
            At("microsoft.gen_ai.main_agent.name", text),
            Everywhere(_after("invoke_agent ", "invoke_workflow ")),
        ),
        Field.AGENT_VERSION: (At("gen_ai.agent.version", text),),
        Field.INPUT: (
            At("gen_ai.input.messages", asked_text),
            FromEvent(_DETAILS, "gen_ai.input.messages", asked_text),
        ),
        Field.OUTPUT: (
            At("gen_ai.output.messages", answered_text),
            FromEvent(_DETAILS, "gen_ai.output.messages", answered_text),
        ),
        Field.MODEL: (At("gen_ai.response.model", text), At("gen_ai.request.model", text)),
        Field.PROVIDER: (At("gen_ai.provider.name", text), At("gen_ai.system", text)),
        Field.RESPONSE_ID: (At("gen_ai.response.id", text),),
        Field.INPUT_TOKENS: (At("gen_ai.usage.input_tokens", integer), At("gen_ai.usage.prompt_tokens", integer)),
        Field.OUTPUT_TOKENS: (At("gen_ai.usage.output_tokens", integer), At("gen_ai.usage.completion_tokens", integer)),
        Field.TOTAL_TOKENS: (At("gen_ai.usage.total_tokens", integer),),
        Field.CACHED_INPUT_TOKENS: tuple(At(f"gen_ai.usage.{key}", integer) for key in _CACHED_INPUT),
        Field.CACHE_WRITE_TOKENS: tuple(At(f"gen_ai.usage.{key}", integer) for key in _CACHE_WRITES),
        Field.REASONING_TOKENS: tuple(At(f"gen_ai.usage.{key}", integer) for key in _REASONING),
        Field.COST: tuple(At(key, number) for key in ("gen_ai.usage.cost", "operation.cost", "gen_ai.cost.total_cost")),
        Field.FINISH_REASONS: tuple(At(f"gen_ai.response.finish_reason{end}", strings) for end in ("s", "")),
        Field.MAX_TOKENS: (At("gen_ai.request.max_tokens", integer),),
        Field.SYSTEM_INSTRUCTIONS: (
            At("gen_ai.system_instructions", instructions),
            FromEvent(_DETAILS, "gen_ai.system_instructions", instructions),
        ),
        Field.INPUT_MESSAGES: (
            At("gen_ai.input.messages", conversation),
            FromEvent(_DETAILS, "gen_ai.input.messages", conversation),
            Everywhere(event_conversation, of_events=True),
            At("gen_ai.prompt", conversation),
        ),
        Field.OUTPUT_MESSAGES: (
            At("gen_ai.output.messages", answer),
            FromEvent(_DETAILS, "gen_ai.output.messages", answer),
            Everywhere(event_answer, of_events=True),
            At("gen_ai.completion", answer),
        ),
        Field.TOOL_DEFINITIONS: (
            At("gen_ai.tool.definitions", tools),
            FromEvent(_DETAILS, "gen_ai.tool.definitions", tools),
        ),
        Field.TOOL_NAME: (At("gen_ai.tool.name", text), Everywhere(_after("execute_tool "))),
        Field.TOOL_CALL_ID: (At("gen_ai.tool.call.id", text),),
        Field.TOOL_ARGUMENTS: (At("gen_ai.tool.call.arguments", json_value),),
        Field.TOOL_RESULT: (At("gen_ai.tool.call.result", through(tool_message, mcp_result, typed_blocks)),),
        Field.ERROR_TYPE: (At("error.type", text), *(FromEvent(name, "exception.type", text) for name in _EXCEPTIONS)),
        Field.ERROR_MESSAGE: (
            At("error.message", text),
            *(FromEvent(name, "exception.message", text) for name in _EXCEPTIONS),
        ),
        Field.FAILED: (
            At("error.type", always(answer=True)),
            At("gen_ai.tool.call.result", composed(tool_message_field("status"), one_of({"error": True}))),
        ),
        Field.EXIT_CODE: (At("process.exit.code", signed),),
        Field.COMMAND: (At("process.command_line", text), At("process.executable.name", text)),
        Field.MEMORY_OPERATION: (At("gen_ai.operation.name", one_of(_MEMORY_WORDS)),),
        Field.QUERY: (At("gen_ai.memory.query.text", text), At("gen_ai.retrieval.query.text", text)),
        Field.RECORDS: (At("gen_ai.memory.records", json_value), At("gen_ai.retrieval.documents", json_value)),
        Field.RECORD_COUNT: (At("gen_ai.memory.record.count", integer),),
        Field.STORE: (At("gen_ai.memory.store.id", text), At("gen_ai.data_source.id", text)),
        Field.SKILL_NAME: (
            At("gen_ai.skill.name", text),
            Everywhere(skill_of_call("gen_ai.tool.name", "gen_ai.tool.call.arguments")),
        ),
        Field.SKILL_RESOURCE: (At("gen_ai.skill.resource.name", text),),
        Field.CONTEXT_COMPACTED: (At("gen_ai.conversation.compacted", flag),),
        Field.EVALUATION_NAME: (
            At("gen_ai.evaluation.name", text),
            FromEvent(_EVALUATION, "gen_ai.evaluation.name", text),
        ),
        Field.EVALUATION_SCORE: (
            At("gen_ai.evaluation.score.value", number),
            FromEvent(_EVALUATION, "gen_ai.evaluation.score.value", number),
        ),
        Field.EVALUATION_LABEL: (
            At("gen_ai.evaluation.score.label", text),
            FromEvent(_EVALUATION, "gen_ai.evaluation.score.label", text),
        ),
        Field.REASON: (
            At("gen_ai.evaluation.explanation", text),
            FromEvent(_EVALUATION, "gen_ai.evaluation.explanation", text),
        ),
    },
    remedies=_REMEDIES,
    libraries=_LIBRARIES,
)
