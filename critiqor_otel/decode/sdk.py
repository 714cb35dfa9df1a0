"""Spans of the OpenTelemetry SDK become neutral spans, as they would arrive over OTLP.

The SDK's private fields spare a copy of every mapping; where a release has none of that name, the public ones serve.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import Link as SdkLink
from opentelemetry.trace import SpanContext

from analyzer.lenient import is_mapping, is_sequence
from analyzer.session.shapes import is_object
from critiqor_otel.span import Attributes, AttributeValue, Link, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["SdkReader", "attributes_of", "has_more", "held_attributes", "held_drops", "held_events", "held_links"]

# SpanFlags of OTLP 1.x: whether the parent is remote is known, and that it is.
_KNOWN, _REMOTE = 0x100, 0x200
_KINDS = tuple(SpanKind)[1:]  # the SDK counts from INTERNAL = 0
_CODES = tuple(StatusCode)
_PLAIN = frozenset((str, int, float, bool, bytes, type(None)))
_LIMIT = 256  # resources and scopes held; a process has a handful


class SdkReader:
    """Reads spans; those of one resource or scope share the neutral one."""

    def __init__(self) -> None:
        """Begin with no resource or scope known."""
        self._resources: dict[int, tuple[object, Resource]] = {}
        self._scopes: dict[int, tuple[object, Scope]] = {}

    def span(self, span: ReadableSpan) -> Span:
        """Return the neutral span; one that has not ended has the end 0."""
        context = span.get_span_context()
        if context is None:
            context = _NO_CONTEXT
        parent, status, events, links = span.parent, span.status, held_events(span), held_links(span)
        return Span(
            trace_id=f"{context.trace_id:032x}",
            span_id=f"{context.span_id:016x}",
            parent_span_id=None if parent is None else f"{parent.span_id:016x}",
            name=span.name,
            kind=_KINDS[span.kind.value],
            start_ns=span.start_time or 0,
            end_ns=span.end_time or 0,
            attributes=attributes_of(held_attributes(span)),
            status=_CODES[status.status_code.value],
            status_message=status.description or "",
            events=tuple([_event(event) for event in events]) if events else (),
            links=tuple([_link(link) for link in links]) if links else (),
            trace_state=context.trace_state.to_header() if context.trace_state else "",
            flags=_KNOWN if parent is None or not parent.is_remote else _KNOWN | _REMOTE,
            dropped_attributes=span.dropped_attributes,
            dropped_events=span.dropped_events,
            dropped_links=span.dropped_links,
            resource=self._resource(span),
            scope=self._scope(span),
        )

    def _resource(self, span: ReadableSpan) -> Resource:
        resource = span.resource
        known = self._resources.get(id(resource))
        if known is None:
            neutral = Resource(attributes_of(resource.attributes), resource.schema_url or "")
            # Holding the thing keeps its id() its own.
            known = _room(self._resources)[id(resource)] = (resource, neutral)
        return known[1]

    def _scope(self, span: ReadableSpan) -> Scope:
        scope = span.instrumentation_scope
        if scope is None:
            return _NO_SCOPE
        known = self._scopes.get(id(scope))
        if known is None:
            held = attributes_of(scope.attributes or {})
            neutral = Scope(scope.name, scope.version or "", held, scope.schema_url or "")
            known = _room(self._scopes)[id(scope)] = (scope, neutral)
        return known[1]


_NO_CONTEXT = SpanContext(0, 0, is_remote=False)
_NO_SCOPE = Scope()
_T = TypeVar("_T")


def _room(known: dict[int, _T]) -> dict[int, _T]:
    if len(known) >= _LIMIT:
        known.clear()
    return known


def attributes_of(held: Mapping[str, Any]) -> Attributes:
    """Return the attributes with sequences as lists and mappings as dicts."""
    return {key: value if type(value) in _PLAIN else _value(value) for key, value in held.items()}


def held_attributes(span: ReadableSpan) -> Mapping[str, Any]:
    """Return the span's attributes as they lie there, without a copy where that can be had."""
    bounded = getattr(span, "_attributes", None)
    private = getattr(bounded, "_dict", None)
    if is_object(private) and getattr(bounded, "_immutable", False):
        return private
    return span.attributes or {}


def held_events(span: ReadableSpan) -> Sequence[Event]:
    """Return the span's events, none without asking its lock."""
    private = getattr(span, "_events", None)
    return () if private is not None and not len(private) else span.events


def held_links(span: ReadableSpan) -> Sequence[SdkLink]:
    """Return the span's links, none without asking its lock."""
    private = getattr(span, "_links", None)
    return () if private is not None and not len(private) else span.links


def has_more(span: ReadableSpan) -> bool:
    """Return whether the span has events or links, or lost anything to the SDK's limits; most have and did not."""
    private: Any = span
    try:
        events, links = private._events, private._links  # noqa: SLF001
        return bool(events._dq or links._dq or events.dropped or links.dropped or private._attributes.dropped)  # noqa: SLF001
    except AttributeError:  # a span that was made otherwise, or of a release with other names
        return bool(span.events or span.links or any(held_drops(span)))


def held_drops(span: ReadableSpan) -> tuple[int, int, int]:
    """Return how many attributes, events and links the SDK's limits cost the span."""
    private: Any = span
    try:
        return private._attributes.dropped, private._events.dropped, private._links.dropped  # noqa: SLF001
    except AttributeError:  # a span that was made otherwise, or of a release with other names
        return span.dropped_attributes, span.dropped_events, span.dropped_links


def _value(value: Any) -> AttributeValue:
    if isinstance(value, str | bool | int | float | bytes) or value is None:
        return value
    if is_mapping(value):
        return {str(key): _value(item) for key, item in value.items()}
    if is_sequence(value):
        return [_value(item) for item in value]
    return str(value)


def _event(event: Event) -> SpanEvent:
    return SpanEvent(event.timestamp, event.name, attributes_of(event.attributes or {}))


def _link(link: SdkLink) -> Link:
    context = link.context
    return Link(f"{context.trace_id:032x}", f"{context.span_id:016x}", attributes_of(link.attributes or {}))
