"""The bytes we write are what protobuf's own classes read, and what the stock exporter would have sent."""

from collections.abc import Sequence

from drawn_spans import SPANS
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.trace import Link, SpanContext, Status, StatusCode

from critiqor_otel.decode.otlp_protobuf import decode_traces
from critiqor_otel.decode.sdk import SdkReader, held_attributes
from critiqor_otel.emit.otlp_wire import OtlpEncoder, encode_request, request_of
from critiqor_otel.span import Span
from critiqor_otel.testing import MemorySink, traced


@given(spans=st.lists(SPANS, max_size=4))
def test_every_span_is_read_back_as_it_was(spans: Sequence[Span]) -> None:
    decoded = decode_traces(encode_request(spans))

    assert decoded.notes == ()
    assert sorted(map(repr, decoded.spans)) == sorted(map(repr, spans))


@given(span=SPANS)
def test_protobuf_writes_the_same_message(span: Span) -> None:
    message = ExportTraceServiceRequest.FromString(encode_request([span]))

    assert decode_traces(message.SerializeToString()).spans == (span,)


def test_the_stock_exporter_sends_the_same() -> None:
    sink = MemorySink()
    tracer = traced(sink).get_tracer("agent", "1.0", "https://schema", {"a": 1})
    links = [Link(SpanContext(1, 2, is_remote=True), {"k": "v"})]
    values = {"text": "Ωmega", "int": -3, "big": 2**62, "float": 0.5, "flag": True, "list": ["a", 1], "map": {"x": [1]}}
    with tracer.start_as_current_span("root"):
        span = tracer.start_span("inner", attributes={**values, "bytes": b"\x00\xff", "none": None}, links=links)
        span.add_event("event", {"n": 1}, timestamp=5)
        span.set_status(Status(StatusCode.ERROR, "why"))
        span.end()
    encoder = OtlpEncoder(None)

    ours = request_of([encoder.sdk_span(one, (held_attributes(one),)) for one in sink.exported])

    stock = encode_spans(sink.exported)
    spans = [one for block in stock.resource_spans for scope in block.scope_spans for one in scope.spans]
    for one in spans:
        if not one.status.ByteSize():
            one.ClearField("status")  # an empty status says what none says
        for link in one.links:
            link.flags = 0  # whether a linked span is remote is no part of the neutral span
    assert MessageToDict(ExportTraceServiceRequest.FromString(ours)) == MessageToDict(stock)


def test_neutral_spans_and_sdk_spans_give_the_same_bytes() -> None:
    sink = MemorySink()
    traced(sink).get_tracer("agent").start_span("one", attributes={"a": ("b", 1)}).end()
    reader, encoder = SdkReader(), OtlpEncoder(None)
    (span,) = sink.exported

    assert request_of([encoder.sdk_span(span, (held_attributes(span),))]) == encode_request([reader.span(span)])


def test_what_is_nested_too_deep_for_protobuf_becomes_text() -> None:
    deep: object = "end"
    for _ in range(90):
        deep = {"a": deep}
    span = Span(trace_id="1" * 32, span_id="2" * 16, name="deep", attributes={"deep": deep})  # type: ignore[dict-item]

    message = ExportTraceServiceRequest.FromString(encode_request([span]))

    assert message.resource_spans[0].scope_spans[0].spans[0].name == "deep"
    assert "end" in str(message)
