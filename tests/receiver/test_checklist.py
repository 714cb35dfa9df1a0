"""One test a point of the OTLP requirements on a server, over real sockets; the number is the point's."""

import base64
import gzip
import http.client
import json
import socket
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from receiving import (
    EXPORT,
    JSON,
    LOGS,
    PROTOBUF,
    addresses,
    answer_of,
    call,
    hex_json,
    place,
    post,
    raw,
    receiving,
    rpc_status,
    sessions,
)
from spool_support import log_request, trace_request

from critiqor_otel.receiver.answers import LONGEST_MESSAGE
from critiqor_otel.receiver.config import Limits, ReceiverConfig
from critiqor_otel.receiver.receiver import Receiver
from critiqor_otel.spool.journal import JournalLimits
from critiqor_otel.spool.record import Signal

REQUEST = trace_request(1, 2, root=True, agent=True)
BOTH = {("0" * 31 + "1", "0" * 15 + "1"): 1, ("0" * 31 + "1", "0" * 15 + "2"): 1}
FULL = JournalLimits(total=10)
SMALL = Limits(request_bytes=1 << 20)
METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"


def export_two_spans(exporter: SpanExporter) -> None:
    provider = TracerProvider(resource=Resource({"service.name": "agent"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("agent")
    with (
        tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}),
        tracer.start_as_current_span("execute_tool", attributes={"gen_ai.operation.name": "execute_tool"}),
    ):
        pass
    provider.shutdown()


def span(**fields: Any) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [fields]}]}]}).encode()


IDS = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1"}


def stored_span(receiver: Receiver) -> dict[str, Any]:
    (session,) = sessions(receiver)
    found: dict[str, Any] = session.events[0].payload["otel"]
    return found


@pytest.mark.parametrize("gzipped", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("transport", ["grpc", "http"])
def test_point_01_both_transports_take_plain_and_gzip_from_the_stock_exporters(
    receiver: Receiver, transport: str, *, gzipped: bool
) -> None:
    if transport == "grpc":
        compression = grpc.Compression.Gzip if gzipped else grpc.Compression.NoCompression
        export_two_spans(GrpcExporter(endpoint=receiver.grpc_endpoint, insecure=True, compression=compression))
    else:
        packed = Compression.Gzip if gzipped else Compression.NoCompression
        export_two_spans(HttpExporter(endpoint=f"{receiver.http_endpoint}/v1/traces", compression=packed))

    assert sorted(addresses(receiver).values()) == [1, 1]


def test_point_02_the_default_ports_are_4317_and_4318_on_this_machine_only() -> None:
    config = ReceiverConfig()

    assert (config.host, config.grpc_port, config.http_port) == ("127.0.0.1", 4317, 4318)


def test_point_03_http_1_1_and_1_0_work(receiver: Receiver) -> None:
    head = f"Content-Type: {PROTOBUF}\r\nContent-Length: {len(REQUEST)}\r\nConnection: close\r\n\r\n".encode()

    for version in (b"1.1", b"1.0"):
        answer = raw(receiver, b"POST /v1/traces HTTP/" + version + b"\r\nHost: x\r\n" + head + REQUEST)
        assert answer.startswith(b"HTTP/1.1 200 ")


def test_point_04_many_calls_at_once_and_connections_are_kept(receiver: Receiver) -> None:
    requests = [trace_request(number, root=True, trace=number) for number in range(1, 65)]
    channel = grpc.insecure_channel((receiver.grpc_endpoint or "").removeprefix("http://"))
    with channel:
        send: Any = channel.unary_unary(EXPORT)
        for future in [send.future(request, timeout=20) for request in requests]:
            assert future.result() == b""
    connection = http.client.HTTPConnection(*place(receiver), timeout=20)
    ports = set()
    for number in range(100, 110):
        connection.request("POST", "/v1/traces", trace_request(1, trace=number), {"Content-Type": PROTOBUF})
        assert answer_of(connection).status == 200
        assert connection.sock is not None
        ports.add(connection.sock.getsockname()[1])
    connection.close()
    threads = [threading.Thread(target=post, args=(receiver, trace_request(2, trace=n))) for n in range(200, 232)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(ports) == 1
    assert len(addresses(receiver)) == 64 + 10 + 32


def test_point_05_protobuf_and_json_share_one_port(receiver: Receiver) -> None:
    assert post(receiver, REQUEST, PROTOBUF).status == 200
    assert post(receiver, hex_json(trace_request(3)), JSON).status == 200
    assert len(addresses(receiver)) == 3


def test_point_06_the_limit_of_64_mib_holds_before_and_after_inflating(tmp_path: Path) -> None:
    assert Limits().request_bytes == 64 * 1024 * 1024
    with receiving(tmp_path, limits=SMALL) as receiver:
        large = b" " * (SMALL.request_bytes + 1)
        assert post(receiver, large, JSON).status == 413
        assert post(receiver, gzip.compress(large), JSON, Content_Encoding="gzip").status == 413
        assert post(receiver, iter([large[:500_000]] * 3), JSON).status == 413
        assert post(receiver, large[:-1].replace(b" ", b"{}", 1)[: SMALL.request_bytes], JSON).status == 200


@pytest.mark.parametrize("gzipped", [False, True], ids=["plain", "gzip"])
def test_point_07_grpc_over_the_limit_is_resource_exhausted_without_retry_info(
    tmp_path: Path, *, gzipped: bool
) -> None:
    with receiving(tmp_path, limits=Limits(request_bytes=6 << 20)) as receiver:
        call(receiver, trace_request(1, text="x" * (5 << 20)), gzip=gzipped)  # above the library's own 4 MiB
        with pytest.raises(grpc.RpcError) as caught:
            call(receiver, b" " * (7 << 20), gzip=gzipped)

    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "grpc-status-details-bin" not in dict(caught.value.trailing_metadata())


def test_point_08_http_over_the_limit_is_413_with_a_status_that_names_size_and_limit(tmp_path: Path) -> None:
    with receiving(tmp_path, limits=SMALL) as receiver:
        answer = post(receiver, b" " * 2_000_000)

    assert (answer.status, answer.headers["content-type"]) == (413, PROTOBUF)
    assert "2000000 bytes" in answer.refusal.message
    assert "1048576" in answer.refusal.message
    assert list(answer.refusal.details) == []


def test_point_09_answers_stay_short_whatever_was_wrong(receiver: Receiver) -> None:
    spans = [{"traceId": "a" * number, "spanId": "1"} for number in range(1, 3000)]
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    answer = post(receiver, body, JSON)
    not_found = post(receiver, b"", path="/" + "x" * 20_000)

    assert answer.json["partialSuccess"]["rejectedSpans"] == "2999"
    assert len(answer.json["partialSuccess"]["errorMessage"]) <= LONGEST_MESSAGE
    assert not_found.status == 404
    assert len(not_found.refusal.message) == LONGEST_MESSAGE


def test_point_10_paths_and_methods(receiver: Receiver) -> None:
    for path in ("/v1/traces", "/v1/metrics", "/v1/logs"):
        assert post(receiver, b"", path=path).status == 200
        for method in ("GET", "PUT", "DELETE", "OPTIONS", "PATCH"):
            answer = post(receiver, b"", path=path, method=method)
            assert (answer.status, answer.headers["allow"]) == (405, "POST")
    for path in ("/", "/v1/trace", "/v1/traces/", "/v1development/profiles", "/V1/TRACES"):
        assert post(receiver, b"", path=path).status == 404


def test_point_10_paths_may_be_configured(tmp_path: Path) -> None:
    with receiving(tmp_path, paths={"/otlp/v1/traces": Signal.TRACES}) as receiver:
        assert post(receiver, REQUEST, path="/otlp/v1/traces").status == 200
        assert post(receiver, REQUEST).status == 404


def test_point_11_three_services_and_unimplemented_for_the_rest(receiver: Receiver) -> None:
    assert call(receiver, b"", method=LOGS) == b""
    assert call(receiver, b"", method=METRICS) == b""
    for method in ("/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export", "/x/Y"):
        with pytest.raises(grpc.RpcError) as caught:
            call(receiver, b"", method=method)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
@pytest.mark.parametrize("suffix", ["", "; charset=utf-8", ";charset=UTF-8 "])
def test_point_12_the_answer_is_of_the_requests_type_on_success_and_on_error(
    receiver: Receiver, content_type: str, suffix: str
) -> None:
    good = REQUEST if content_type == PROTOBUF else hex_json(REQUEST)
    given = content_type.upper() if suffix else content_type

    for body, status in ((good, 200), (b"\xff\xff nonsense", 400)):
        answer = post(receiver, body, given + suffix)
        assert (answer.status, answer.headers["content-type"]) == (status, content_type)


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/grpc", "application/jsonx", ""])
def test_point_13_an_unknown_type_is_415(receiver: Receiver, content_type: str | None) -> None:
    answer = post(receiver, REQUEST, content_type)

    assert answer.status == 415
    assert "application/x-protobuf" in answer.json["message"]


def test_point_14_a_long_answer_is_compressed_for_who_asks(receiver: Receiver) -> None:
    path = "/" + "x" * 3000
    plain = post(receiver, b"", path=path)
    packed = post(receiver, b"", path=path, Accept_Encoding="gzip")

    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert "content-encoding" not in plain.headers


def test_point_15_success_is_an_empty_response_message(receiver: Receiver) -> None:
    assert post(receiver, REQUEST)[::2] == (200, b"")
    assert post(receiver, hex_json(REQUEST), JSON)[::2] == (200, b"{}")
    assert call(receiver, REQUEST) == b""


def test_point_16_partial_success_is_unset_when_all_is_kept(receiver: Receiver) -> None:
    assert not post(receiver, REQUEST).response.HasField("partial_success")
    assert "partialSuccess" not in post(receiver, hex_json(REQUEST), JSON).json


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (PROTOBUF, b""),
        (PROTOBUF, b"\n\x00"),
        (PROTOBUF, b"\n\x02\x12\x00"),
        (JSON, b"{}"),
        (JSON, b' {"resourceSpans": [] } '),
        (JSON, b'{"resourceSpans":[{}]}'),
        (JSON, b'{"resourceSpans":[{"scopeSpans":[{"spans":[]}]}]}'),
    ],
)
def test_point_17_a_request_without_data_is_a_success(receiver: Receiver, content_type: str, body: bytes) -> None:
    answer = post(receiver, body, content_type)

    assert (answer.status, answer.body) == (200, b"" if content_type == PROTOBUF else b"{}")
    assert sessions(receiver) == []


def mixed_request() -> bytes:
    return (Path(__file__).parent / "cases" / "10a-mixed-batch-invalid-ids.request.json").read_bytes()


def mixed_protobuf() -> bytes:
    data = TracesData()
    scope = data.resource_spans.add().scope_spans.add()
    for trace_id, span_id in ((b"\1" * 16, b"\1" * 8), (bytes(16), bytes(8)), (b"", b""), (b"\xab\xcd", b"\2" * 8)):
        scope.spans.add(trace_id=trace_id, span_id=span_id, name="step")
    return data.SerializeToString()


def test_point_18_bad_spans_are_counted_and_the_good_one_is_kept_json(receiver: Receiver) -> None:
    answer = post(receiver, mixed_request(), JSON)

    assert (answer.status, answer.headers["content-type"]) == (200, JSON)
    assert answer.json["partialSuccess"]["rejectedSpans"] == "3"
    assert list(addresses(receiver)) == [("07f4546263c09ec6470fa879b8d2f147", "ecb4ddc20c0f27c3")]


def test_point_18_bad_spans_are_counted_and_the_good_one_is_kept_protobuf(receiver: Receiver) -> None:
    answer = post(receiver, mixed_protobuf())

    assert (answer.status, answer.headers["content-type"]) == (200, PROTOBUF)
    assert answer.response.partial_success.rejected_spans == 3
    assert list(addresses(receiver)) == [("01" * 16, "01" * 8)]


def test_point_18_bad_spans_are_counted_and_the_good_one_is_kept_grpc(receiver: Receiver) -> None:
    response = ExportTraceServiceResponse.FromString(call(receiver, mixed_protobuf()))

    assert response.partial_success.rejected_spans == 3
    assert list(addresses(receiver)) == [("01" * 16, "01" * 8)]


def test_point_18_a_damaged_span_is_refused_and_its_neighbours_are_kept(receiver: Receiver) -> None:
    good = trace_request(1, root=True)
    broken = bytes.fromhex("0a10") + b"\1" * 16 + bytes.fromhex("1208") + b"\2" * 8 + b"\x2a\x7f"  # a cut name
    scope = b"\x12" + bytes((len(broken),)) + broken
    block = b"\x12" + bytes((len(scope),)) + scope
    answer = post(receiver, good + b"\n" + bytes((len(block),)) + block)

    assert answer.response.partial_success.rejected_spans == 1
    assert "damaged" in answer.response.partial_success.error_message
    assert len(addresses(receiver)) == 1


def test_point_19_the_message_says_why_and_what_to_do(receiver: Receiver) -> None:
    message = post(receiver, mixed_request(), JSON).json["partialSuccess"]["errorMessage"]

    for word in ("trace id all zero", "trace id empty", "4 characters", "were kept"):
        assert word in message


def test_point_20_a_warning_comes_with_zero_rejected(receiver: Receiver) -> None:
    body = hex_json(REQUEST).replace(b"resourceSpans", b"resource_spans").replace(b"scopeSpans", b"scope_spans")
    partial = post(receiver, body, JSON).json["partialSuccess"]

    assert "rejectedSpans" not in partial
    assert "snake_case" in partial["errorMessage"]
    assert dict(addresses(receiver)) == BOTH


def test_point_21_what_another_try_could_mend_is_never_a_partial_success(tmp_path: Path) -> None:
    with receiving(tmp_path, journal=FULL) as receiver:
        answer = post(receiver, mixed_request(), JSON)

    assert answer.status == 503


def test_point_22_errors_are_a_status_in_the_requests_encoding(receiver: Receiver) -> None:
    for answer in (post(receiver, b"\xff", JSON), post(receiver, b"", JSON, path="/x"), post(receiver, b"", "x/y")):
        assert answer.headers["content-type"] == JSON
        assert isinstance(answer.json["code"], int)
        assert answer.json["message"]
    for answer in (post(receiver, b"\xff"), post(receiver, b"", path="/x"), post(receiver, b"", method="PUT")):
        assert answer.headers["content-type"] == PROTOBUF
        assert answer.refusal.message


def test_point_23_undecodable_data_is_400_and_invalid_argument_with_bad_request(receiver: Receiver) -> None:
    for body, content_type in ((b"\xff", PROTOBUF), (REQUEST[:-5], PROTOBUF), (b"{", JSON), (b"[]", JSON)):
        assert post(receiver, body, content_type).status == 400
    details = BadRequest()
    assert post(receiver, b"\xff").refusal.details[0].Unpack(details)
    assert details.field_violations[0].field == "body"
    with pytest.raises(grpc.RpcError) as caught:
        call(receiver, b"\xff")

    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert rpc_status(caught.value).details[0].Unpack(details)


def test_point_24_what_cannot_be_kept_now_is_503_not_500(tmp_path: Path) -> None:
    with receiving(tmp_path, journal=FULL) as receiver:
        answer = post(receiver, REQUEST)

    assert (answer.status, answer.headers["retry-after"]) == (503, "5")


def test_point_25_a_fault_of_ours_is_unavailable_and_shows_no_traceback(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("critiqor_otel.receiver.intake.check", fail)
    with pytest.raises(grpc.RpcError) as caught:
        call(receiver, REQUEST)
    answer = post(receiver, REQUEST)

    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert answer.status == 503
    for text in (str(caught.value.details()), answer.refusal.message):
        assert "Traceback" not in text
        assert "a fault of ours" not in text


def test_point_26_overload_over_grpc_is_unavailable_with_retry_info(tmp_path: Path) -> None:
    with receiving(tmp_path, limits=Limits(requests_per_second=1)) as receiver:
        call(receiver, REQUEST)
        with pytest.raises(grpc.RpcError) as caught:
            call(receiver, REQUEST)

    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    delay = RetryInfo()
    assert rpc_status(caught.value).details[0].Unpack(delay)
    assert 0 < delay.retry_delay.seconds < 60


def test_point_27_overload_over_http_is_429_or_503_with_retry_after(tmp_path: Path) -> None:
    with receiving(tmp_path / "a", limits=Limits(requests_per_second=1)) as receiver:
        post(receiver, REQUEST)
        throttled = post(receiver, REQUEST)
    with receiving(tmp_path / "b", limits=Limits(held_bytes=100)) as receiver:
        overloaded = post(receiver, REQUEST, JSON)

    assert (throttled.status, throttled.headers["retry-after"]) == (429, "1")
    assert (overloaded.status, overloaded.headers["retry-after"]) == (503, "2")
    assert overloaded.json["details"][0]["retryDelay"] == "2s"


def test_point_28_acknowledged_is_on_the_disk_before_the_answer(receiver: Receiver) -> None:
    assert post(receiver, REQUEST).status == 200

    (segment,) = (receiver.config.runs / ".spool" / "journal").glob("*.journal")
    assert REQUEST in segment.read_bytes()


def test_point_28_shutting_down_refuses_new_requests_to_be_sent_again(receiver: Receiver) -> None:
    receiver.refuse()
    with pytest.raises(grpc.RpcError) as caught:
        call(receiver, REQUEST)

    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert post(receiver, REQUEST).status == 503


def test_point_28_shutting_down_finishes_requests_in_flight(tmp_path: Path) -> None:
    with receiving(tmp_path) as receiver:
        connection = socket.create_connection(place(receiver), timeout=20)
        head = (
            f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\nContent-Length: {len(REQUEST)}\r\n\r\n"
        )
        connection.sendall(head.encode() + REQUEST[:10])
        assert post(receiver, b"").status == 200  # the first has been seen by now
        stopping = threading.Thread(target=receiver.__exit__, args=(None, None, None))
        stopping.start()
        connection.sendall(REQUEST[10:])
        answer = connection.recv(65536)
        stopping.join()
        connection.close()

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert len(list(tmp_path.glob("*/session.json"))) == 1


def test_point_29_json_ids_are_hex_of_either_case(receiver: Receiver) -> None:
    body = span(traceId="ABCDEF" + "0" * 26, spanId="ABCDEF" + "0" * 10, parentSpanId="FEDCBA" + "0" * 10)
    assert post(receiver, body, JSON).body == b"{}"

    assert list(addresses(receiver)) == [("abcdef" + "0" * 26, "abcdef" + "0" * 10)]
    assert stored_span(receiver)["parent_span_id"] == "fedcba" + "0" * 10


def value(given: Any) -> bytes:
    return span(**IDS, attributes=[{"key": "k", "value": given}])


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"bytesValue": "-_-_"}, {"bytesValue": base64.b64encode(base64.urlsafe_b64decode("-_-_")).decode()}),
        ({"bytesValue": "+/+/"}, {"bytesValue": "+/+/"}),
    ],
)
def test_point_30_other_bytes_are_base64_of_either_alphabet(receiver: Receiver, given: Any, stored: Any) -> None:
    assert post(receiver, value(given), JSON).body == b"{}"

    assert stored_span(receiver)["attributes"]["k"] == stored


def test_point_31_enums_are_integers_and_names_are_understood(receiver: Receiver) -> None:
    assert post(receiver, span(**IDS, kind=3, status={"code": 2}), JSON).status == 200
    assert post(receiver, span(**{**IDS, "spanId": "2" * 16}, kind="SPAN_KIND_CLIENT"), JSON).status == 200

    (session,) = sessions(receiver)
    assert {event.payload["otel"]["kind"] for event in session.events if "otel" in event.payload} == {3}


def test_point_32_unknown_fields_are_ignored_at_any_depth(receiver: Receiver) -> None:
    body = json.dumps(
        {
            "new": [{"deep": {"er": 1}}],
            "resourceSpans": [
                {"new": 1, "scopeSpans": [{"new": {}, "spans": [{**IDS, "new": {"x": [None]}, "status": {"new": 2}}]}]}
            ],
        }
    ).encode()

    assert post(receiver, body, JSON).body == b"{}"
    assert len(addresses(receiver)) == 1


def test_point_33_snake_case_keys_bring_a_warning(receiver: Receiver) -> None:
    body = b'{"resource_spans":[{"scope_spans":[{"spans":[{"trace_id":"%b","span_id":"%b"}]}]}]}'

    answer = post(receiver, body % (b"1" * 32, b"1" * 16), JSON)

    assert "snake_case" in answer.json["partialSuccess"]["errorMessage"]


@pytest.mark.parametrize("given", [9007199254740993, "9007199254740993"], ids=["number", "text"])
def test_point_34_64_bit_integers_are_exact_as_number_and_as_text(receiver: Receiver, given: Any) -> None:
    body = span(**IDS, startTimeUnixNano=given, attributes=[{"key": "k", "value": {"intValue": given}}])
    assert post(receiver, body, JSON).body == b"{}"

    stored = stored_span(receiver)
    assert stored["attributes"]["k"] == stored["start_time_unix_nano"] == 9007199254740993


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (1.5, 1.5),
        ("1.5", 1.5),
        ("NaN", {"doubleValue": "NaN"}),
        ("Infinity", {"doubleValue": "Infinity"}),
        ("-Infinity", {"doubleValue": "-Infinity"}),
    ],
    ids=repr,
)
def test_point_35_doubles_in_all_their_spellings(receiver: Receiver, given: Any, stored: Any) -> None:
    assert post(receiver, value({"doubleValue": given}), JSON).body == b"{}"

    assert stored_span(receiver)["attributes"]["k"] == stored


def test_point_36_null_and_absent_are_the_default(receiver: Receiver) -> None:
    nulls = dict.fromkeys(("kind", "status", "attributes", "events", "links", "name", "parentSpanId"))
    body = json.dumps(
        {"resourceSpans": [{"resource": None, "scopeSpans": [{"scope": None, "spans": [{**IDS, **nulls}]}]}]}
    ).encode()

    assert post(receiver, body, JSON).body == b"{}"
    assert len(addresses(receiver)) == 1


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"arrayValue": {}},
        {"kvlistValue": {}},
        {"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "x"}, {}, {"arrayValue": {"values": []}}]}},
        {"kvlistValue": {"values": [{"key": "a", "value": {"kvlistValue": {"values": []}}}]}},
    ],
)
def test_point_37_empty_nested_and_mixed_values_are_legal(receiver: Receiver, given: Any) -> None:
    assert post(receiver, value(given), JSON).body == b"{}"
    assert len(addresses(receiver)) == 1


def test_point_38_timestamps_are_nanoseconds(receiver: Receiver) -> None:
    body = span(**IDS, startTimeUnixNano="1760000000000000001", endTimeUnixNano="1760000000000000002")
    assert post(receiver, body, JSON).body == b"{}"

    stored = stored_span(receiver)
    assert (stored["start_time_unix_nano"], stored["end_time_unix_nano"]) == (1760000000000000001, 1760000000000000002)


@pytest.mark.parametrize("ids", [("0" * 32, "1" * 16), ("1" * 32, "0" * 16), ("1" * 31, "1" * 16), ("1" * 32, "")])
def test_point_39_ids_of_another_length_or_all_zero_are_refused(receiver: Receiver, ids: tuple[str, str]) -> None:
    answer = post(receiver, span(traceId=ids[0], spanId=ids[1]), JSON)

    assert answer.json["partialSuccess"]["rejectedSpans"] == "1"
    assert sessions(receiver) == []


def test_point_40_end_before_start_no_name_and_no_kind_are_kept(receiver: Receiver) -> None:
    body = span(**IDS, startTimeUnixNano="20", endTimeUnixNano="10", name="", kind=0)

    assert post(receiver, body, JSON).body == b"{}"
    assert len(addresses(receiver)) == 1


def test_point_41_doubled_keys_keep_the_last_and_dropped_counts_are_kept(receiver: Receiver) -> None:
    twice = [{"key": "k", "value": {"intValue": 1}}, {"key": "k", "value": {"intValue": 2}}]
    body = span(**IDS, attributes=twice, droppedAttributesCount=3, droppedEventsCount=4, droppedLinksCount=5)
    assert post(receiver, body, JSON).body == b"{}"

    stored = stored_span(receiver)
    assert stored["attributes"]["k"] == 2
    assert [stored[f"dropped_{name}_count"] for name in ("attributes", "events", "links")] == [3, 4, 5]


def test_point_42_flags_are_kept_whole(receiver: Receiver) -> None:
    assert post(receiver, span(**IDS, flags=0x301), JSON).body == b"{}"

    assert stored_span(receiver)["flags"] == 0x301


def test_point_43_string_indexes_of_profiles_are_not_fatal(receiver: Receiver) -> None:
    assert post(receiver, value({"stringValueStrindex": 7}), JSON).status == 200
    assert len(addresses(receiver)) == 1


def test_point_44_status_scope_and_resource_may_be_absent_and_schema_urls_are_kept(receiver: Receiver) -> None:
    body = json.dumps(
        {
            "resourceSpans": [
                {
                    "schemaUrl": "https://example.org/r",
                    "scopeSpans": [{"schemaUrl": "https://example.org/s", "spans": [IDS]}],
                }
            ]
        }
    ).encode()
    assert post(receiver, body, JSON).body == b"{}"

    (session,) = sessions(receiver)
    assert session.extra["resources"][0]["schema_url"] == "https://example.org/r"
    assert session.extra["scopes"][0]["schema_url"] == "https://example.org/s"


def test_point_45_duplicates_are_taken_once(receiver: Receiver) -> None:
    for _ in range(3):
        assert post(receiver, REQUEST).status == 200
        assert call(receiver, REQUEST) == b""

    assert dict(addresses(receiver)) == BOTH
    assert receiver.tally.duplicates == 10


def test_point_46_newer_clients_with_fields_we_do_not_know_work(receiver: Receiver) -> None:
    newer = REQUEST + b"\xfa\x3e\x03new"  # field 1007 of the request

    assert post(receiver, newer).body == b""
    assert call(receiver, newer) == b""
    assert dict(addresses(receiver)) == BOTH


def test_point_47_cors_is_off_by_default_and_answers_on_post_too(tmp_path: Path) -> None:
    asked = {"Origin": "https://app.example.org", "Access_Control_Request_Headers": "x-own, content-type"}
    with receiving(tmp_path / "off") as receiver:
        assert post(receiver, b"", method="OPTIONS", **asked).status == 405
        assert "access-control-allow-origin" not in post(receiver, REQUEST, **asked).headers
    with receiving(tmp_path / "on", cors_origins=("https://app.example.org",)) as receiver:
        preflight = post(receiver, b"", method="OPTIONS", **asked)
        sent = post(receiver, REQUEST, **asked)
        failed = post(receiver, b"\xff", **asked)
        other = post(receiver, b"", method="OPTIONS", Origin="https://evil.example.org")

    assert preflight.status == 204
    assert preflight.headers["access-control-allow-headers"] == "x-own, content-type"
    for answer in (preflight, sent, failed):
        assert answer.headers["access-control-allow-origin"] == "https://app.example.org"
    assert other.status == 405


def test_point_47_chunked_bodies_need_no_length(receiver: Receiver) -> None:
    assert post(receiver, iter([REQUEST[:7], REQUEST[7:30], REQUEST[30:]])).status == 200
    assert dict(addresses(receiver)) == BOTH


def test_point_47_expect_100_continue_is_answered_before_the_body(tmp_path: Path) -> None:
    with receiving(tmp_path, limits=SMALL) as receiver:
        head = "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nExpect: 100-continue\r\n"
        with socket.create_connection(place(receiver), timeout=20) as connection:
            connection.sendall(f"{head}Content-Length: {len(REQUEST)}\r\n\r\n".encode())
            assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(REQUEST)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        with socket.create_connection(place(receiver), timeout=20) as connection:
            connection.sendall(f"{head}Content-Length: 99999999\r\n\r\n".encode())
            assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_point_47_the_bearer_token_is_asked_on_both_transports(tmp_path: Path) -> None:
    basic = base64.b64encode(b"agent:secret").decode()
    with receiving(tmp_path, token="secret") as receiver:  # noqa: S106  # a token for a test
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "secret"}):
            answer = post(receiver, REQUEST, **given)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        for good in ("Bearer secret", "bearer secret", f"Basic {basic}"):
            assert post(receiver, REQUEST, Authorization=good).status == 200
        with pytest.raises(grpc.RpcError) as caught:
            call(receiver, REQUEST, token="wrong")  # noqa: S106  # a token for a test
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert call(receiver, REQUEST, token="secret") == b""  # noqa: S106  # a token for a test


def test_point_47_grpc_health_and_reflection(receiver: Receiver) -> None:
    with grpc.insecure_channel((receiver.grpc_endpoint or "").removeprefix("http://")) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for service in ("", "opentelemetry.proto.collector.trace.v1.TraceService"):
            answer = stub.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        names = set(ProtoReflectionDescriptorDatabase(channel).get_services())

    assert {
        f"opentelemetry.proto.collector.{name}"
        for name in (
            "trace.v1.TraceService",
            "logs.v1.LogsService",
            "metrics.v1.MetricsService",
        )
    } <= names


def test_logs_are_kept_with_their_spans_and_metrics_are_counted(receiver: Receiver) -> None:
    assert post(receiver, log_request(1), path="/v1/logs").status == 200
    assert post(receiver, b"\n\x04\x12\x02\x12\x00", path="/v1/metrics").status == 200
    assert post(receiver, REQUEST).status == 200

    assert "gen_ai.choice" in repr(sessions(receiver))
    assert receiver.counts.received == {Signal.LOGS: 1, Signal.METRICS: 1, Signal.TRACES: 2}
