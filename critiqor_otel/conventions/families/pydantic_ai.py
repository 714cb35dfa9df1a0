"""Pydantic AI and Logfire: OTel GenAI spans with names of their own for content, in every format since 0.x.

An agent's `gen_ai.aggregated_usage.*` is the sum of its calls. A retry asked for by the tool is a failed attempt.
"""

from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole, When
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_shapes import answer, conversation, message_of
from critiqor_otel.conventions.messages import Message
from critiqor_otel.conventions.remedies import content_by
from critiqor_otel.conventions.shapes import inner, integer, json_value, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.skills import skill_of_call
from critiqor_otel.conventions.tool_definitions import tools
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_OPERATIONS = {
    "chat": SpanRole.MODEL,
    "execute_tool": SpanRole.TOOL,
    "invoke_agent": SpanRole.AGENT,
}
_NAMES = {
    "running tool": SpanRole.TOOL,
    "running tools": SpanRole.TURN,
    "agent run": SpanRole.AGENT,
    "running output function": SpanRole.TOOL,
}


def _of_pydantic(span: Span) -> SpanRole | None:
    attributes = span.attributes
    if span.scope.name == "pydantic-ai" or "logfire.msg" in attributes:
        operation = attributes.get("gen_ai.operation.name")
        return _NAMES.get(span.name) or _OPERATIONS.get(str(operation)) or _logfire_call(span)
    if span.name == "running tool" and "gen_ai.tool.name" in attributes:
        return SpanRole.TOOL
    return SpanRole.AGENT if span.name == "agent run" and "agent_name" in attributes else None


def _logfire_call(span: Span) -> SpanRole | None:
    """Tell a call that Logfire's own OpenAI and Anthropic instrumentation wrote down before it spoke GenAI."""
    return SpanRole.MODEL if "request_data" in span.attributes and "gen_ai.request.model" in span.attributes else None


def _asked(value: Any) -> list[Message] | None:
    """Return the messages of 0.x's `events`: all but the choice."""
    return [message for name, message in _events(value) if name != "gen_ai.choice"] or None


def _answered(value: Any) -> list[Message] | None:
    return [message for name, message in _events(value) if name == "gen_ai.choice"] or None


def _events(value: Any) -> list[tuple[str, Message]]:
    events = structured(value)
    found: list[tuple[str, Message]] = []
    for event in events if is_list(events) else ():
        if not is_object(event):
            continue
        name = str(event.get("event.name"))
        body = event.get("message") if name == "gen_ai.choice" else event
        message = message_of(body, role="assistant" if name == "gen_ai.choice" else "user")
        if message is not None:
            found.append((name, message))
    return found


_AGENT_NAMES = frozenset({"invoke_agent"})
_SUM = "gen_ai.aggregated_usage."

CONVENTION = Convention(
    name="pydantic-ai",
    source="https://github.com/pydantic/pydantic-ai/blob/main/pydantic_ai_slim/pydantic_ai/_instrumentation.py",
    known_by="the scope `pydantic-ai`, or its own attributes",
    recognise=_of_pydantic,
    signs=Signs(keys=frozenset({"logfire.msg"}), scopes=("pydantic-ai",), names=("running tool", "agent run")),
    fields={
        Field.AGENT_NAME: (At("gen_ai.agent.name", text), At("agent_name", text)),
        Field.OUTPUT: (At("final_result", json_value),),
        Field.MODEL: (At("gen_ai.response.model", text), At("gen_ai.request.model", text), At("model_name", text)),
        Field.INPUT_TOKENS: (
            At(f"{_SUM}input_tokens", integer),
            At("gen_ai.usage.input_tokens", integer),
            At("response_data", inner("usage", "prompt_tokens", shape=integer)),
        ),
        Field.OUTPUT_TOKENS: (
            At(f"{_SUM}output_tokens", integer),
            At("gen_ai.usage.output_tokens", integer),
            At("response_data", inner("usage", "completion_tokens", shape=integer)),
        ),
        Field.CACHED_INPUT_TOKENS: (
            At(f"{_SUM}cache_read.input_tokens", integer),
            At(f"{_SUM}details.cache_read_tokens", integer),
        ),
        Field.CACHE_WRITE_TOKENS: (
            At(f"{_SUM}cache_creation.input_tokens", integer),
            At(f"{_SUM}details.cache_write_tokens", integer),
        ),
        Field.INPUT_MESSAGES: (
            At("gen_ai.input.messages", conversation),  # OpenInference on top leaves the tools' answers out
            At("events", _asked),
            At("request_data", conversation),
        ),
        Field.OUTPUT_MESSAGES: (
            At("gen_ai.output.messages", answer),
            At("events", _answered),
            At("response_data", answer),
        ),
        Field.TRANSCRIPT: (
            When("gen_ai.operation.name", _AGENT_NAMES, At("pydantic_ai.all_messages", conversation)),
            At("all_messages_events", _asked),
        ),
        Field.TOOL_DEFINITIONS: (
            At("gen_ai.tool.definitions", tools),
            At("model_request_parameters", tools),
            At("request_data", inner("tools", shape=tools)),
        ),
        Field.TOOL_ARGUMENTS: (At("gen_ai.tool.call.arguments", json_value), At("tool_arguments", json_value)),
        Field.TOOL_RESULT: (At("gen_ai.tool.call.result", json_value), At("tool_response", json_value)),
        Field.SKILL_NAME: (Everywhere(skill_of_call("gen_ai.tool.name", "tool_arguments")),),
        Field.ATTEMPT: (At("pydantic_ai.tool.retry.attempt", integer),),
        Field.REASON: (At("pydantic_ai.tool.retry.cause", text),),
    },
    remedies=content_by("Leave include_content of InstrumentationSettings at True."),
)
