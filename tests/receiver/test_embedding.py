from pathlib import Path

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from receiving import call, receiving
from spool_support import trace_request

from critiqor_otel.receiver.config import Limits
from critiqor_otel.receiver.receiver import Receiver
from critiqor_otel.testing import ToldClock, embedded_receiver, sealed_sessions


def exporter(receiver: Receiver, transport: str) -> SpanExporter:
    if transport == "grpc":
        return GrpcExporter(endpoint=receiver.http_endpoint, insecure=True)
    return HttpExporter(endpoint=f"{receiver.http_endpoint}/v1/traces")


@pytest.mark.parametrize("transport", ["grpc", "http"])
def test_one_port_takes_both_protocols_inside_a_test(tmp_path: Path, transport: str) -> None:
    with embedded_receiver(tmp_path) as receiver:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter(receiver, transport)))
        provider.get_tracer("x").start_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}).end()
        provider.shutdown()

        (session,) = sealed_sessions(receiver)

    assert [event.event_type for event in session.events] == ["agent_start", "agent_end"]


def test_large_messages_pass_through_the_shared_port(tmp_path: Path) -> None:
    body = trace_request(1, root=True, text="x" * 3_000_000)
    with (
        receiving(tmp_path, one_port=True, limits=Limits()) as receiver,
        grpc.insecure_channel((receiver.http_endpoint or "").removeprefix("http://")) as channel,
    ):
        send = channel.unary_unary("/opentelemetry.proto.collector.trace.v1.TraceService/Export")
        assert [send(body, timeout=20) for _ in range(3)] == [b"", b"", b""]
        assert call(receiver, body) == b""
        assert receiver.counts.received_bytes == 4 * len(body)


def test_a_told_clock_stands_still() -> None:
    clock = ToldClock(5)
    assert (clock(), clock()) == (5, 5)

    clock.advance(1.5)

    assert clock() == 1_500_000_005
