"""What Jaeger does not keep of a span, one entry a loss: what a span is once Jaeger's memory store had it.

Measured against Jaeger 1.76; a list or an object comes back as its JSON text.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from critiqor_otel.span import Attributes, Resource, Scope, Span

__all__ = ["LOSSES", "as_jaeger_keeps"]

_MICROSECOND = 1_000
_NO_SERVICE = "missing-service-name"
replace = msgspec.structs.replace


def _nanoseconds(span: Span) -> Span:
    start_ns = span.start_ns // _MICROSECOND * _MICROSECOND
    lasting = (span.end_ns - span.start_ns) // _MICROSECOND * _MICROSECOND
    events = (replace(event, time_ns=event.time_ns // _MICROSECOND * _MICROSECOND) for event in span.events)
    return replace(span, start_ns=start_ns, end_ns=start_ns + lasting, events=tuple(events))


def _types_of_lists_and_objects(span: Span) -> Span:
    return replace(
        span,
        attributes=_flat(span.attributes),
        events=tuple(replace(event, attributes=_flat(event.attributes)) for event in span.events),
        resource=replace(span.resource, attributes=_flat(span.resource.attributes)),
    )


def _flat(attributes: Attributes) -> Attributes:
    return {key: _go_json(value) if isinstance(value, list | dict) else value for key, value in attributes.items()}


def _go_json(value: Any) -> str:
    """Return JSON as Go writes it: keys sorted, what means something in HTML escaped."""
    text = msgspec.json.encode(value, order="sorted").decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _flags(span: Span) -> Span:
    return replace(span, flags=0, links=tuple(replace(link, flags=0) for link in span.links))


def _attributes_of_links(span: Span) -> Span:
    return replace(span, links=tuple(replace(link, attributes={}, trace_state="") for link in span.links))


def _attributes_of_scopes(span: Span) -> Span:
    return replace(span, scope=Scope(span.scope.name, span.scope.version, {}, span.scope.schema_url))


def _schema_urls(span: Span) -> Span:
    scope = replace(span.scope, schema_url="")
    return replace(span, scope=scope, resource=replace(span.resource, schema_url=""))


def _the_place_of_the_service_name(span: Span) -> Span:
    held = dict(span.resource.attributes)
    service: Any = held.pop("service.name", _NO_SERVICE)
    return replace(span, resource=Resource({"service.name": service, **held}, span.resource.schema_url))


LOSSES: Mapping[str, Callable[[Span], Span]] = {
    "nanoseconds: microseconds are kept, of the start and of the duration": _nanoseconds,
    "that an attribute is a list or an object": _types_of_lists_and_objects,
    "flags": _flags,
    "attributes and trace state of links": _attributes_of_links,
    "attributes of scopes": _attributes_of_scopes,
    "schema URLs": _schema_urls,
    "that a resource has no service name; that it stands elsewhere than first": _the_place_of_the_service_name,
}


def as_jaeger_keeps(span: Span) -> Span:
    """Return the span with all losses."""
    for lose in LOSSES.values():
        span = lose(span)
    return span
