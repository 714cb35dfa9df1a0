"""Is everything in a batch what its type says? Structs do not check themselves."""

import re
from collections.abc import Iterator
from typing import Any

from critiqor_otel.span import Batch, LogRecord, Resource, Scope, Span, SpanKind, StatusCode

__all__ = ["faults_of"]

TRACE_ID, SPAN_ID = re.compile(r"(?!0{32})[0-9a-f]{32}"), re.compile(r"(?!0{16})[0-9a-f]{16}")
DEEPEST = 110


def faults_of(batch: Batch) -> list[str]:
    """Return what is not as it should be."""
    return [
        *(fault for span in batch.spans for fault in _of_span(span)),
        *(fault for log in batch.logs for fault in _of_log(log)),
        *(f"note {note!r}" for note in batch.notes if type(note.code) is not str or not _is_text(note.message)),
    ]


def _of_span(span: Span) -> Iterator[str]:
    texts = {name: getattr(span, name) for name in ("name", "status_message", "trace_state")}
    numbers = ("start_ns", "end_ns", "flags", "dropped_attributes", "dropped_events", "dropped_links")
    yield from (f"{name} {text!r:.80}" for name, text in texts.items() if not _is_text(text))
    yield from (f"{name} {getattr(span, name)!r:.80}" for name in numbers if not _is_count(getattr(span, name)))
    yield from _of_ids(span.trace_id, span.span_id)
    if span.parent_span_id is not None and not SPAN_ID.fullmatch(span.parent_span_id):
        yield f"parent {span.parent_span_id!r}"
    if not isinstance(span.kind, SpanKind) or not isinstance(span.status, StatusCode):
        yield f"kind {span.kind!r} or status {span.status!r}"
    yield from _of_attributes(span.attributes)
    for event in span.events:
        if not _is_text(event.name) or not _is_count(event.time_ns):
            yield f"event {event!r:.80}"
        yield from _of_attributes(event.attributes)
    for link in span.links:
        yield from _of_ids(link.trace_id, link.span_id)
        yield from _of_attributes(link.attributes)
    yield from _of_origin(span.resource, span.scope)


def _of_log(log: LogRecord) -> Iterator[str]:
    if not _is_text(log.name) or not _is_text(log.severity_text) or not _is_count(log.time_ns):
        yield f"log record {log!r:.120}"
    if not _is_count(log.severity_number):
        yield f"severity {log.severity_number!r}"
    yield from _of_value(log.body, 0)
    yield from _of_attributes(log.attributes)
    yield from _of_origin(log.resource, log.scope)


def _of_ids(trace_id: str, span_id: str) -> Iterator[str]:
    if not TRACE_ID.fullmatch(trace_id) or not SPAN_ID.fullmatch(span_id):
        yield f"ids {trace_id!r} {span_id!r}"


def _of_origin(resource: Resource, scope: Scope) -> Iterator[str]:
    texts = (resource.schema_url, scope.name, scope.version, scope.schema_url)
    yield from (f"origin {text!r:.80}" for text in texts if not _is_text(text))
    yield from _of_attributes(resource.attributes)
    yield from _of_attributes(scope.attributes)


def _of_attributes(attributes: Any, depth: int = 0) -> Iterator[str]:
    for key, value in attributes.items():
        if not _is_text(key):
            yield f"key {key!r:.80}"
        yield from _of_value(value, depth)


def _of_value(value: Any, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        yield "a value nested too deep"
    elif isinstance(value, dict):
        yield from _of_attributes(value, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _of_value(item, depth + 1)
    elif isinstance(value, str):
        if not _is_text(value):
            yield f"text {value!r:.80}"
    elif not isinstance(value, bool | int | float | bytes | None) or (type(value) is int and abs(value) >= 1 << 64):
        yield f"value {value!r:.80}"


def _is_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 64
