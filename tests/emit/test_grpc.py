"""The same over gRPC: only the way differs."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace.export import SpanExportResult
from sdk_spans import ended_spans

from critiqor_otel.decode.otlp_protobuf import decode_traces
from critiqor_otel.emit.delivery import Patience
from critiqor_otel.emit.otlp_exporter import OTLPSpanExporter
from critiqor_otel.emit.otlp_settings import OtlpSettings
from critiqor_otel.emit.reply import retry_delay

Rule = Callable[[bytes, Any], bytes]


class Receiver(grpc.GenericRpcHandler):
    """Answers each call by a rule, and keeps what it was sent."""

    def __init__(self, rule: Rule) -> None:
        self.bodies: list[bytes] = []
        self.metadata: list[dict[str, str]] = []
        self._rule = rule

    def service(self, handler_call_details: Any) -> Any:
        assert handler_call_details.method == "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
        self.metadata.append(dict(handler_call_details.invocation_metadata))

        def answer(body: bytes, context: Any) -> bytes:
            self.bodies.append(body)
            return self._rule(body, context)

        return grpc.unary_unary_rpc_method_handler(answer)

    @property
    def names(self) -> set[str]:
        return {span.name for body in self.bodies for span in decode_traces(body).spans}


@pytest.fixture
def serve() -> Iterator[Callable[[Rule], tuple[Receiver, OTLPSpanExporter]]]:
    servers: list[Any] = []
    exporters: list[OTLPSpanExporter] = []

    def start(rule: Rule) -> tuple[Receiver, OTLPSpanExporter]:
        server = grpc.server(ThreadPoolExecutor(2))
        receiver = Receiver(rule)
        server.add_generic_rpc_handlers((receiver,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        settings = OtlpSettings(endpoint=f"http://127.0.0.1:{port}", protocol="grpc", headers={"x-tenant": "a"})
        exporter = OTLPSpanExporter(settings=settings, patience=Patience(first_delay=0.01, retry_for=5))
        servers.append(server)
        exporters.append(exporter)
        return receiver, exporter

    yield start
    for exporter in exporters:
        exporter.shutdown()
    for server in servers:
        server.stop(None)


def taken(_: bytes, __: Any) -> bytes:
    return b""


def test_spans_arrive_with_their_headers(serve: Callable[[Rule], tuple[Receiver, OTLPSpanExporter]]) -> None:
    receiver, exporter = serve(taken)

    assert exporter.export(ended_spans(3)) is SpanExportResult.SUCCESS
    assert receiver.names == {"span 0", "span 1", "span 2"}
    assert receiver.metadata[0]["x-tenant"] == "a"


def test_rejected_spans_are_counted(serve: Callable[[Rule], tuple[Receiver, OTLPSpanExporter]]) -> None:
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = 2
    _, exporter = serve(lambda *_: answer.SerializeToString())

    exporter.export(ended_spans(3))

    assert exporter.rejected == 2


def test_unavailable_is_tried_again(serve: Callable[[Rule], tuple[Receiver, OTLPSpanExporter]]) -> None:
    def rule(_: bytes, context: Any) -> bytes:
        if len(receiver.bodies) < 3:
            context.abort(grpc.StatusCode.UNAVAILABLE, "later")
        return b""

    receiver, exporter = serve(rule)

    assert exporter.export(ended_spans(1)) is SpanExportResult.SUCCESS
    assert len(receiver.bodies) == 3


def test_invalid_is_not_tried_again(serve: Callable[[Rule], tuple[Receiver, OTLPSpanExporter]]) -> None:
    receiver, exporter = serve(lambda _, context: context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no"))

    assert exporter.export(ended_spans(1)) is SpanExportResult.FAILURE
    assert (len(receiver.bodies), exporter.lost) == (1, 1)


def test_a_message_beyond_the_servers_limit_is_split(
    serve: Callable[[Rule], tuple[Receiver, OTLPSpanExporter]],
) -> None:
    def rule(body: bytes, context: Any) -> bytes:
        if len(body) > 100_000:
            text = f"Received message larger than max ({len(body)} vs. 100000)"
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        return b""

    receiver, exporter = serve(rule)

    assert exporter.export(ended_spans(20, 20_000)) is SpanExportResult.SUCCESS
    assert len(receiver.names) == 20


def test_retry_info_is_read() -> None:
    delay = Duration(seconds=2, nanos=500_000_000)
    info = b"\x0a" + bytes([len(delay.SerializeToString())]) + delay.SerializeToString()
    detail = AnyMessage(type_url="type.googleapis.com/google.rpc.RetryInfo", value=info).SerializeToString()
    status = b"\x08\x0e\x12\x04busy\x1a" + bytes([len(detail)]) + detail

    assert retry_delay(status) == 2.5
    assert retry_delay(b"\x08\x0e\x12\x04busy") is None
