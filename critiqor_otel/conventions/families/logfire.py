"""The OpenAI Agents SDK as Logfire tells of it: what a span is stands in the template of its message.

What a model call used is written in OTel GenAI names. `events` and `request_data` hold its answer among what it was
sent; `raw_input`, `input`, `response` and `output` tell the two apart.
"""

from typing import Any

from critiqor_otel.conventions.convention import At, Convention, Field, Shape, SpanRole, When
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.remedies import content_by
from critiqor_otel.conventions.shapes import inner, json_value, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_SCOPE = "logfire.openai_agents"
_TEMPLATE = "logfire.msg_template"
_AGENT, _TOOL = "Agent run: {name!r}", "Function: {name}"
_CHAT, _RESPONSES = "Chat completion with {gen_ai.request.model!r}", "Responses API"
_GUARDRAIL = "Guardrail {name!r} {triggered=}"
_ROLES = {
    _AGENT: SpanRole.AGENT,
    _TOOL: SpanRole.TOOL,
    _CHAT: SpanRole.MODEL,
    _RESPONSES: SpanRole.MODEL,
    f"{_RESPONSES} with {{gen_ai.request.model!r}}": SpanRole.MODEL,
    _GUARDRAIL: SpanRole.EVALUATION,
}
_TURN = "Turn {turn} for agent "  # the agent's name is part of the template


def _of_logfire(span: Span) -> SpanRole | None:
    if span.scope.name != _SCOPE:
        return None
    template = str(span.attributes.get(_TEMPLATE))
    return SpanRole.TURN if template.startswith(_TURN) else _ROLES.get(template, SpanRole.OTHER)


def _given(value: Any) -> str | None:
    """Return a text that is none where nobody gave it: `null`."""
    return None if value == "null" else text(value)


def _failed(error: Any) -> bool | None:
    """Return that there is an error, of which the span's status says nothing."""
    return True if structured(error) else None


def _named(template: str, *, key: str = "name", shape: Shape = text) -> When:
    return When(_TEMPLATE, frozenset({template}), At(key, shape))


CONVENTION = Convention(
    name="logfire",
    source="https://github.com/pydantic/logfire/blob/main/logfire/_internal/integrations/openai_agents.py",
    known_by="the scope `logfire.openai_agents`",
    recognise=_of_logfire,
    signs=Signs(scopes=(_SCOPE,)),
    fields={
        Field.SESSION_ID: (At("group_id", _given),),
        Field.AGENT_NAME: (_named(_AGENT), At("agent_name", text)),
        Field.INPUT_MESSAGES: (_named(_CHAT, key="input", shape=conversation), At("raw_input", conversation)),
        Field.OUTPUT_MESSAGES: (_named(_CHAT, key="output", shape=answer), At("response", answer)),
        Field.TOOL_NAME: (_named(_TOOL),),
        Field.TOOL_ARGUMENTS: (_named(_TOOL, key="input", shape=json_value),),
        Field.TOOL_RESULT: (_named(_TOOL, key="output", shape=json_value),),
        Field.FAILED: (At("error", _failed),),
        Field.ERROR_MESSAGE: (
            At("error", inner("data", "error", shape=text)),
            At("error", inner("message", shape=text)),
        ),
        Field.EVALUATION_NAME: (_named(_GUARDRAIL),),
    },
    remedies=content_by("Leave trace_include_sensitive_data of the RunConfig at True."),
)
