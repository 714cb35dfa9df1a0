"""AWS Strands Agents: GenAI spans whose content stands in span events, as lists of Bedrock blocks.

Usage stands under old and new names at once: one is an alias of the other. The newest conventions put content into an
event too (`gen_ai.client.inference.operation.details`), or into attributes.
"""

from typing import Any

from critiqor_otel.conventions.convention import At, Convention, Field, FromEvent, SpanRole
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.message_shapes import messages_of
from critiqor_otel.conventions.message_views import answered_text, asked_text
from critiqor_otel.conventions.remedies import Extra, content_by
from critiqor_otel.conventions.shapes import composed, integer, one_of, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.unwrap import content_blocks, through
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_DETAILS = "gen_ai.client.inference.operation.details"
_OPERATIONS = {
    "chat": SpanRole.MODEL,
    "execute_tool": SpanRole.TOOL,
    "invoke_agent": SpanRole.AGENT,
    "invoke_swarm": SpanRole.AGENT,
    "invoke_graph": SpanRole.AGENT,
    "execute_event_loop_cycle": SpanRole.TURN,
}
_NAMES = {"Model invoke": SpanRole.MODEL, "Tool:": SpanRole.TOOL, "Cycle": SpanRole.TURN}  # 0.1


def _of_strands(span: Span) -> SpanRole | None:
    if span.scope.name != "strands.telemetry.tracer" and span.attributes.get("gen_ai.system") != "strands-agents":
        return None
    role = _OPERATIONS.get(str(span.attributes.get("gen_ai.operation.name")))
    return role or next((role for start, role in _NAMES.items() if span.name.startswith(start)), None)


def _spoken(value: Any) -> Any:
    """Return a text out of its blocks, without the line end Strands adds."""
    found = content_blocks(value)
    return found.strip() or None if isinstance(found, str) else found


def _called(value: Any) -> Any:
    """Return the arguments of the one tool request in a list of messages."""
    for message in messages_of(structured(value), role="tool"):
        for request in message.tool_requests:
            return request.arguments
    return None


def _returned(value: Any) -> Any:
    """Return the result of the one tool response in a list of messages."""
    for message in messages_of(structured(value), role="tool"):
        for response in message.tool_responses:
            return response.result
    return None


_STATUS = one_of({"error": True, "success": False})

CONVENTION = Convention(
    name="strands",
    source="https://github.com/strands-agents/sdk-python/blob/main/src/strands/telemetry/tracer.py",
    known_by="the scope `strands.telemetry.tracer`, or `gen_ai.system` is `strands-agents`",
    recognise=_of_strands,
    signs=Signs(keys=frozenset({"gen_ai.system"}), scopes=("strands.telemetry.tracer",)),
    fields={
        Field.INPUT: (
            FromEvent("gen_ai.user.message", "content", _spoken),
            FromEvent(_DETAILS, "gen_ai.input.messages", asked_text),
        ),
        Field.OUTPUT: (
            FromEvent("gen_ai.choice", "message", _spoken),
            FromEvent(_DETAILS, "gen_ai.output.messages", composed(answered_text, _spoken)),
        ),
        Field.CACHED_INPUT_TOKENS: (
            At("gen_ai.usage.cache_read.input_tokens", integer),
            At("gen_ai.usage.cache_read_input_tokens", integer),
        ),
        Field.CACHE_WRITE_TOKENS: (
            At("gen_ai.usage.cache_creation.input_tokens", integer),
            At("gen_ai.usage.cache_write_input_tokens", integer),
        ),
        Field.TOOL_NAME: (At("gen_ai.tool.name", text), At("tool.name", text)),
        Field.TOOL_CALL_ID: (At("gen_ai.tool.call.id", text), At("tool.id", text)),
        Field.TOOL_ARGUMENTS: (
            At("gen_ai.tool.call.arguments", through()),
            FromEvent("gen_ai.tool.message", "content", through()),
            FromEvent(_DETAILS, "gen_ai.input.messages", _called),
            At("tool.parameters", through()),
        ),
        Field.TOOL_RESULT: (
            At("gen_ai.tool.call.result", through(content_blocks)),
            FromEvent("gen_ai.choice", "message", through(content_blocks)),
            FromEvent(_DETAILS, "gen_ai.output.messages", _returned),
            At("tool.result", through(content_blocks)),
        ),
        Field.FAILED: (At("gen_ai.tool.status", _STATUS), At("tool.status", _STATUS)),
    },
    remedies={
        **content_by(
            "Take gen_ai_unredacted_attributes out of OTEL_SEMCONV_STABILITY_OPT_IN: it redacts all it does not name."
        ),
        Extra.CONVERSATION_ID: 'Pass trace_attributes={"session.id": …} to Agent.',
    },
)
