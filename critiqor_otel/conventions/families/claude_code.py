"""Claude Code and the Claude Agent SDK: spans (`span.type`, beta) and events as log records (the default).

A record is a span here, named after its event. Input tokens leave the cached part out. A tool's error stands on the
child that executed it; a command's arguments stand on its span only in part.
"""

from typing import Any

from analyzer.pattern import pattern
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, FromEvent, FromResource, SpanRole
from critiqor_otel.conventions.shapes import always, flag, integer, json_value, number, signed, strings, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_TYPES = {
    "interaction": SpanRole.AGENT,
    "llm_request": SpanRole.MODEL,
    "tool": SpanRole.TOOL,
    "tool.execution": SpanRole.OTHER,
    "tool.blocked_on_user": SpanRole.OTHER,
    "hook": SpanRole.OTHER,
}
_EVENTS = {
    "claude_code.user_prompt": SpanRole.MESSAGE,
    "claude_code.assistant_response": SpanRole.MESSAGE,
    "claude_code.api_request": SpanRole.MODEL,
    "claude_code.api_error": SpanRole.RETRY,
    "claude_code.tool_result": SpanRole.TOOL,
    "claude_code.compaction": SpanRole.CONTEXT,
    "claude_code.skill_activated": SpanRole.SKILL,
    "gen_ai.request.attempt": SpanRole.RETRY,
}


def _of_claude_code(span: Span) -> SpanRole | None:
    """Tell a span by its type and an event by its name; other tools write a `span.type` too."""
    if (role := _EVENTS.get(span.name)) is not None or not span.name.startswith("claude_code."):
        return role
    return _TYPES.get(str(span.attributes.get("span.type")), SpanRole.OTHER)


_ARGUMENTS = {"full_command": "command", "file_path": "file_path", "subagent_type": "subagent_type"}


def _span_arguments(span: Span) -> dict[str, Any] | None:
    """Return the arguments that a tool's span names: a command, a path, a kind of sub-agent."""
    if span.attributes.get("span.type") != "tool":
        return None
    found = {name: span.attributes[key] for key, name in _ARGUMENTS.items() if text(span.attributes.get(key, ""))}
    return found or None


_EXIT = pattern(r"(?:^|: )Exit code (\d{1,10})\b")


def _exit_code(value: Any) -> int | None:
    """Read the exit code out of a failed command's error."""
    found = _EXIT.search(value[:200]) if isinstance(value, str) else None
    return int(found[1]) if found is not None else None


def _failed(value: Any) -> bool | None:
    success = flag(value)
    return None if success is None else not success


def _compacted(span: Span) -> bool | None:
    return flag(span.attributes.get("success", True)) if span.name == "claude_code.compaction" else None


_EVENTS_ON = "Set CLAUDE_CODE_ENABLE_TELEMETRY=1 and OTEL_LOGS_EXPORTER=otlp, and keep the log records."

CONVENTION = Convention(
    name="claude-code",
    source="https://code.claude.com/docs/en/monitoring-usage",
    known_by="a span or an event named `claude_code.*`",
    recognise=_of_claude_code,
    signs=Signs(names=("claude_code.", "gen_ai.request.attempt")),
    fields={
        Field.SESSION_ID: (At("session.id", text),),
        Field.AGENT_NAME: (At("agent_name", text), At("agent.name", text), FromResource("service.name", text)),
        Field.AGENT_VERSION: (FromResource("service.version", text), At("app.version", text)),
        Field.INPUT: (At("user_prompt", text), At("prompt", text)),
        Field.OUTPUT: (At("response", text),),
        Field.MODEL: (At("model", text), At("gen_ai.request.model", text)),
        Field.PROVIDER: (At("gen_ai.system", text),),
        Field.UNCACHED_INPUT_TOKENS: (At("input_tokens", integer),),
        Field.OUTPUT_TOKENS: (At("output_tokens", integer),),
        Field.CACHED_INPUT_TOKENS: (At("cache_read_tokens", integer),),
        Field.CACHE_WRITE_TOKENS: (At("cache_creation_tokens", integer),),
        Field.COST: (At("cost_usd", number),),
        Field.FINISH_REASONS: (At("stop_reason", strings),),
        Field.TOOL_NAME: (At("tool_name", text),),
        Field.TOOL_CALL_ID: (At("tool_use_id", text),),
        Field.TOOL_ARGUMENTS: (
            At("tool_input", json_value),
            At("tool_parameters", json_value),
            Everywhere(_span_arguments),
        ),
        Field.TOOL_RESULT: (
            FromEvent("tool.output", "content", json_value),
            FromEvent("tool.output", "output", json_value),
        ),
        Field.ERROR_TYPE: (At("error_type", text), At("error.type", text)),
        Field.ERROR_MESSAGE: (At("error", text), At("error.message", text)),
        Field.FAILED: (At("success", _failed), At("error", always(answer=True))),
        Field.EXIT_CODE: (At("exit_code", signed), At("error", _exit_code)),
        Field.ATTEMPT: (At("attempt", integer),),
        Field.DURATION_MS: (At("duration_ms", number),),
        Field.SKILL_NAME: (At("skill.name", text), At("skill_name", text)),
        Field.CONTEXT_COMPACTED: (Everywhere(_compacted),),
        Field.CONTEXT_USED: (At("pre_tokens", integer),),
        Field.REASON: (At("trigger", text), At("invocation_trigger", text), At("error", text)),
    },
    remedies={
        Fact.TOOL_ARGUMENTS: "Set OTEL_LOG_TOOL_DETAILS=1.",
        Fact.TOOL_RESULTS: (
            "Set OTEL_LOG_TOOL_CONTENT=1, CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1 and OTEL_TRACES_EXPORTER=otlp: results"
            " stand on spans alone."
        ),
        Fact.MESSAGES: "Set OTEL_LOG_USER_PROMPTS=1 and OTEL_LOG_ASSISTANT_RESPONSES=1 for prompts and answers.",
        **dict.fromkeys((Fact.TOOL_CALLS, Fact.TOOL_ERRORS, Fact.MODEL_CALLS, Fact.TOKENS), _EVENTS_ON),
    },
)
