"""The official ways to write spans and log records down: protobuf, and JSON of two spellings."""

import base64
import json
from collections.abc import Iterable
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from critiqor_otel.span import LogRecord, Span

__all__ = ["any_value", "library_json", "log_request", "standard_json", "trace_request"]

ID_FIELDS = ("traceId", "spanId", "parentSpanId")


def any_value(value: Any) -> AnyValue:  # noqa: C901  # a case a type
    encoded = AnyValue()
    match value:
        case None:
            pass
        case bool():
            encoded.bool_value = value
        case str():
            encoded.string_value = value
        case int():
            encoded.int_value = value
        case float():
            encoded.double_value = value
        case bytes():
            encoded.bytes_value = value
        case list():
            encoded.array_value.SetInParent()
            encoded.array_value.values.extend(any_value(item) for item in value)
        case dict():
            encoded.kvlist_value.SetInParent()
            encoded.kvlist_value.values.extend(key_values(value))
    return encoded


def key_values(pairs: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=any_value(value)) for key, value in pairs.items()]


def trace_request(spans: Iterable[Span]) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    for span in spans:
        block = request.resource_spans.add(schema_url=span.resource.schema_url)
        block.resource.attributes.extend(key_values(span.resource.attributes))
        part = block.scope_spans.add(schema_url=span.scope.schema_url)
        part.scope.name, part.scope.version = span.scope.name, span.scope.version
        part.scope.attributes.extend(key_values(span.scope.attributes))
        encoded = part.spans.add(
            trace_id=bytes.fromhex(span.trace_id),
            span_id=bytes.fromhex(span.span_id),
            parent_span_id=bytes.fromhex(span.parent_span_id or ""),
            name=span.name,
            kind=int(span.kind),  # type: ignore[arg-type]
            start_time_unix_nano=span.start_ns,
            end_time_unix_nano=span.end_ns,
            attributes=key_values(span.attributes),
            trace_state=span.trace_state,
            flags=span.flags,
            dropped_attributes_count=span.dropped_attributes,
            dropped_events_count=span.dropped_events,
            dropped_links_count=span.dropped_links,
        )
        encoded.status.code = int(span.status)  # type: ignore[assignment]
        encoded.status.message = span.status_message
        for event in span.events:
            encoded.events.add(time_unix_nano=event.time_ns, name=event.name, attributes=key_values(event.attributes))
        for link in span.links:
            encoded.links.add(
                trace_id=bytes.fromhex(link.trace_id),
                span_id=bytes.fromhex(link.span_id),
                attributes=key_values(link.attributes),
            )
    return request


def log_request(logs: Iterable[LogRecord]) -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    for log in logs:
        block = request.resource_logs.add(schema_url=log.resource.schema_url)
        block.resource.attributes.extend(key_values(log.resource.attributes))
        part = block.scope_logs.add(schema_url=log.scope.schema_url)
        part.scope.name, part.scope.version = log.scope.name, log.scope.version
        part.scope.attributes.extend(key_values(log.scope.attributes))
        part.log_records.add(
            time_unix_nano=log.time_ns,
            event_name=log.name,
            trace_id=bytes.fromhex(log.trace_id or ""),
            span_id=bytes.fromhex(log.span_id or ""),
            body=any_value(log.body),
            attributes=key_values(log.attributes),
            severity_number=log.severity_number,  # type: ignore[arg-type]
            severity_text=log.severity_text,
        )
    return request


def hex_ids(value: Any) -> Any:
    """Return the JSON of a protobuf library as OTLP spells it: ids in hex."""
    if isinstance(value, list):
        return [hex_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64decode(item).hex() if key in ID_FIELDS and isinstance(item, str) else hex_ids(item)
        for key, item in value.items()
    }


def standard_json(message: Any) -> bytes:
    return json.dumps(hex_ids(MessageToDict(message, use_integers_for_enums=True))).encode()


def library_json(message: Any) -> bytes:
    return json.dumps(MessageToDict(message, preserving_proto_field_name=True)).encode()
