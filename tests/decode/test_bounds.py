"""What decoders remember to be quick is bounded, and what is beyond the bound is read all the same."""

import gc
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.decode import otlp_json
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


def json_request(number: int) -> bytes:
    name = f"{number:05d}" + "x" * 20_000
    held = [{"key": name, "value": {"intValue": "1"}}, {"key": "tags", "value": {"stringValue": name}}]
    span: dict[str, Any] = {"traceId": f"{1:032x}", "spanId": f"{number:016x}", "name": name, "attributes": held}
    scope = {"name": name, "attributes": held}
    block = {"resource": {"attributes": held}, "scopeSpans": [{"scope": scope, "spans": [span]}]}
    return json.dumps({"resourceSpans": [block]}).encode()


def protobuf_request(number: int) -> bytes:
    message = ExportTraceServiceRequest()
    block = message.resource_spans.add()
    scope = block.scope_spans.add()
    span = scope.spans.add(trace_id=bytes([1] * 16), span_id=number.to_bytes(8, "big"))
    span.name = scope.scope.name = f"{number:05d}" + "y" * 20_000
    for holder in (block.resource, scope.scope, span):
        holder.attributes.add(key=span.name).value.int_value = 1
        holder.attributes.add(key="tags").value.string_value = span.name
    return message.SerializeToString()


@pytest.mark.parametrize(
    ("decode", "written"),
    [(otlp_json.decode_traces, json_request), (decode_traces, protobuf_request)],
    ids=["json", "protobuf"],
)
def test_long_names_that_never_come_again_are_not_remembered(
    decode: Callable[[bytes], Any], written: Callable[[int], bytes]
) -> None:
    requests = [written(number) for number in range(1, 301)]
    tracemalloc.start()
    try:
        for request in requests:
            for span in decode(request).spans:
                facts_of(span)
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < sum(map(len, requests)) / 30


def test_a_long_resource_is_not_written_out_to_be_known_again() -> None:
    held = [{"key": "service.name", "value": {"stringValue": "\x7f" * 4_000_000}}]
    block = {"resource": {"attributes": held}, "scopeSpans": []}
    request = json.dumps({"resourceSpans": [block]}, ensure_ascii=False).encode()
    tracemalloc.start()
    try:
        otlp_json.decode_traces(request)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 3 * len(request)


def test_where_no_file_is_it_is_said(tmp_path: Path) -> None:
    (batch,) = read_paths([f"memory://{tmp_path.name}/*.jsonl"])

    assert [note.message for note in batch.notes] == ["no file is there"]
