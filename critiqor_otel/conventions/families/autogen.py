"""AutoGen: one run over many traces, joined by span links and by the team's id inside every destination.

Its tool spans hold no content and its model calls show nowhere, but each `autogen process` span carries the message
that was handed on: the request for a tool, what the tool answered, what the model said and used. A message that many
receive is told many times; its id tells it apart.
"""

from typing import Any

from analyzer.pattern import pattern
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_parts import request_of, response_of
from critiqor_otel.conventions.messages import Message
from critiqor_otel.conventions.remedies import Extra
from critiqor_otel.conventions.shapes import inner, integer, json_value, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_OPERATIONS = {
    "create_agent": SpanRole.SETUP,
    "invoke_agent": SpanRole.AGENT,
    "execute_tool": SpanRole.TOOL,
}
_HANDED_ON = pattern(r'\s*\{\s*"message"\s*:')
_TASK = pattern(r'\s*\{\s*"messages"\s*:')
_WITH_USAGE = pattern(r'"models_usage"\s*:\s*\{')
_TEAM = pattern(r"[(/]([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")


def _of_autogen(span: Span) -> SpanRole | None:
    attributes = span.attributes
    if attributes.get("gen_ai.system") == "autogen":
        return _OPERATIONS.get(str(attributes.get("gen_ai.operation.name")))
    if "messaging.operation" not in attributes or not span.name.startswith("autogen "):
        return None
    message = attributes.get("message")
    if not isinstance(message, str) or not span.name.startswith("autogen process "):
        return SpanRole.OTHER
    if _HANDED_ON.match(message):
        return SpanRole.USAGE if _WITH_USAGE.search(message) else SpanRole.MESSAGE
    return SpanRole.MESSAGE if _TASK.match(message) else SpanRole.OTHER


def _team(span: Span) -> str | None:
    """Read the team's id, which every destination and agent id of a run ends in."""
    for key in ("gen_ai.agent.id", "messaging.destination"):
        found = _TEAM.search(str(span.attributes.get(key, "")))
        if found is not None:
            return found[1]
    return None


def _message(value: Any) -> Message | None:
    """Return the message a span hands on."""
    found = inner("message")(value)
    if not is_object(found):
        return None
    content = structured(found.get("content"))
    items = [item for item in content if is_object(item)] if is_list(content) else []
    match found.get("type"):
        case "ToolCallRequestEvent":
            requests = tuple(request for item in items if (request := request_of(item)) is not None)
            return Message(role="assistant", tool_requests=requests)
        case "ToolCallExecutionEvent":
            return Message(role="tool", tool_responses=tuple(response_of(item) for item in items))
        case _:
            role = "user" if found.get("source") == "user" else "assistant"
            return Message(role=role, text=content) if isinstance(content, str) and content else None


def _answered(value: Any) -> list[Message] | None:
    message = _message(value)
    return [message] if message is not None and message.role == "assistant" else None


def _received(value: Any) -> list[Message] | None:
    """Return what a span tells the model: what a tool answered, or the user's task."""
    message = _message(value)
    if message is not None:
        return None if message.role == "assistant" else [message]
    task = inner("messages")(value)
    texts = [item.get("content") for item in task if is_object(item)] if is_list(task) else []
    return [Message(role="user", text=each) for each in texts if isinstance(each, str) and each] or None


def _said(value: Any) -> str | None:
    message = _message(value)
    return message.text if message is not None and message.role == "assistant" else None


def _asked(value: Any) -> str | None:
    return next((message.text for message in _received(value) or () if message.role == "user"), None)


def _task_id(value: Any) -> str | None:
    """Return the id of a task, which every member of a team is handed: that of its first message."""
    task = inner("messages")(value)
    first = task[0] if is_list(task) and task else None
    return inner("id", shape=text)(first) if is_object(first) else None


def _runtime(span: Span) -> list[str] | None:
    """Say that a model call shows here only where its agent hands a message on."""
    return ["model_calls"] if "messaging.operation" in span.attributes else None


_USAGE = ("message", "models_usage")

_RUNTIME_ON = "Pass the runtime a tracer_provider, and leave AUTOGEN_DISABLE_RUNTIME_TRACING unset."
_MODEL_SPANS = "Instrument the model's client too, for example with openinference-instrumentation-openai."

CONVENTION = Convention(
    name="autogen",
    source="https://github.com/microsoft/autogen/blob/main/python/packages/autogen-core/src/autogen_core/_telemetry",
    known_by="`gen_ai.system` is `autogen`, or a span named `autogen *` with `messaging.operation`",
    recognise=_of_autogen,
    signs=Signs(keys=frozenset({"gen_ai.system", "messaging.operation"})),
    fields={
        Field.SESSION_ID: (Everywhere(_team),),
        Field.AGENT_NAME: (At("gen_ai.agent.name", text), At("message", inner("message", "source", shape=text))),
        Field.INPUT: (At("message", _asked),),
        Field.OUTPUT: (At("message", _said),),
        Field.INPUT_TOKENS: (At("message", inner(*_USAGE, "prompt_tokens", shape=integer)),),
        Field.OUTPUT_TOKENS: (At("message", inner(*_USAGE, "completion_tokens", shape=integer)),),
        Field.INPUT_MESSAGES: (At("message", _received),),
        Field.OUTPUT_MESSAGES: (At("message", _answered),),
        Field.MESSAGE_ID: (At("message", inner("message", "id", shape=text)), At("message", _task_id)),
        Field.TOOL_RESULT: (At("gen_ai.tool.call.result", json_value),),
        Field.CARRIED_IN_PART: (Everywhere(_runtime),),
    },
    remedies={
        **dict.fromkeys((Fact.TOOL_ARGUMENTS, Fact.TOOL_RESULTS, Fact.TOKENS), _RUNTIME_ON),
        **dict.fromkeys((Fact.MODEL_CALLS, Fact.MESSAGES, Extra.CACHED_INPUT), _MODEL_SPANS),
    },
)
