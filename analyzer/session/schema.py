"""The JSON Schema of the session files that are written; what is read may be spelled otherwise (docs/session.md)."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from analyzer.session.model import SCHEMA_VERSION, Agent, Json, Note, SpanRef

__all__ = ["EventObject", "SessionFile", "SessionMetrics", "session_schema"]


class EventObject(Struct, frozen=True, kw_only=True):
    """One thing that happened in a run; fields of the source that have no place here stand beside."""

    event_id: str
    event: str
    """One of the thirteen kinds, or the raw name where none fits."""
    event_type: str
    """The name as it was observed."""
    timestamp: str | None
    """UTC, to the nanosecond; null when the source gave none."""
    source_layer: str | None
    tool_name: str | None
    tool_call_id: str | None
    status: str | None
    duration_ms: float | None
    error: Json
    payload: Json
    span: SpanRef | UnsetType = UNSET


class SessionMetrics(Struct, frozen=True, kw_only=True):
    """Counts over the events."""

    total_events: int
    by_event_type: dict[str, int]
    by_source_layer: dict[str, int]
    error_events: int
    tool_calls: dict[str, int]
    """By tool."""


class SessionFile(Struct, frozen=True, kw_only=True):
    """The evidence of one run."""

    schema_version: Literal["critiqor.session.v1"]
    run_id: str
    session_id: str
    created_at: str | None
    """The time of the first event."""
    updated_at: str | None
    """The time of the last event."""
    events_file: str
    agent: Agent
    trace_ids: list[str]
    continues: str | UnsetType = UNSET
    """The sealed run that this one carries on."""
    notes: list[Note]
    events: list[EventObject]
    """By time, then parent before child and call before output, then event id."""
    metrics: SessionMetrics


def session_schema() -> dict[str, Any]:
    """Return the schema, JSON Schema draft 2020-12."""
    schema = msgspec.json.schema(SessionFile)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA_VERSION, **schema}
