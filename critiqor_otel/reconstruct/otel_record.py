"""The span itself inside its first event, so that nothing it carried is lost."""

from collections.abc import Iterable
from typing import Any

from critiqor_otel.reconstruct.node import Node
from critiqor_otel.reconstruct.values import as_json, attributes_as_json
from critiqor_otel.span import Link, Resource, Scope, Span, SpanEvent

__all__ = ["Shared", "otel_record"]


class Shared:
    """What many spans have in common, told once a session and pointed at by number."""

    def __init__(self, resources: Iterable[dict[str, Any]] = (), scopes: Iterable[dict[str, Any]] = ()) -> None:
        """Begin with what the session has told already."""
        self.resources: list[dict[str, Any]] = list(resources)
        self.scopes: list[dict[str, Any]] = list(scopes)
        self._numbers: dict[str, int] = {}
        self._known: dict[int, tuple[object, int | None]] = {}

    def resource(self, resource: Resource) -> int | None:
        """Return the number of the resource, None of one that says nothing."""
        known = self._known.get(id(resource))
        return self._number(resource, self.resources) if known is None else known[1]

    def scope(self, scope: Scope) -> int | None:
        """Return the number of the scope, None of one that says nothing."""
        known = self._known.get(id(scope))
        return self._number(scope, self.scopes) if known is None else known[1]

    def _number(self, thing: Resource | Scope, told: list[dict[str, Any]]) -> int | None:
        parts = {name: getattr(thing, name) for name in thing.__struct_fields__}
        parts["attributes"] = dict(sorted(parts["attributes"].items()))
        record = {key: as_json(value) for key, value in parts.items() if value}
        number = self._numbers.setdefault(repr((type(thing), record)), len(told)) if record else None
        if number == len(told):
            told.append(record)
        self._known[id(thing)] = (thing, number)  # holds the thing, so that its id() stays its own
        return number


def otel_record(node: Node, shared: Shared) -> dict[str, Any]:
    """Return the span as JSON, empty parts left out; times are those it came with, before any repair."""
    span = node.span
    told: dict[str, Any] = {}
    _tell_head(told, span)
    if span.attributes:
        told["attributes"] = attributes_as_json(span.attributes)
    _tell_rest(told, span)
    if node.from_log:
        told["log_record"] = True
    if (resource := shared.resource(span.resource)) is not None:
        told["resource"] = resource
    if (scope := shared.scope(span.scope)) is not None:
        told["scope"] = scope
    return told


def _tell_head(told: dict[str, Any], span: Span) -> None:
    if span.name:
        told["name"] = span.name
    if span.kind:
        told["kind"] = int(span.kind)
    if span.parent_span_id:
        told["parent_span_id"] = span.parent_span_id
    if span.start_ns:
        told["start_time_unix_nano"] = span.start_ns
    if span.end_ns:
        told["end_time_unix_nano"] = span.end_ns
    if span.status:
        told["status"] = int(span.status)
    if span.status_message:
        told["status_message"] = span.status_message


def _tell_rest(told: dict[str, Any], span: Span) -> None:
    if span.events:
        told["events"] = [_event(event) for event in span.events]
    if span.links:
        told["links"] = [_link(link) for link in span.links]
    if span.trace_state:
        told["trace_state"] = span.trace_state
    if span.flags:
        told["flags"] = span.flags
    if span.dropped_attributes:
        told["dropped_attributes_count"] = span.dropped_attributes
    if span.dropped_events:
        told["dropped_events_count"] = span.dropped_events
    if span.dropped_links:
        told["dropped_links_count"] = span.dropped_links


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
