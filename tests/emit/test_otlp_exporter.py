"""What reaches a receiver, whatever the values, the network and the receiver do."""

import logging
import math
import pathlib
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import Status, StatusCode
from otlp_sink import Answer, Sink, too_large_above
from sdk_spans import ended_spans

from critiqor_otel.conventions.carriage import LOST
from critiqor_otel.emit.batching import BatchOptions, SpanBatcher
from critiqor_otel.emit.delivery import Patience
from critiqor_otel.emit.otlp_exporter import OTLPSpanExporter
from critiqor_otel.emit.otlp_settings import OtlpSettings

QUICK = Patience(timeout=5, retry_for=5, first_delay=0.01, longest_delay=0.05)
REJECTED = ExportTraceServiceResponse()
REJECTED.partial_success.rejected_spans = 1
REJECTED.partial_success.error_message = "attribute too long"


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink().running() as running:
        yield running


Make = Callable[..., OTLPSpanExporter]


@pytest.fixture
def exporter() -> Iterator[Make]:
    """Return what makes an exporter; each is shut down after the test."""
    made: list[OTLPSpanExporter] = []

    def make(sink: Sink | None = None, **given: Any) -> OTLPSpanExporter:
        made.append(OTLPSpanExporter(**{"patience": QUICK, "endpoint": sink.url if sink else None, **given}))
        return made[-1]

    yield make
    for one in made:
        one.shutdown()


def test_spans_arrive_over_one_connection(sink: Sink, exporter: Make) -> None:
    sending = exporter(sink)

    assert [sending.export(ended_spans(3)) for _ in range(3)] == [SpanExportResult.SUCCESS] * 3
    assert len(sink.spans) == 9
    assert sink.headers[0]["content-type"] == "application/x-protobuf"


def test_hostile_values_cost_nothing_but_themselves(sink: Sink, exporter: Make) -> None:
    values: dict[str, Any] = {
        "none": None,
        "bytes": b"\xff\x00\xfe",
        "surrogate": "cut emoji \ud83e end",
        "big": 2**70,
        "uint64": 2**64 - 1,
        "nan": math.nan,
        "inf": -math.inf,
        "mixed": ["a", 1, None, 2.5],
        "dict": {"a": {"b": [1, None]}},
        "path": pathlib.PurePosixPath("/x"),
        "nul": "a\x00b",
        "long": "x" * 200_000,
    }
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SpanBatcher(exporter(sink)))
    tracer = provider.get_tracer("hostile")
    with tracer.start_as_current_span("root"):
        for name, value in values.items():
            with tracer.start_as_current_span(f"attr {name}") as span:
                span.set_attribute(name, value)
        with tracer.start_as_current_span("bad name \ud83e"):
            pass
        with tracer.start_as_current_span("bad status") as span:
            span.set_status(Status(StatusCode.ERROR, "why \udc80"))
        with tracer.start_as_current_span("bad event") as span:
            span.add_event("ev \ud83e", {"k": 1})
    provider.shutdown()

    arrived = {span.name: span for span in sink.spans}
    assert len(sink.spans) == len(arrived) == 16
    found = {name: arrived[f"attr {name}"].attributes[name] for name in values}
    assert math.isnan(found.pop("nan"))
    assert found == {
        "none": None,
        "bytes": b"\xff\x00\xfe",
        "surrogate": "cut emoji \ufffd end",
        "big": str(2**70),
        "uint64": str(2**64 - 1),
        "inf": -math.inf,
        "mixed": ["a", 1, None, 2.5],
        "dict": {"a": {"b": [1, None]}},
        "path": "/x",
        "nul": "a\x00b",
        "long": "x" * 200_000,
    }
    assert arrived["bad name \ufffd"].status == 0
    assert arrived["bad status"].status_message == "why \ufffd"
    assert arrived["bad event"].events[0].name == "ev \ufffd"


def test_what_is_too_large_is_sent_in_pieces(exporter: Make) -> None:
    with Sink(rule=too_large_above(1_000_000)).running() as sink:
        result = exporter(sink).export(ended_spans(40, 50_000))

        assert result is SpanExportResult.SUCCESS
        assert len({span.name for span in sink.spans}) == 40
        assert len(sink.spans) == 40


def test_one_span_that_is_too_large_costs_its_neighbours_nothing(exporter: Make) -> None:
    with Sink(rule=too_large_above(1_000_000)).running() as sink:
        result = exporter(sink).export([*ended_spans(256), *ended_spans(1, 5_000_000), *ended_spans(255)])

        assert result is SpanExportResult.SUCCESS
        assert len(sink.spans) == 512
        assert len(sink.bodies) <= 5
        longest = max((span.attributes["text"] for span in sink.spans), key=len)
        assert longest.endswith("… [cut: 30000 of 5000000 characters]")


def test_a_request_is_no_larger_than_configured(sink: Sink, exporter: Make) -> None:
    patience = Patience(max_request=100_000, first_delay=0.01)

    exporter(sink, patience=patience).export(ended_spans(100, 9_000))

    assert len(sink.spans) == 100
    assert max(map(len, sink.bodies)) <= 100_000


def test_rejected_spans_are_told(caplog: pytest.LogCaptureFixture, exporter: Make) -> None:
    with Sink(Answer(200, REJECTED.SerializeToString())).running() as sink:
        sending = exporter(sink)
        with caplog.at_level(logging.WARNING):
            sending.export(ended_spans(3))

    assert sending.rejected == 1
    assert "rejected 1 of 3 spans: attribute too long" in caplog.text


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_may_be_sent_again_is(status: int, exporter: Make) -> None:
    with Sink(Answer(status), Answer(status)).running() as sink:
        result = exporter(sink).export(ended_spans(2))

    assert result is SpanExportResult.SUCCESS
    assert (len(sink.bodies), len(sink.spans)) == (3, 2)


@pytest.mark.parametrize("status", [400, 401, 404, 500, 501])
def test_what_would_fail_again_is_not_sent_again_and_counted(status: int, exporter: Make) -> None:
    told: list[int] = []
    with Sink(Answer(status, b"no")).running() as sink:
        sending = exporter(sink, on_lost=told.append)
        result = sending.export(ended_spans(2))

        assert result is SpanExportResult.FAILURE
        assert len(sink.bodies) == 1
        assert (sending.lost, told) == (2, [2])

        sending.export(ended_spans(2))
        sending.export(ended_spans(1))

    assert [span.attributes.get(LOST) for span in sink.spans] == [2, None, None]


def test_the_receiver_says_when_to_come_again(exporter: Make) -> None:
    with Sink(Answer(503, headers={"Retry-After": "1"})).running() as sink:
        patience = Patience(first_delay=60, retry_for=30)

        assert exporter(sink, patience=patience).export(ended_spans(1)) is SpanExportResult.SUCCESS


def test_a_date_to_come_again_is_by_the_receivers_clock(exporter: Make) -> None:
    headers = {"Date": "Tue, 01 Jan 2030 00:00:00 GMT", "Retry-After": "Tue, 01 Jan 2030 00:00:01 GMT"}
    with Sink(Answer(503, headers=headers)).running() as sink:
        patience = Patience(first_delay=60, retry_for=30)

        assert exporter(sink, patience=patience).export(ended_spans(1)) is SpanExportResult.SUCCESS


def test_a_single_time_out_loses_nothing(exporter: Make) -> None:
    slow = threading.Event()
    with Sink(Answer(wait=slow)).running() as sink:
        patience = Patience(timeout=0.2, retry_for=10, first_delay=0.01)
        result = exporter(sink, patience=patience).export(ended_spans(2))
        slow.set()

        assert result is SpanExportResult.SUCCESS
        assert {span.name for span in sink.spans} == {"span 0", "span 1"}


def test_a_receiver_that_is_not_there_costs_time_and_is_counted(exporter: Make) -> None:
    patience = Patience(retry_for=0.1, first_delay=0.02)
    sending = exporter(endpoint="http://127.0.0.1:9/v1/traces", patience=patience)

    assert sending.export(ended_spans(2)) is SpanExportResult.FAILURE
    assert sending.lost == 2


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [
        ("http://host:99999/v1/traces", "host:99999/v1/traces is no address of OTLP/HTTP: Port out of range"),
        ("http://me:secret@[::1", "[::1 is no address of OTLP/HTTP: Invalid IPv6 URL"),
        ("ftp://host", "host is no address of OTLP/HTTP"),
    ],
)
def test_an_endpoint_that_is_none_is_named_at_once(endpoint: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        OTLPSpanExporter(endpoint=endpoint)
    assert "secret" not in str(raised.value)


def test_the_end_of_the_line_that_a_token_was_read_from_is_no_part_of_it(sink: Sink, exporter: Make) -> None:
    assert exporter(sink, headers={"authorization": "Bearer t\n"}).export(ended_spans(1)) is SpanExportResult.SUCCESS
    assert sink.headers[0]["authorization"] == "Bearer t"


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
@pytest.mark.parametrize("headers", [{"authorization": "Bearer secret\nx"}, {"x key": "secret"}, {"a": "secret ä"}])
def test_a_header_that_cannot_be_sent_is_named_at_once_without_its_value(
    protocol: Any, headers: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match="can't be sent") as raised:
        OTLPSpanExporter(settings=OtlpSettings(endpoint="http://localhost:1", protocol=protocol, headers=headers))
    assert "secret" not in str(raised.value)


def test_a_full_queue_is_counted_and_told(exporter: Make) -> None:
    blocked = threading.Event()
    with Sink(Answer(wait=blocked)).running() as sink:
        sending = exporter(sink)
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SpanBatcher(sending, BatchOptions(queue=100, batch=10, delay_ms=10)))
        tracer = provider.get_tracer("burst")
        for number in range(1000):
            tracer.start_span(f"span {number}").end()
        blocked.set()
        provider.force_flush()
        tracer.start_span("last").end()
        provider.shutdown()

    assert sending.lost > 0
    assert sending.lost + len(sink.spans) == 1001
    assert sum(span.attributes.get(LOST, 0) for span in sink.spans) == sending.lost


def test_a_burst_waits_for_a_slow_receiver(exporter: Make) -> None:
    slow = threading.Event()
    with Sink(Answer(wait=slow)).running() as sink:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SpanBatcher(exporter(sink)))
        tracer = provider.get_tracer("burst")
        for number in range(10_000):
            tracer.start_span(f"span {number}").end()
        slow.set()
        provider.shutdown()

        assert len({span.name for span in sink.spans}) == 10_000


def test_the_standard_variables_are_read(sink: Sink, monkeypatch: pytest.MonkeyPatch, exporter: Make) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", sink.url.removesuffix("/v1/traces"))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a%20b,Authorization=Bearer%20t")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")

    exporter().export(ended_spans(1))

    assert sink.paths == ["/v1/traces"]
    assert (sink.headers[0]["x-tenant"], sink.headers[0]["authorization"]) == ("a b", "Bearer t")
    assert sink.headers[0]["content-encoding"] == "gzip"
    assert len(sink.spans) == 1


def test_a_traces_endpoint_is_taken_as_it_is(sink: Sink, monkeypatch: pytest.MonkeyPatch, exporter: Make) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", sink.url.replace("/v1/traces", "/own/path"))

    exporter().export(ended_spans(1))

    assert sink.paths == ["/own/path"]


def test_an_endpoint_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="OTLP/HTTP"):
        OTLPSpanExporter(endpoint="localhost:4317")
