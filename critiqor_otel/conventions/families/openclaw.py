"""OpenClaw diagnostics-otel: spans named `openclaw.*`, in both of its vintages.

2026.4 splits a turn into some five traces with a parent that is never exported and carries no id; later versions keep
one trace. Tokens stand on `openclaw.model.usage` alone, once a turn, cached input beside the input. `tokens.total` is
the size of the last call's context. `outcome` is `completed` also where the command failed.
"""

from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.remedies import Extra, content_by
from critiqor_otel.conventions.shapes import integer, json_value, number, one_of, signed, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_NAMES = {
    "openclaw.run": SpanRole.AGENT,
    "openclaw.harness.run": SpanRole.TURN,  # inside a run, or in a trace of its own
    "openclaw.model.call": SpanRole.MODEL,
    "openclaw.model.usage": SpanRole.USAGE,
    "openclaw.model.failover": SpanRole.RETRY,
    "openclaw.tool.execution": SpanRole.TOOL,
    "openclaw.tool.loop": SpanRole.DECISION,
    "openclaw.exec": SpanRole.PROCESS,
    "openclaw.message.processed": SpanRole.MESSAGE,
    "openclaw.message.delivery": SpanRole.MESSAGE,
    "openclaw.context.assembled": SpanRole.CONTEXT,
    "openclaw.skill.used": SpanRole.SKILL,
    "openclaw.ai_safety.memory_context.selected": SpanRole.MEMORY,
}
_HEALTH = (
    "openclaw.session.stuck",
    "openclaw.memory.",
    "openclaw.liveness.",
    "openclaw.webhook.",
    "openclaw.gateway.",
    "openclaw.diagnostic.",
    "openclaw.queue.",
)
_MODEL_OPERATIONS = frozenset({"chat", "text_completion", "generate_content"})


def _other_span(span: Span) -> SpanRole | None:
    """Tell the host's health, and a model call that is named the GenAI way (`chat gpt-5`)."""
    if span.name.startswith("openclaw."):
        return SpanRole.HEALTH if span.name.startswith(_HEALTH) else SpanRole.OTHER
    operation = str(span.attributes.get("gen_ai.operation.name"))
    return SpanRole.MODEL if span.scope.name == "openclaw" and operation in _MODEL_OPERATIONS else None


_PARTS = ("openclaw.tokens.input", "openclaw.tokens.cache_read", "openclaw.tokens.cache_write")


def _whole_input(span: Span) -> int | None:
    """Return the input with the cached part, which OpenClaw counts beside it."""
    if span.attributes.get(_PARTS[0]) is None:
        return None
    return sum(integer(span.attributes.get(part, 0)) or 0 for part in _PARTS)


_WHOLE_TURNS = "Leave diagnostics.otel.traces at true and diagnostics.otel.sampleRate at 1.0."

CONVENTION = Convention(
    name="openclaw",
    source="https://github.com/openclaw/openclaw/blob/main/docs/gateway/opentelemetry.md",
    known_by="a span named `openclaw.*`, or a model call in the scope `openclaw`",
    names=_NAMES,
    recognise=_other_span,
    signs=Signs(names=("openclaw.",), scopes=("openclaw",)),
    fields={
        Field.SESSION_ID: (
            At("gen_ai.conversation.id", text),
            At("session.id", text),
            At("langfuse.session.id", text),
        ),
        Field.AGENT_NAME: (At("openclaw.agent", text), At("openclaw.harness.id", text)),
        Field.INPUT: (At("input.value", json_value),),
        Field.OUTPUT: (At("output.value", json_value),),
        Field.MODEL: (At("openclaw.model", text),),
        Field.PROVIDER: (At("openclaw.provider", text),),
        Field.INPUT_TOKENS: (Everywhere(_whole_input),),
        Field.OUTPUT_TOKENS: (At("openclaw.tokens.output", integer),),
        Field.CACHED_INPUT_TOKENS: (At("openclaw.tokens.cache_read", integer),),
        Field.CACHE_WRITE_TOKENS: (At("openclaw.tokens.cache_write", integer),),
        Field.INPUT_MESSAGES: (
            At("openclaw.content.input_messages", conversation),
            At("gen_ai.input.messages", conversation),
        ),
        Field.OUTPUT_MESSAGES: (
            At("openclaw.content.output_messages", answer),
            At("gen_ai.output.messages", answer),
        ),
        Field.TOOL_NAME: (At("openclaw.toolName", text), At("gen_ai.tool.name", text)),
        Field.TOOL_ARGUMENTS: (
            At("openclaw.content.tool_input", json_value),
            At("gen_ai.tool.call.arguments", json_value),
        ),
        Field.TOOL_RESULT: (
            At("openclaw.content.tool_output", json_value),
            At("gen_ai.tool.call.result", json_value),
        ),
        Field.FAILED: (At("openclaw.outcome", one_of({"error": True, "blocked": True, "failed": True})),),
        Field.EXIT_CODE: (At("openclaw.exec.exit_code", signed),),
        Field.ERROR_TYPE: (
            At("openclaw.errorCategory", text),
            At("openclaw.failureKind", text),
            At("openclaw.deniedReason", text),
            At("openclaw.errorCode", text),
        ),
        Field.ERROR_MESSAGE: (At("openclaw.error", text),),
        Field.ATTEMPT: (At("openclaw.failover.cascade_depth", integer),),
        Field.REASON: (
            At("openclaw.failover.reason", text),
            At("openclaw.loop.detector", text),
            At("openclaw.skill.activation", text),
        ),
        Field.SKILL_NAME: (At("openclaw.skill.name", text),),
        Field.CONTEXT_WINDOW: (At("openclaw.context.token_budget", integer),),
        Field.DURATION_MS: (At("openclaw.duration_ms", number),),
        Field.MESSAGE_ID: (At("openclaw.messageId", text),),
    },
    remedies={
        **content_by(
            "Set enabled, inputMessages, outputMessages, toolInputs and toolOutputs of diagnostics.otel.captureContent"
            " to true, in a version after 2026.4."
        ),
        Fact.MODEL_CALLS: _WHOLE_TURNS,
        Fact.TOKENS: _WHOLE_TURNS,
        Extra.CONVERSATION_ID: "Set diagnostics.otel.sessionAttribute to true, in a version after 2026.4.",
    },
)
