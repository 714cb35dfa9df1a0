"""What decoders remember to be quick is bounded, and what is beyond the bound is read all the same."""

from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from critiqor_otel.decode.otlp_protobuf import decode_traces
from critiqor_otel.formats.reading import read_paths

MANY = 17_000


def request(resources: int, attributes: int) -> bytes:
    message = ExportTraceServiceRequest()
    for number in range(1, resources + 1):
        block = message.resource_spans.add()
        block.resource.attributes.add(key="service.name").value.string_value = f"service {number}"
        span = block.scope_spans.add().spans.add(trace_id=bytes([1] * 16), span_id=number.to_bytes(8, "big"))
        for place in range(attributes):
            span.attributes.add(key=f"key {place}").value.string_value = f"value {place}"
    return message.SerializeToString()


def test_resources_by_the_thousand_are_told_apart() -> None:
    batch = decode_traces(request(1_200, 0))

    assert len({span.resource.attributes["service.name"] for span in batch.spans}) == 1_200


def test_attributes_by_the_thousand_are_read() -> None:
    (span,) = decode_traces(request(1, MANY)).spans

    assert span.attributes == {f"key {number}": f"value {number}" for number in range(MANY)}


def test_where_no_file_is_it_is_said(tmp_path: Path) -> None:
    (batch,) = read_paths([f"memory://{tmp_path.name}/*.jsonl"])

    assert [note.message for note in batch.notes] == ["no file is there"]
