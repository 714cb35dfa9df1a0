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
        self._known: dict[tuple[int, int], tuple[Span, dict[str, int]]] = {}

    def numbers_of(self, span: Span) -> dict[str, int]:
        """Return the numbers of the span's resource and scope, without those that say nothing."""
        known = self._known.get((id(span.resource), id(span.scope)))
        return self._numbers_of(span) if known is None else known[1]

    def _numbers_of(self, span: Span) -> dict[str, int]:
        found = {
            name: number
            for name, thing, told in (("resource", span.resource, self.resources), ("scope", span.scope, self.scopes))
            if (number := self._number(thing, told)) is not None
        }
        self._known[id(span.resource), id(span.scope)] = (span, found)  # holds both, so that their id() stays their own
        return found

    def _number(self, thing: Resource | Scope, told: list[dict[str, Any]]) -> int | None:
        parts = {name: getattr(thing, name) for name in thing.__struct_fields__}
        parts["attributes"] = dict(sorted(parts["attributes"].items()))
        record = {key: as_json(value) for key, value in parts.items() if value}
        number = self._numbers.setdefault(repr((type(thing), record)), len(told)) if record else None
        if number == len(told):
            told.append(record)
        return number


def otel_record(node: Node, shared: Shared) -> dict[str, Any]:
    """Return the span as JSON, empty parts left out; times are those it came with, before any repair."""
    span = node.span
    told = _head(span)
    if span.attributes:
        told["attributes"] = attributes_as_json(span.attributes)
    _tell_rest(told, span)
    if node.from_log:
        told["log_record"] = True
    told |= shared.numbers_of(span)
    return told


def _head(span: Span) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": span.name,
        "kind": int(span.kind),
        "parent_span_id": span.parent_span_id,
        "start_time_unix_nano": span.start_ns,
        "end_time_unix_nano": span.end_ns,
    }
    if not all(told.values()):
        told = {key: value for key, value in told.items() if value}
    if span.status:
        told["status"] = int(span.status)
    if span.status_message:
        told["status_message"] = span.status_message
    return told


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
