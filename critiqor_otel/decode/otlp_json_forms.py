"""OTLP/JSON's messages as forms: typed, in the specification's spelling and no other.

`read_request` refuses what is spelled otherwise; `otlp_json_lenient` fills the same forms from what it finds, with
values of any type, so whoever reads a form checks each value.
Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from collections.abc import Callable

import msgspec
from msgspec import Raw, Struct

__all__ = [
    "AnyValueForm",
    "ArrayForm",
    "EventForm",
    "KeyValueForm",
    "KeyValueListForm",
    "LinkForm",
    "LogForm",
    "RequestForm",
    "ResourceForm",
    "ResourceLogsForm",
    "ResourceSpansForm",
    "ScopeForm",
    "ScopeLogsForm",
    "ScopeSpansForm",
    "SpanForm",
    "StatusForm",
    "read_request",
]

_Number = int | str | None


class _Form(Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    """A message all of whose fields are named here."""


class AnyValueForm(_Form):
    """A value of one type."""

    string_value: str | None = None
    int_value: _Number = None
    bool_value: bool | None = None
    double_value: float | str | None = None
    array_value: "ArrayForm | None" = None
    kvlist_value: "KeyValueListForm | None" = None
    bytes_value: str | None = None


class ArrayForm(_Form):
    """A list of values."""

    values: list[AnyValueForm | None] | None = None


class KeyValueForm(_Form):
    """An attribute."""

    key: str = ""
    value: AnyValueForm | None = None


_Attributes = list[KeyValueForm] | None


class KeyValueListForm(_Form):
    """A map."""

    values: _Attributes = None


class ResourceForm(_Form):
    """The entity that produced telemetry."""

    attributes: _Attributes = None
    dropped_attributes_count: _Number = None
    entity_refs: Raw | None = None


class ScopeForm(_Form):
    """The instrumentation that produced telemetry."""

    name: str | None = None
    version: str | None = None
    attributes: _Attributes = None
    dropped_attributes_count: _Number = None


class EventForm(_Form):
    """A span event."""

    time_unix_nano: _Number = None
    name: str | None = None
    attributes: _Attributes = None
    dropped_attributes_count: _Number = None


class LinkForm(_Form):
    """A span link."""

    trace_id: str | None = None
    span_id: str | None = None
    trace_state: str | None = None
    attributes: _Attributes = None
    dropped_attributes_count: _Number = None
    flags: _Number = None


class StatusForm(_Form):
    """A span's status."""

    code: _Number = None
    message: str | None = None


class SpanForm(_Form):
    """A span."""

    trace_id: str | None = None
    span_id: str | None = None
    trace_state: str | None = None
    parent_span_id: str | None = None
    flags: _Number = None
    name: str | None = None
    kind: _Number = None
    start_time_unix_nano: _Number = None
    end_time_unix_nano: _Number = None
    attributes: _Attributes = None
    dropped_attributes_count: _Number = None
    events: list[EventForm] | None = None
    dropped_events_count: _Number = None
    links: list[LinkForm] | None = None
    dropped_links_count: _Number = None
    status: StatusForm | None = None


class LogForm(_Form):
    """A log record."""

    time_unix_nano: _Number = None
    observed_time_unix_nano: _Number = None
    severity_number: _Number = None
    severity_text: str | None = None
    body: AnyValueForm | None = None
    attributes: _Attributes = None
    dropped_attributes_count: _Number = None
    flags: _Number = None
    trace_id: str | None = None
    span_id: str | None = None
    event_name: str | None = None


class ScopeSpansForm(_Form):
    """The spans of one scope."""

    scope: ScopeForm | None = None
    spans: list[SpanForm] | None = None
    schema_url: str | None = None


class ScopeLogsForm(_Form):
    """The log records of one scope."""

    scope: ScopeForm | None = None
    log_records: list[LogForm] | None = None
    schema_url: str | None = None


class ResourceSpansForm(_Form):
    """The spans of one resource."""

    resource: ResourceForm | None = None
    scope_spans: list[ScopeSpansForm] | None = None
    schema_url: str | None = None


class ResourceLogsForm(_Form):
    """The log records of one resource."""

    resource: ResourceForm | None = None
    scope_logs: list[ScopeLogsForm] | None = None
    schema_url: str | None = None


class RequestForm(_Form):
    """An export request of any signal."""

    resource_spans: list[ResourceSpansForm] | None = None
    resource_logs: list[ResourceLogsForm] | None = None
    resource_metrics: Raw | None = None
    resource_profiles: Raw | None = None


read_request: Callable[[bytes], RequestForm] = msgspec.json.Decoder(RequestForm).decode
"""Parse a request in the standard spelling; raises msgspec.DecodeError or RecursionError for anything else."""
