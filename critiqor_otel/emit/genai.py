"""How the OTel GenAI conventions name what an event tells: span names and attributes.

Source: open-telemetry/semantic-conventions-genai 0.1. What it has no name for stands under `critiqor.`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from analyzer.session.accessors import (
    ABSENT,
    ARGUMENTS,
    EXIT_CODE,
    OUTCOME,
    RESULT,
    Absent,
    Places,
    call_id_of,
    first_given,
    payload_of,
    skill_of,
    text_of,
    tool_of,
)
from analyzer.session.jsontext import strict_json
from analyzer.session.model import Agent, Event, EventKind, Json
from analyzer.session.shapes import is_list, is_number, is_object
from critiqor_otel.conventions.carriage import FINGERPRINTS
from critiqor_otel.emit.plain_values import known_attributes, plain_text, text_of_json

__all__ = [
    "MEMORY_OPERATIONS",
    "Attributes",
    "agent_attributes",
    "error_attributes",
    "happening_attributes",
    "happening_name",
    "memory_attributes",
    "model_attributes",
    "named",
    "operation_of",
    "skill_attributes",
    "tool_call_attributes",
    "tool_output_attributes",
]

Attributes = dict[str, Any]

_OTHER_ERROR = "_OTHER"  # semconv: the error.type of an error without a name
MEMORY_OPERATIONS: Mapping[str, str] = {
    "search": "search_memory",
    "retrieve": "retrieval",
    "create": "create_memory",
    "store": "create_memory",
    "update": "update_memory",
    "upsert": "upsert_memory",
    "delete": "delete_memory",
}
"""A memory event's operation → gen_ai.operation.name, where the conventions have one."""

_MODEL = Places(("model",), ("model", "response_model", "request_model"))
_PROVIDER = Places(("provider",), ("provider",))
_USAGE = {
    "gen_ai.usage.input_tokens": ("input_tokens", "prompt_tokens", "inputTokens"),
    "gen_ai.usage.output_tokens": ("output_tokens", "completion_tokens", "outputTokens"),
    "gen_ai.usage.cache_read.input_tokens": ("cached_input_tokens", "cache_read_input_tokens"),
    "gen_ai.usage.cache_creation.input_tokens": ("cache_write_tokens", "cache_creation_input_tokens"),
    "gen_ai.usage.reasoning.output_tokens": ("reasoning_tokens",),
    "critiqor.usage.total_tokens": ("total", "total_tokens"),
}


def named(operation: str, what: str | None) -> str:
    """Return a span name of the conventions: `execute_tool search`, or the operation alone."""
    return plain_text(f"{operation} {what}") if what else operation


def agent_attributes(run_id: str, agent: Agent, event: Event | None) -> Attributes:
    """Return the attributes of the span of an agent's run."""
    payload = {} if event is None else payload_of(event)
    return known_attributes(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent.name or _text(payload.get("agent")),
            "gen_ai.agent.version": agent.version,
            "gen_ai.conversation.id": run_id or None,
            "gen_ai.input.messages": _spoken("user", payload.get("input")),
        }
    )


def model_attributes(event: Event) -> Attributes:
    """Return what a request or a response of a model tells."""
    payload = payload_of(event)
    is_request = event.event != EventKind.TOKEN_USAGE
    usage = event.extra.get("usage", payload.get("usage"))
    model = text_of(event, _MODEL)
    messages = _messages(payload.get("messages"))
    return known_attributes(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model" if is_request else "gen_ai.response.model": model,
            "gen_ai.provider.name": text_of(event, _PROVIDER),
            "gen_ai.agent.name": _text(payload.get("agent")),
            "gen_ai.request.max_tokens": _count(payload.get("max_tokens")),
            "gen_ai.response.finish_reasons": _texts(payload.get("finish_reasons")),
            "gen_ai.input.messages" if is_request else "gen_ai.output.messages": messages,
            FINGERPRINTS["prompt_parts" if is_request else "message_parts"]: payload.get("message_parts"),
            **{name: _first_count(usage, names) for name, names in _USAGE.items()},
        }
    )


def tool_call_attributes(event: Event) -> Attributes:
    """Return what the start of a tool call tells."""
    return known_attributes(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool_of(event),
            "gen_ai.tool.call.id": call_id_of(event),
            "gen_ai.agent.name": _text(payload_of(event).get("agent")),
            "gen_ai.tool.call.arguments": _content(first_given(event, ARGUMENTS)),
            **_fingerprints(event),
        }
    )


def tool_output_attributes(event: Event) -> Attributes:
    """Return what the end of a tool call tells, but for its failure."""
    code = first_given(event, EXIT_CODE)
    return known_attributes(
        {
            "gen_ai.tool.call.result": _content(first_given(event, RESULT)),
            "process.exit.code": _whole(code),
            **_fingerprints(event),
        }
    )


def error_attributes(event: Event) -> Attributes:
    """Return the `error.type` of an event that tells of a failure."""
    payload = payload_of(event)
    return {"error.type": plain_text(_text(payload.get("error_type")) or _OTHER_ERROR)}


def memory_attributes(event: Event) -> Attributes:
    """Return what a memory operation tells."""
    payload = payload_of(event)
    operation = operation_of(event)
    records = payload.get("records")
    return known_attributes(
        {
            "gen_ai.operation.name": MEMORY_OPERATIONS.get(operation),
            "critiqor.span.kind": None if operation in MEMORY_OPERATIONS else "memory",
            "gen_ai.memory.query.text": _text(payload.get("query")),
            "gen_ai.memory.store.id": _text(payload.get("store")),
            "gen_ai.memory.record.count": _count(payload.get("record_count")),
            "gen_ai.memory.records": None if records is None else text_of_json(records),
            "critiqor.memory.outcome": text_of(event, OUTCOME),
        }
    )


def operation_of(event: Event) -> str:
    """Return the operation of a memory event: `search` of `memory_search`."""
    said = _text(payload_of(event).get("operation"))
    return said or event.event_type.removeprefix("memory_")


def skill_attributes(event: Event) -> Attributes:
    """Return what a skill event tells."""
    return known_attributes(
        {
            "critiqor.span.kind": "skill",
            "gen_ai.skill.name": skill_of(event),
            "gen_ai.skill.resource.name": _text(payload_of(event).get("resource")),
        }
    )


def happening_name(event: Event) -> str:
    """Return the name of the span event for what has no span of its own."""
    return plain_text(_HAPPENING_NAMES.get(event.event, event.event_type)) or "event"


def happening_attributes(event: Event) -> Attributes:
    """Return the attributes of that span event."""
    teller = _HAPPENINGS.get(event.event)
    told = {} if teller is None else known_attributes(teller(event))
    return {"critiqor.event": plain_text(event.event), **told}


def _error(event: Event) -> Mapping[str, Any]:
    payload = payload_of(event)
    message = _text(payload.get("message")) or _text(event.error)
    return {"exception.message": message, "exception.type": _text(payload.get("error_type"))}


def _evaluation(event: Event) -> Mapping[str, Any]:
    payload = payload_of(event)
    score = payload.get("score")
    return {
        "gen_ai.evaluation.name": _text(payload.get("name")),
        "gen_ai.evaluation.score.value": score if is_number(score) else None,
        "gen_ai.evaluation.score.label": _text(payload.get("label")),
        "gen_ai.evaluation.explanation": _text(payload.get("reason")),
    }


def _process(event: Event) -> Mapping[str, Any]:
    payload = payload_of(event)
    command = payload.get("command", event.extra.get("command"))
    code = first_given(event, EXIT_CODE)
    return {
        "process.command_line": None if command is None else text_of_json(command),
        "process.exit.code": _whole(code),
    }


_HAPPENING_NAMES = {EventKind.ERROR_EVENT.value: "exception", "evaluation": "gen_ai.evaluation.result"}
_HAPPENINGS: Mapping[str, Callable[[Event], Mapping[str, Any]]] = {
    EventKind.ERROR_EVENT: _error,
    "evaluation": _evaluation,
    EventKind.PROCESS_START: _process,
    EventKind.PROCESS_END: _process,
}


def _messages(messages: Json) -> str | None:
    """Return messages in the form of gen_ai.input.messages, as JSON text."""
    if not is_list(messages):
        return None
    return plain_text(strict_json([_message(one) for one in messages if is_object(one)]).decode())


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if message.get("text") is not None:
        parts.append({"type": "text", "content": message["text"]})
    parts += ({"type": "tool_call", **request} for request in _objects(message.get("tool_requests")))
    parts += (
        {"type": "tool_call_response", "id": response.get("id"), "response": response.get("result")}
        for response in _objects(message.get("tool_responses"))
    )
    return {"role": message.get("role"), "parts": parts}


def _objects(value: Json) -> Iterable[dict[str, Any]]:
    return (one for one in value if is_object(one)) if is_list(value) else ()


def _spoken(role: str, value: Json) -> str | None:
    if value is None:
        return None
    return _messages([{"role": role, "text": value if isinstance(value, str) else text_of_json(value)}])


def _fingerprints(event: Event) -> Attributes:
    payload = payload_of(event)
    return {name: payload.get(key) for key, name in FINGERPRINTS.items()}


def _content(value: Json | Absent) -> str | None:
    return None if value is ABSENT else text_of_json(value)


def _text(value: Json) -> str | None:
    if value is None or value == "" or value is ABSENT:
        return None
    return text_of_json(value)


def _texts(value: Json) -> list[str] | None:
    return [text_of_json(one) for one in value] if is_list(value) and value else None


def _whole(value: Json | Absent) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else None


def _count(value: Json) -> int | None:
    whole = _whole(value)
    return whole if whole is not None and whole >= 0 else None


def _first_count(block: Json, names: tuple[str, ...]) -> int | None:
    if not is_object(block):
        return None
    return next((count for name in names if (count := _count(block.get(name))) is not None), None)
