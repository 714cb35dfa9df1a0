"""The neutral span: what every format and protocol becomes before anything else looks at it.

Above this module nobody sees protobuf, JSON spellings or the SDK. A log record is here too, since agents report as
logs what others report as spans.
"""

from enum import IntEnum

from msgspec import Struct

from analyzer.session.model import Note, Session

__all__ = [
    "AttributeValue",
    "Attributes",
    "Batch",
    "Link",
    "LogRecord",
    "Resource",
    "Scope",
    "Span",
    "SpanEvent",
    "SpanKind",
    "StatusCode",
]

AttributeValue = str | bool | int | float | bytes | None | list["AttributeValue"] | dict[str, "AttributeValue"]
"""An OTLP AnyValue: bytes stay bytes, arrays are lists, key-value lists are dicts (a doubled key: the last wins)."""

Attributes = dict[str, AttributeValue]


class SpanKind(IntEnum):
    """opentelemetry.proto.trace.v1.Span.SpanKind."""

    UNSPECIFIED = 0
    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


class StatusCode(IntEnum):
    """opentelemetry.proto.trace.v1.Status.StatusCode."""

    UNSET = 0
    OK = 1
    ERROR = 2


class Resource(Struct, frozen=True):
    """The entity that produced telemetry."""

    attributes: Attributes = {}
    schema_url: str = ""


class Scope(Struct, frozen=True):
    """The instrumentation that produced telemetry."""

    name: str = ""
    version: str = ""
    attributes: Attributes = {}
    schema_url: str = ""


class SpanEvent(Struct, frozen=True):
    """Something at one moment of a span."""

    time_ns: int
    name: str
    attributes: Attributes = {}
    dropped_attributes: int = 0


class Link(Struct, frozen=True):
    """A pointer to another span; ids as in `Span`."""

    trace_id: str
    span_id: str
    attributes: Attributes = {}
    trace_state: str = ""
    flags: int = 0
    dropped_attributes: int = 0


class Span(Struct, frozen=True, kw_only=True):
    """One operation. Ids are lower-case hex of 32 and 16 digits; times are nanoseconds since the epoch."""

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    """None for a root."""
    name: str = ""
    kind: SpanKind = SpanKind.UNSPECIFIED
    start_ns: int = 0
    end_ns: int = 0
    """0 when it is not known (a span still open)."""
    attributes: Attributes = {}
    status: StatusCode = StatusCode.UNSET
    status_message: str = ""
    events: tuple[SpanEvent, ...] = ()
    links: tuple[Link, ...] = ()
    trace_state: str = ""
    flags: int = 0
    """W3C trace flags in the low eight bits; bit 8 and 9 tell whether the parent is remote."""
    dropped_attributes: int = 0
    dropped_events: int = 0
    dropped_links: int = 0
    resource: Resource = Resource()
    scope: Scope = Scope()


class LogRecord(Struct, frozen=True, kw_only=True):
    """One log record; `trace_id` and `span_id` are None when it names no span."""

    time_ns: int = 0
    """The record's time, else its observed time, else 0."""
    name: str = ""
    """The event name: the field, else the attribute `event.name`, else empty."""
    trace_id: str | None = None
    span_id: str | None = None
    body: AttributeValue = None
    attributes: Attributes = {}
    severity_number: int = 0
    severity_text: str = ""
    resource: Resource = Resource()
    scope: Scope = Scope()


class Batch(Struct, frozen=True, kw_only=True):
    """What one piece of input held: an export request, a line, a file."""

    spans: tuple[Span, ...] = ()
    logs: tuple[LogRecord, ...] = ()
    sessions: tuple[Session, ...] = ()
    """Session files met among the traces."""
    notes: tuple[Note, ...] = ()
    skipped: int = 0
    """Pieces that hold no traces and no logs (metrics requests), passed over on purpose."""
    place: str | None = None
    """The file it came from, as the user named it."""
    rejected: int = 0
    """Spans and log records that could not be read; the notes say why. What a receiver tells its client."""
