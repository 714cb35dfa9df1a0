"""The span itself inside its first event, so that nothing it carried is lost."""

from collections.abc import Iterable
from typing import Any

from critiqor_otel.reconstruct.node import Node
from critiqor_otel.reconstruct.values import as_json, attributes_as_json
from critiqor_otel.span import Link, Resource, Scope, SpanEvent

__all__ = ["Shared", "otel_record"]


class Shared:
    """What many spans have in common, told once a session and pointed at by number."""

    def __init__(self, resources: Iterable[dict[str, Any]] = (), scopes: Iterable[dict[str, Any]] = ()) -> None:
        """Begin with what the session has told already."""
        self.resources: list[dict[str, Any]] = list(resources)
        self.scopes: list[dict[str, Any]] = list(scopes)
        self._numbers: dict[str, int] = {}
        self._known: dict[int, tuple[object, int]] = {}

    def resource(self, resource: Resource) -> int:
        """Return the number of the resource."""
        return self._number(resource, self.resources, attributes=resource.attributes, schema_url=resource.schema_url)

    def scope(self, scope: Scope) -> int:
        """Return the number of the scope."""
        return self._number(
            scope,
            self.scopes,
            name=scope.name,
            version=scope.version,
            attributes=scope.attributes,
            schema_url=scope.schema_url,
        )

    def _number(self, thing: Resource | Scope, told: list[dict[str, Any]], **parts: Any) -> int:
        known = self._known.get(id(thing))
        if known is not None:
            return known[1]
        parts["attributes"] = dict(sorted(parts["attributes"].items()))
        record = {key: as_json(value) for key, value in parts.items() if value}
        number = self._numbers.setdefault(repr((type(thing), record)), len(told))
        if number == len(told):
            told.append(record)
        self._known[id(thing)] = (thing, number)  # holds the thing, so that its id() stays its own
        return number


def otel_record(node: Node, shared: Shared) -> dict[str, Any]:
    """Return the span as JSON, empty parts left out; times are those it came with, before any repair."""
    span = node.span
    record = {
        "name": span.name,
        "kind": int(span.kind),
        "parent_span_id": span.parent_span_id,
        "start_time_unix_nano": span.start_ns,
        "end_time_unix_nano": span.end_ns,
        "status": int(span.status),
        "status_message": span.status_message,
        "attributes": attributes_as_json(span.attributes),
        "events": [_event(event) for event in span.events],
        "links": [_link(link) for link in span.links],
        "trace_state": span.trace_state,
        "flags": span.flags,
        "dropped_attributes_count": span.dropped_attributes,
        "dropped_events_count": span.dropped_events,
        "dropped_links_count": span.dropped_links,
        "log_record": node.from_log,
    }
    told: dict[str, Any] = {key: value for key, value in record.items() if value}
    if span.resource.attributes or span.resource.schema_url:
        told["resource"] = shared.resource(span.resource)
    if span.scope.name or span.scope.version or span.scope.attributes or span.scope.schema_url:
        told["scope"] = shared.scope(span.scope)
    return told


def _event(event: SpanEvent) -> dict[str, Any]:
    told: dict[str, Any] = {
        "time_unix_nano": event.time_ns,
        "name": event.name,
        "attributes": attributes_as_json(event.attributes),
    }
    if event.dropped_attributes:
        told["dropped_attributes_count"] = event.dropped_attributes
    return told


def _link(link: Link) -> dict[str, Any]:
    told = {
        "trace_id": link.trace_id,
        "span_id": link.span_id,
        "attributes": attributes_as_json(link.attributes),
        "trace_state": link.trace_state,
        "flags": link.flags,
        "dropped_attributes_count": link.dropped_attributes,
    }
    return {key: value for key, value in told.items() if value}
