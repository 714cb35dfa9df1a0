"""What a session is: one run's events, frozen.

The file form is `analyzer.session.codec`; which payload keys an event of each kind carries is told in
docs/session.md. Structs rather than dataclasses: a run may hold a million events, and a frozen dataclass takes ten
times as long to make.
"""

from enum import StrEnum
from typing import Any

from msgspec import Struct

__all__ = ["SCHEMA_VERSION", "Agent", "Event", "EventKind", "Json", "Note", "Session", "SourceLayer", "SpanRef"]

SCHEMA_VERSION = "critiqor.session.v1"

Json = Any  # a JSON value; recursive aliases cost more in casts than they find


class EventKind(StrEnum):
    """The thirteen kinds an event can be of (critiqor.session.v1)."""

    TOOL_CALL = "tool_call"
    TOOL_OUTPUT = "tool_output"
    MEMORY_EVENT = "memory_event"
    RETRY_EVENT = "retry_event"
    ERROR_EVENT = "error_event"
    STATE_TRANSITION = "state_transition"
    DECISION = "decision"
    SKILL_EVENT = "skill_event"
    TOKEN_USAGE = "token_usage"  # noqa: S105  # the name of a kind, not a secret
    CONTEXT_EVENT = "context_event"
    PROCESS_OUTPUT = "process_output"
    PROCESS_START = "process_start"
    PROCESS_END = "process_end"


class SourceLayer(StrEnum):
    """Where in the agent an event was seen (critiqor.session.v1)."""

    EXTENSION_API = "extension_api"
    TOOL_HOOKS = "tool_hooks"


class SpanRef(Struct, frozen=True, order=True):
    """The OpenTelemetry span an event came from: lower-case hex ids of 32 and 16 digits."""

    trace_id: str
    span_id: str


class Note(Struct, frozen=True, kw_only=True):
    """Something that was found in the evidence, mended or left out, and said so."""

    code: str
    """A stable word for programs, in kebab case: `orphan-span`."""
    message: str
    """One sentence for people: what was found and what was done."""
    span: SpanRef | None = None
    event_id: str | None = None
    place: str | None = None
    """File and position, for notes on input files only."""


class Event(Struct, frozen=True, kw_only=True):
    """One thing that happened in a run."""

    event_id: str
    event: str
    """One of `EventKind`, or the raw name where no kind fits."""
    event_type: str
    """The name as it was observed: `tool_result`, `after_provider_response`."""
    time_ns: int | None = None
    """Nanoseconds since the epoch, UTC; None when the source gave no time that can be read."""
    source_layer: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    status: str | None = None
    duration_ms: float | None = None
    error: Json = None
    payload: Json = None
    """Normally an object; kept as it came when it is none."""
    span: SpanRef | None = None
    extra: dict[str, Json] = {}
    """Fields of the source that are none of the above, flat spellings among them. Null differs from absent."""


class Agent(Struct, frozen=True, kw_only=True):
    """Who ran."""

    name: str | None = None
    framework: str | None = None
    version: str | None = None


class Session(Struct, frozen=True, kw_only=True):
    """One run's evidence."""

    run_id: str
    events: tuple[Event, ...] = ()
    agent: Agent = Agent()
    trace_ids: tuple[str, ...] = ()
    continues: str | None = None
    """The sealed run this one carries on."""
    notes: tuple[Note, ...] = ()
    extra: dict[str, Json] = {}
    """Top-level fields of the source file that are none of the above: kept."""
