"""Events that came from spans become those spans again: the record of each span stands in its first event.

The spans are the original ones, ids and all; each brings its events besides, so that they come back as they were.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from analyzer.session.accessors import payload_of
from analyzer.session.model import Event, Json, Session, SpanRef
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.conventions.carriage import END_EVENT, END_SEQUENCE, EVENT, RUN_ID, SEQUENCE, event_text
from critiqor_otel.emit.derived_ids import span_id_of
from critiqor_otel.emit.genai import happening_name
from critiqor_otel.emit.open_span import EVENTS_PER_SPAN
from critiqor_otel.emit.plain_values import attribute_of_json, plain_text, text_of_json
from critiqor_otel.span import Link, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["Numbered", "OriginalSpan", "original_spans"]

_HEX = re.compile(r"(?!0+$)[0-9a-f]+", re.ASCII)
_TRACE, _SPAN = 32, 16
_MOST_ATTRIBUTES = 128  # OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, the SDK's default
_OURS = 6  # attributes that may come to the original ones, the session's head among them
_LARGEST = (1 << 64) - 1

Numbered = tuple[int, Event]


class OriginalSpan(Struct):
    """A span as it was, and the events that it told, with their places in the run."""

    span: Span
    events: list[Numbered]

    def spans(self, run_id: str) -> Iterator[Span]:
        """Yield the span with its events on it, and the spans that continue it where it has no room for them."""
        own = self.span
        attributes: dict[str, Any] = {**own.attributes, RUN_ID: text_of_json(run_id)}
        rest = self.events
        if len(own.attributes) + _OURS <= _MOST_ATTRIBUTES:
            attributes |= _on_attributes(rest[0], EVENT, SEQUENCE)
            rest = rest[1:]
            if rest:
                attributes |= _on_attributes(rest[-1], END_EVENT, END_SEQUENCE)
                rest = rest[:-1]
        room = max(EVENTS_PER_SPAN - len(own.events), 0)
        more = tuple(_span_event(numbered, own.start_ns) for numbered in rest[:room])
        yield msgspec.structs.replace(own, attributes=attributes, events=(*own.events, *more))
        for number, start in enumerate(range(room, len(rest), EVENTS_PER_SPAN), 1):
            yield _continuation(own, run_id, number, rest[start : start + EVENTS_PER_SPAN])


def original_spans(session: Session) -> tuple[dict[SpanRef, OriginalSpan], list[Numbered]]:
    """Return the spans that the session's events came from, and the events of no span that is recorded."""
    records = _Records(session.extra)
    found: dict[SpanRef, OriginalSpan] = {}
    others: list[Numbered] = []
    for number, event in enumerate(session.events):
        if event.span is not None and event.span not in found:
            span = records.span(event.span, payload_of(event).get("otel"))
            if span is not None:
                found[event.span] = OriginalSpan(span, [])
        home = None if event.span is None else found.get(event.span)
        (others if home is None else home.events).append((number, event))
    return found, others


class _Records:
    """Reads the records of spans, which point at resources and scopes of the session by number."""

    def __init__(self, extra: Mapping[str, Json]) -> None:
        self._resources = [_resource(one) for one in _objects(extra.get("resources"))]
        self._scopes = [_scope(one) for one in _objects(extra.get("scopes"))]

    def span(self, ref: SpanRef, record: Json) -> Span | None:
        """Return the span of a record, or None where there is none, or none that can stand on the wire."""
        if not is_object(record) or not _is_id(ref.trace_id, _TRACE) or not _is_id(ref.span_id, _SPAN):
            return None
        parent = record.get("parent_span_id")
        return Span(
            trace_id=ref.trace_id,
            span_id=ref.span_id,
            parent_span_id=parent if _is_id(parent, _SPAN) else None,
            name=_text(record.get("name")),
            kind=SpanKind(_choice(record.get("kind"), len(SpanKind))),
            start_ns=_count(record.get("start_time_unix_nano")),
            end_ns=_count(record.get("end_time_unix_nano")),
            attributes=_attributes(record.get("attributes")),
            status=StatusCode(_choice(record.get("status"), len(StatusCode))),
            status_message=_text(record.get("status_message")),
            events=tuple(_event(one) for one in _objects(record.get("events"))),
            links=tuple(link for one in _objects(record.get("links")) if (link := _link(one)) is not None),
            trace_state=_text(record.get("trace_state")),
            flags=_count(record.get("flags")) & 0xFFFFFFFF,
            resource=_at(self._resources, record.get("resource"), Resource()),
            scope=_at(self._scopes, record.get("scope"), Scope()),
        )


def _on_attributes(numbered: Numbered, text: str, sequence: str) -> dict[str, Any]:
    return {text: event_text(numbered[1]), sequence: numbered[0]}


def _span_event(numbered: Numbered, otherwise_ns: int) -> SpanEvent:
    number, event = numbered
    time_ns = otherwise_ns if event.time_ns is None else min(max(event.time_ns, 0), _LARGEST)
    return SpanEvent(time_ns, happening_name(event), {EVENT: event_text(event), SEQUENCE: number})


def _continuation(own: Span, run_id: str, number: int, events: Iterable[Numbered]) -> Span:
    return Span(
        trace_id=own.trace_id,
        span_id=span_id_of(run_id, f"more {number} of {own.trace_id} {own.span_id}"),
        parent_span_id=own.span_id,
        name=f"{own.name} (continued)",
        kind=SpanKind.INTERNAL,
        start_ns=own.start_ns,
        end_ns=own.end_ns or own.start_ns,
        attributes={RUN_ID: text_of_json(run_id)},
        events=tuple(_span_event(numbered, own.start_ns) for numbered in events),
        resource=own.resource,
        scope=own.scope,
    )


def _resource(record: dict[str, Any]) -> Resource:
    return Resource(_attributes(record.get("attributes")), _text(record.get("schema_url")))


def _scope(record: dict[str, Any]) -> Scope:
    return Scope(
        _text(record.get("name")),
        _text(record.get("version")),
        _attributes(record.get("attributes")),
        _text(record.get("schema_url")),
    )


def _event(record: dict[str, Any]) -> SpanEvent:
    return SpanEvent(
        _count(record.get("time_unix_nano")),
        _text(record.get("name")),
        _attributes(record.get("attributes")),
        _count(record.get("dropped_attributes_count")),
    )


def _link(record: dict[str, Any]) -> Link | None:
    trace_id, span_id = record.get("trace_id"), record.get("span_id")
    if not isinstance(trace_id, str) or not isinstance(span_id, str):
        return None
    if not _is_id(trace_id, _TRACE) or not _is_id(span_id, _SPAN):
        return None
    return Link(
        trace_id,
        span_id,
        _attributes(record.get("attributes")),
        trace_state=_text(record.get("trace_state")),
        flags=_count(record.get("flags")) & 0xFFFFFFFF,
        dropped_attributes=_count(record.get("dropped_attributes_count")),
    )


def _attributes(record: Json) -> dict[str, Any]:
    if not is_object(record):
        return {}
    return {plain_text(key): attribute_of_json(value) for key, value in record.items()}


def _is_id(value: Json, digits: int) -> bool:
    return isinstance(value, str) and len(value) == digits and _HEX.fullmatch(value) is not None


def _objects(value: Json) -> list[dict[str, Any]]:
    return [one for one in value if is_object(one)] if is_list(value) else []


def _text(value: Json) -> str:
    return plain_text(value) if isinstance(value, str) else ""


def _count(value: Json) -> int:
    return value if isinstance(value, int) and 0 <= value <= _LARGEST else 0


def _choice(value: Json, count: int) -> int:
    return value if isinstance(value, int) and 0 <= value < count else 0


def _at(known: list[Any], number: Json, otherwise: Any) -> Any:
    return known[number] if isinstance(number, int) and 0 <= number < len(known) else otherwise
