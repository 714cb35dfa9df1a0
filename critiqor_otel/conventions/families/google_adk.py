"""Google ADK: `call_llm` and `gcp.vertex.agent.*` in 1.x, OTel GenAI spans in 2.x, both with OpenInference on top too.

A result that is no object is wrapped in `{result: …}`. OpenInference on 2.x writes each model call over the last on
the agent's span, so only the last one is left there.
"""

from collections.abc import Callable
from typing import Any

from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole, When
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.message_views import answered_text, asked_text, with_results
from critiqor_otel.conventions.remedies import OPENINFERENCE_CONTENT, Extra, Library, content_by
from critiqor_otel.conventions.shapes import inner, integer, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.tool_definitions import tools
from critiqor_otel.conventions.unwrap import only_key, response_of_part, through
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_SCOPES = ("gcp.vertex.agent", "openinference.instrumentation.google_adk")
_OPERATION = "gen_ai.operation.name"
_KIND = "openinference.span.kind"
_MERGED = "(merged tools)"
_OPERATIONS = {
    "generate_content": SpanRole.MODEL,
    "execute_tool": SpanRole.TOOL,
    "invoke_agent": SpanRole.AGENT,
}


def _of_adk(span: Span) -> SpanRole | None:
    if not span.scope.name.startswith(_SCOPES) and "gcp.vertex.agent.event_id" not in span.attributes:
        return None
    if span.attributes.get("gen_ai.tool.name") == _MERGED:
        return SpanRole.OTHER  # sums up calls that have spans of their own
    operation = str(span.attributes.get(_OPERATION))
    if operation == "invoke_workflow":
        return SpanRole.TURN if _KIND in span.attributes else SpanRole.AGENT
    return _OPERATIONS.get(operation) or _by_name(span.name)


def _by_name(name: str) -> SpanRole | None:
    """Tell 1.x spans, and those of OpenInference, by their names; `[…]` goes on with an app's or agent's name."""
    return {
        "call_llm": SpanRole.MODEL,
        "invocation": SpanRole.AGENT,
        "agent_run": SpanRole.AGENT,
        "send_data": SpanRole.OTHER,
    }.get(name.partition(" ")[0])


def _named(span: Span) -> str | None:
    """Read the name out of `agent_run [support_agent]`."""
    start, end = span.name.find("["), span.name.rfind("]")
    return span.name[start + 1 : end] or None if 0 <= start < end else None


def _left_out(span: Span) -> list[str] | None:
    """Say what OpenInference wrote over: the earlier calls of the agent whose span this is."""
    overwritten = span.name.startswith("invoke_agent") and span.attributes.get(_OPERATION) == "generate_content"
    return ["model_calls", "tokens"] if overwritten else None


def _payload(key: str, shape: Callable[[Any], Any]) -> At:
    """Return the place of a JSON payload of 1.x, which is `{}` on spans it does not concern."""
    return At(f"gcp.vertex.agent.{key}", lambda value: None if value in ("{}", "") else shape(value))


_WRAPPED = only_key("result")
_RESULT = through(response_of_part, _WRAPPED)
_TOOL = frozenset({"TOOL"})
_MODEL = frozenset({"LLM"})

_CONTENT = (
    "Set OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and"
    " OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY (ADK 1: ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true)."
)
_OVERWRITTEN = (
    "Remove openinference-instrumentation-google-adk: on ADK 2 it writes each model call over the one before, and ADK's"
    " own spans carry them all."
)

CONVENTION = Convention(
    name="google-adk",
    source="https://github.com/google/adk-python/blob/main/src/google/adk/telemetry/tracing.py",
    known_by="the scope `gcp.vertex.agent` or `openinference.instrumentation.google_adk`, or an event id of its own",
    recognise=_of_adk,
    signs=Signs(keys=frozenset({"gcp.vertex.agent.event_id"}), scopes=_SCOPES),
    fields={
        Field.SESSION_ID: (
            At("gen_ai.conversation.id", text),
            At("session.id", text),
            At("gcp.vertex.agent.session_id", text),
        ),
        Field.AGENT_NAME: (
            At("gen_ai.agent.name", text),
            At("gen_ai.workflow.name", text),
            At("agent.name", text),
            Everywhere(_named),
        ),
        Field.INPUT: (At("input.value", inner("new_message", shape=asked_text)), At("input.value", asked_text)),
        Field.OUTPUT: (At("output.value", answered_text),),
        Field.CACHED_INPUT_TOKENS: (
            At("gen_ai.usage.cache_read.input_tokens", integer),
            _payload("llm_response", inner("usage_metadata", "cached_content_token_count", shape=integer)),
        ),
        Field.REASONING_TOKENS: (
            _payload("llm_response", inner("usage_metadata", "thoughts_token_count", shape=integer)),
        ),
        Field.INPUT_MESSAGES: (
            _payload("llm_request", with_results(conversation, _WRAPPED)),
            At("gen_ai.input.messages", with_results(conversation, _WRAPPED)),
            When(_KIND, _MODEL, At("input.value", with_results(conversation, _WRAPPED))),
        ),
        Field.OUTPUT_MESSAGES: (
            _payload("llm_response", answer),
            At("gen_ai.output.messages", answer),
            When(_KIND, _MODEL, At("output.value", answer)),
        ),
        Field.TOOL_DEFINITIONS: (
            _payload("llm_request", inner("config", shape=tools)),
            At("gen_ai.tool.definitions", tools),
        ),
        Field.TOOL_NAME: (At("gen_ai.tool.name", text),),
        Field.TOOL_CALL_ID: (At("gen_ai.tool.call.id", text), At("tool.id", text)),
        Field.TOOL_ARGUMENTS: (
            _payload("tool_call_args", through()),
            At("gen_ai.tool.call.arguments", through()),
            When(_KIND, _TOOL, At("input.value", through())),
        ),
        Field.TOOL_RESULT: (
            _payload("tool_response", _RESULT),
            At("gen_ai.tool.call.result", _RESULT),
            When(_KIND, _TOOL, At("output.value", _RESULT)),
        ),
        Field.CARRIED_IN_PART: (Everywhere(_left_out),),
    },
    remedies=content_by(_CONTENT),
    libraries=(
        Library(
            name="OpenInference",
            scopes=("openinference.instrumentation.google_adk",),
            remedies={
                **content_by(OPENINFERENCE_CONTENT),
                **dict.fromkeys((Fact.MODEL_CALLS, Fact.TOKENS, Extra.CACHED_INPUT), _OVERWRITTEN),
            },
        ),
    ),
)
