"""Codex CLI: log records are its product, its hundred spans a turn are its own Rust functions.

A record is a span here, named after its event. A command that failed is a success to Codex; its output tells.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from analyzer.pattern import pattern
from analyzer.session.shapes import is_object
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, FromResource, SpanRole
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.shapes import flag, inner, integer, json_value, number, signed, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.unwrap import through
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_EVENTS = {
    "codex.tool_result": SpanRole.TOOL,
    "codex.user_prompt": SpanRole.MESSAGE,
}
_SPANS = {
    "dispatch_tool_call_with_code_mode_result": SpanRole.TOOL,
    "session_task.turn": SpanRole.TURN,
}
_STREAMS = frozenset({"codex.sse_event", "codex.websocket_event"})


def _of_codex(span: Span) -> SpanRole | None:
    if span.name in _STREAMS:
        return _of_stream(span.attributes)
    if span.name == "codex.api_request":
        return SpanRole.RETRY if _again(span.attributes.get("attempt")) else SpanRole.OTHER
    if span.scope.name.startswith("codex"):
        return _SPANS.get(span.name, SpanRole.OTHER)
    return SpanRole.OTHER if span.name.startswith("codex.") else None


def _of_stream(attributes: Mapping[str, Any]) -> SpanRole:
    """Tell the end of an answer, which reports its tokens, from the events before it and its twin without tokens."""
    ended = attributes.get("event.kind") == "response.completed" and "input_token_count" in attributes
    return SpanRole.MODEL if ended else SpanRole.OTHER


def _again(attempt: Any) -> bool:
    return str(attempt).strip() not in ("0", "None", "")


_WRAPPED = pattern(
    r"(?:Chunk ID|Exit code|Wall time|Process exited)[^\n]*\n"  # the first line of the head
    r"(?:[^\n]*\n){0,6}?"  # what else is in it
    r"Output:\n"
)
_EXIT = pattern(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_HEAD = 400  # characters: what Codex writes before a command's own output


def _own_output(value: Any) -> Any:
    """Take off what Codex writes before a command's output: chunk id and wall time differ on every call."""
    if is_object(value) and set(value) == {"output", "metadata"}:
        return value["output"]
    if not isinstance(value, str):
        return value
    head = _WRAPPED.match(value)
    return value if head is None else value[head.end() :]


def _exit_code(value: Any) -> int | None:
    """Read the exit code out of what Codex writes before a command's output."""
    found = structured(value)
    if is_object(found):
        code: int | None = inner("metadata", "exit_code", shape=signed)(found)
        return code
    line = _EXIT.search(found[:_HEAD]) if isinstance(found, str) else None
    return int(line[1]) if line is not None else None


def _failed(value: Any) -> bool | None:
    success = flag(value)
    return None if success is None else not success


def _told(key: str, shape: Callable[[Any], Any]) -> Everywhere:
    """Return the place of what a span's event says of the tool call the span dispatched."""

    def read(span: Span) -> Any:
        for event in span.events:
            if event.attributes.get("event.name") == "codex.tool_result" and event.attributes.get(key) is not None:
                return shape(event.attributes[key])
        return None

    return Everywhere(read)


def _anyone(key: str, shape: Callable[[Any], Any]) -> Everywhere:
    """Return the place of an attribute that every event of a span repeats."""

    def read(span: Span) -> Any:
        found = (event.attributes[key] for event in span.events if event.attributes.get(key) is not None)
        value = next(found, None)
        return None if value is None else shape(value)

    return Everywhere(read)


_BAD_STATUS = 400


def _bad_status(value: Any) -> str | None:
    code = integer(value)
    return f"HTTP {code}" if code is not None and code >= _BAD_STATUS else None


CONVENTION = Convention(
    name="codex",
    source="https://github.com/openai/codex/blob/main/codex-rs/otel/src/events/session_telemetry.rs",
    known_by="the scope `codex*`, or a span or an event named `codex.*`",
    names=_EVENTS,
    recognise=_of_codex,
    signs=Signs(names=("codex.",), scopes=("codex",)),
    fields={
        Field.SESSION_ID: (At("conversation.id", text), _anyone("conversation.id", text)),
        Field.AGENT_NAME: (FromResource("service.name", text), At("originator", text)),
        Field.AGENT_VERSION: (At("app.version", text), FromResource("service.version", text)),
        Field.INPUT: (At("prompt", text),),
        Field.MODEL: (At("model", text), At("slug", text)),
        Field.PROVIDER: (At("provider_name", text),),
        Field.INPUT_TOKENS: (At("input_token_count", integer),),
        Field.OUTPUT_TOKENS: (At("output_token_count", integer),),
        Field.TOTAL_TOKENS: (At("tool_token_count", integer),),
        Field.CACHED_INPUT_TOKENS: (At("cached_token_count", integer),),
        Field.REASONING_TOKENS: (At("reasoning_token_count", integer),),
        Field.TOOL_NAME: (At("tool_name", text), _told("tool_name", text)),
        Field.TOOL_CALL_ID: (At("call_id", text), _told("call_id", text)),
        Field.TOOL_ARGUMENTS: (At("arguments", json_value),),
        Field.TOOL_RESULT: (At("output", through(_own_output)),),
        Field.EXIT_CODE: (At("output", _exit_code),),
        Field.FAILED: (At("success", _failed), _told("success", _failed)),
        Field.ERROR_MESSAGE: (At("error.message", text), At("error", text)),
        Field.ATTEMPT: (At("attempt", integer),),
        Field.DURATION_MS: (At("duration_ms", number), _told("duration_ms", number)),
        Field.REASON: (At("error.message", text), At("http.response.status_code", _bad_status)),
    },
    remedies={
        **dict.fromkeys(
            (Fact.TOOL_CALLS, Fact.TOOL_ARGUMENTS, Fact.TOOL_RESULTS, Fact.MODEL_CALLS, Fact.TOKENS),
            "Export log records too: set exporter under [otel] in config.toml to otlp-http or otlp-grpc.",
        ),
        Fact.MESSAGES: "Set log_user_prompt = true under [otel] in config.toml for the prompts.",
    },
)
