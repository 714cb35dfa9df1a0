"""Neutral spans become spans of the OpenTelemetry SDK, for any exporter that takes those."""

from collections.abc import Iterable, Iterator
from typing import Any

from opentelemetry.sdk.resources import Resource as SdkResource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link as SdkLink
from opentelemetry.trace import SpanContext, Status, TraceFlags, TraceState
from opentelemetry.trace import SpanKind as SdkKind
from opentelemetry.trace import StatusCode as SdkCode

from critiqor_otel.span import Link, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["sdk_spans"]

_REMOTE = 0x200  # SpanFlags of OTLP 1.x: the parent is remote


def sdk_spans(spans: Iterable[Span]) -> Iterator[ReadableSpan]:
    """Yield each span as the SDK has it after its end, its ids and times kept.

    The SDK keeps a description on failed spans only: the others lose theirs.
    """
    known: dict[int, tuple[object, Any]] = {}
    for span in spans:
        yield ReadableSpan(
            name=span.name,
            context=_context(span.trace_id, span.span_id, trace_state=span.trace_state),
            parent=_parent(span),
            resource=_once(known, span.resource, _resource),
            attributes=dict(span.attributes),
            events=tuple(map(_event, span.events)),
            links=tuple(map(_link, span.links)),
            kind=SdkKind(max(span.kind, SpanKind.INTERNAL) - 1),
            status=_status(span),
            start_time=span.start_ns,
            end_time=span.end_ns,
            instrumentation_scope=_once(known, span.scope, _scope),
        )


def _once(known: dict[int, tuple[object, Any]], thing: Any, make: Any) -> Any:
    if id(thing) not in known:
        known[id(thing)] = (thing, make(thing))
    return known[id(thing)][1]


def _context(trace_id: str, span_id: str, *, is_remote: bool = False, trace_state: str = "") -> SpanContext:
    state = TraceState.from_header([trace_state]) if trace_state else None
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote, TraceFlags(TraceFlags.SAMPLED), state)


def _parent(span: Span) -> SpanContext | None:
    if span.parent_span_id is None:
        return None
    return _context(span.trace_id, span.parent_span_id, is_remote=bool(span.flags & _REMOTE))


def _resource(resource: Resource) -> SdkResource:
    attributes: dict[str, Any] = dict(resource.attributes)
    return SdkResource(attributes, resource.schema_url or None)


def _scope(scope: Scope) -> InstrumentationScope:
    attributes: dict[str, Any] = dict(scope.attributes)
    return InstrumentationScope(scope.name, scope.version, scope.schema_url, attributes or None)


def _event(event: SpanEvent) -> Event:
    attributes: dict[str, Any] = dict(event.attributes)
    return Event(event.name, attributes, event.time_ns)


def _link(link: Link) -> SdkLink:
    attributes: dict[str, Any] = dict(link.attributes)
    return SdkLink(_context(link.trace_id, link.span_id), attributes)


def _status(span: Span) -> Status:
    if span.status is StatusCode.ERROR:
        return Status(SdkCode.ERROR, span.status_message or None)
    return Status(SdkCode(int(span.status)))
