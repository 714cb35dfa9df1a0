"""All that a span carried stands in its session."""

from collections.abc import Callable

import msgspec
import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from critiqor_otel.decode import otlp_json, otlp_protobuf
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Batch


def attribute(key: str, text: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=text))


def request() -> ExportTraceServiceRequest:
    made = ExportTraceServiceRequest()
    block = made.resource_spans.add(schema_url="https://schemas.example/resource")
    block.resource.attributes.append(attribute("service.name", "agent"))
    scoped = block.scope_spans.add(schema_url="https://schemas.example/scope")
    scoped.scope.name, scoped.scope.version = "library", "1.2"
    scoped.scope.attributes.append(attribute("kind", "test"))
    span = scoped.spans.add(
        trace_id=bytes(range(16)),
        span_id=bytes(range(8, 16)),
        trace_state="vendor=1",
        parent_span_id=bytes(range(1, 9)),
        flags=257,
        name="invoke_agent helper",
        kind=Span.SPAN_KIND_CLIENT,
        start_time_unix_nano=1_760_000_000_000_000_001,
        end_time_unix_nano=1_760_000_000_000_000_009,
        dropped_attributes_count=1,
        dropped_events_count=2,
        dropped_links_count=3,
        status=Status(code=Status.STATUS_CODE_ERROR, message="it broke"),
    )
    span.attributes.append(attribute("gen_ai.operation.name", "invoke_agent"))
    happening = span.events.add(time_unix_nano=5, name="happening", dropped_attributes_count=4)
    happening.attributes.append(attribute("what", "this"))
    link = span.links.add(
        trace_id=bytes(range(2, 18)),
        span_id=bytes(range(3, 11)),
        trace_state="other=2",
        flags=1,
        dropped_attributes_count=5,
    )
    link.attributes.append(attribute("why", "that"))
    return made


def from_protobuf() -> Batch:
    return otlp_protobuf.decode_traces(request().SerializeToString())


def from_json() -> Batch:
    """The same as OTLP JSON: hex ids, enums as numbers."""
    told = MessageToDict(request(), use_integers_for_enums=True)
    span = told["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    for holder, keys in ((span, ("traceId", "spanId", "parentSpanId")), (span["links"][0], ("traceId", "spanId"))):
        holder.update({key: msgspec.json.decode(f'"{holder[key]}"', type=bytes).hex() for key in keys})
    return otlp_json.decode_traces(msgspec.json.encode(told))


@pytest.mark.parametrize("read", [from_protobuf, from_json])
def test_every_field_of_a_span_stands_in_its_first_event(read: Callable[[], Batch]) -> None:
    (session,) = reconstruct(read().spans).sessions
    first = session.events[0]

    assert first.payload["otel"] == {
        "name": "invoke_agent helper",
        "kind": 3,
        "parent_span_id": "0102030405060708",
        "start_time_unix_nano": 1_760_000_000_000_000_001,
        "end_time_unix_nano": 1_760_000_000_000_000_009,
        "status": 2,
        "status_message": "it broke",
        "attributes": {"gen_ai.operation.name": "invoke_agent"},
        "events": [
            {"time_unix_nano": 5, "name": "happening", "attributes": {"what": "this"}, "dropped_attributes_count": 4}
        ],
        "links": [
            {
                "trace_id": "02030405060708090a0b0c0d0e0f1011",
                "span_id": "030405060708090a",
                "attributes": {"why": "that"},
                "trace_state": "other=2",
                "flags": 1,
                "dropped_attributes_count": 5,
            }
        ],
        "trace_state": "vendor=1",
        "flags": 257,
        "dropped_attributes_count": 1,
        "dropped_events_count": 2,
        "dropped_links_count": 3,
        "resource": 0,
        "scope": 0,
    }
    assert session.extra["resources"] == [
        {"attributes": {"service.name": "agent"}, "schema_url": "https://schemas.example/resource"}
    ]
    assert session.extra["scopes"] == [
        {
            "name": "library",
            "version": "1.2",
            "attributes": {"kind": "test"},
            "schema_url": "https://schemas.example/scope",
        }
    ]
