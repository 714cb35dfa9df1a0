"""Clients that are slow, lost, gone or hostile: each is bounded, and the others are served."""

import os
import random
import socket
import struct
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from real_programs import Serving, wait_until
from receiving import EXPORT, JSON, LOGS, PROTOBUF, addresses, call, hex_json, place, post, raw, receiving
from spool_support import trace_request

from critiqor_otel.receiver.config import Limits
from critiqor_otel.receiver.receiver import Receiver

REQUEST = trace_request(1, 2, root=True, agent=True)
INPUTS = min(int(os.environ.get("FUZZ_INPUTS", "300")), 10_000)
HASTY = Limits(header_seconds=0.3, body_seconds=0.3, keep_alive_seconds=1)


def rest_of(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def test_a_head_that_comes_too_slowly_is_ended(tmp_path: Path) -> None:
    with receiving(tmp_path, limits=HASTY) as receiver, socket.create_connection(place(receiver), timeout=10) as slow:
        slow.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: x\r\n")
        assert post(receiver, REQUEST).status == 200
        assert rest_of(slow).startswith(b"HTTP/1.1 408 ")


def test_a_silent_connection_is_ended(tmp_path: Path) -> None:
    with receiving(tmp_path, limits=HASTY) as receiver, socket.create_connection(place(receiver), timeout=10) as slow:
        assert rest_of(slow).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_comes_too_slowly_is_ended(tmp_path: Path) -> None:
    with receiving(tmp_path, limits=HASTY) as receiver, socket.create_connection(place(receiver), timeout=10) as slow:
        slow.sendall(
            b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
        )
        assert post(receiver, REQUEST).status == 200
        assert rest_of(slow).startswith(b"HTTP/1.1 408 ")


def flood(connection: socket.socket) -> None:
    for number in range(100_000):
        connection.sendall(b"X-%d: %b\r\n" % (number, b"x" * 1000))


def test_a_head_without_end_is_ended(receiver: Receiver) -> None:
    with socket.create_connection(place(receiver), timeout=10) as greedy:
        greedy.sendall(b"POST /v1/traces HTTP/1.1\r\n")
        with pytest.raises(ConnectionError):
            flood(greedy)
    assert post(receiver, REQUEST).status == 200


def test_a_client_that_closes_its_side_gets_its_answer(receiver: Receiver) -> None:
    head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\nContent-Length: {len(REQUEST)}\r\n\r\n"
    with socket.create_connection(place(receiver), timeout=10) as half:
        half.sendall(head.encode() + REQUEST)
        half.shutdown(socket.SHUT_WR)
        assert rest_of(half).startswith(b"HTTP/1.1 200 ")


UPGRADE = (
    "POST /v1/traces HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    f"HTTP2-Settings: AAEAAEAA\r\nContent-Type: {PROTOBUF}\r\nContent-Length: {len(REQUEST)}\r\n\r\n"
).encode()


def test_a_client_that_would_rather_speak_http2_is_served_all_the_same(receiver: Receiver) -> None:
    """Java's own client would, and says so with its first request."""
    assert raw(receiver, UPGRADE + REQUEST).startswith(b"HTTP/1.1 200 ")
    assert len(addresses(receiver)) == 2


def test_a_body_that_the_parser_would_leave_to_http2_is_never_acknowledged(receiver: Receiver) -> None:
    with socket.create_connection(place(receiver), timeout=10) as connection:
        connection.sendall(UPGRADE.replace(b"close, ", b"") + REQUEST + UPGRADE + REQUEST)
        answers = rest_of(connection)

    assert answers.count(b"HTTP/1.1 200 ") <= 1
    assert answers.count(b"HTTP/1.1 400 ") == 1


def test_a_client_that_leaves_in_the_middle_of_its_body_stores_nothing(receiver: Receiver) -> None:
    head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\nContent-Length: {len(REQUEST)}\r\n\r\n"
    with socket.create_connection(place(receiver), timeout=10) as gone:
        gone.sendall(head.encode() + REQUEST[:-1])
        gone.shutdown(socket.SHUT_WR)
        assert rest_of(gone) == b""
    assert addresses(receiver) == {}


def test_clients_that_never_read_do_not_stop_others(tmp_path: Path) -> None:
    question = b"GET /" + b"x" * 4000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    with receiving(tmp_path, limits=HASTY) as receiver, ExitStack() as stack:
        for _ in range(5):
            deaf = stack.enter_context(socket.create_connection(place(receiver), timeout=0.5))
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            try:
                for _ in range(1000):
                    deaf.sendall(question)
            except OSError:
                pass  # its buffers are full: the server reads no more of it
        assert post(receiver, REQUEST).status == 200


def is_closed(connection: socket.socket) -> bool:
    try:
        return not connection.recv(1)
    except ConnectionError:
        return True


def test_connections_beyond_the_limit_are_closed_and_the_others_served(tmp_path: Path) -> None:
    with receiving(tmp_path, limits=Limits(connections=3)) as receiver, ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection(place(receiver), timeout=10)) for _ in range(3)]
        first = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\nContent-Length: 0\r\n\r\n"
        for connection in held:
            connection.sendall(first.encode())
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        with socket.create_connection(place(receiver), timeout=10) as fourth:
            assert is_closed(fourth)
        held[0].sendall(first.encode())
        assert held[0].recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_grpc_client_on_the_http_port_is_told_where_to_go(receiver: Receiver) -> None:
    port = (receiver.grpc_endpoint or "").rpartition(":")[2]
    with grpc.insecure_channel("{}:{}".format(*place(receiver))) as channel:
        send: Any = channel.unary_unary(EXPORT)
        with pytest.raises(grpc.RpcError) as caught:
            send(REQUEST, timeout=10)

    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert f"OTLP over gRPC is served on port {port}" in str(caught.value.details())


def test_an_http_client_on_the_grpc_port_is_not_left_waiting(receiver: Receiver) -> None:
    address = (receiver.grpc_endpoint or "").removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1])), timeout=10) as lost:
        lost.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        with suppress(ConnectionError):  # closed is what it should be
            rest_of(lost)


def test_a_tls_client_on_the_plain_port_is_told(receiver: Receiver) -> None:
    assert b"plain HTTP, not TLS" in raw(receiver, b"\x16\x03\x01\x00\x05hello")


def test_grpc_calls_that_stall_do_not_stop_others(receiver: Receiver) -> None:
    address = (receiver.grpc_endpoint or "").removeprefix("http://").split(":")
    with ExitStack() as stack:
        for _ in range(40):
            stalled = stack.enter_context(socket.create_connection((address[0], int(address[1])), timeout=10))
            stalled.sendall(half_a_call())
        with grpc.insecure_channel(":".join(address)) as channel:
            send: Any = channel.unary_unary(EXPORT)
            assert send(REQUEST, timeout=10) == b""


def test_a_path_that_is_no_utf8_does_not_end_the_grpc_port(receiver: Receiver) -> None:
    address = (receiver.grpc_endpoint or "").removeprefix("http://").split(":")
    odd = half_a_call().replace(b"collector", b"collect\xaer")

    for _ in range(3):
        with socket.create_connection((address[0], int(address[1])), timeout=10) as rough:
            rough.sendall(odd)
            rough.shutdown(socket.SHUT_WR)
            with suppress(ConnectionError):
                rest_of(rough)
        wait_until(lambda: is_served(receiver))

    assert addresses(receiver) == {(f"{1:032x}", f"{number:016x}"): 1 for number in (1, 2)}


def test_odd_paths_among_good_calls_do_not_end_serve(tmp_path: Path) -> None:
    """Of a server that an odd path had ended, grpcio once wrote into memory that was given back."""
    serving = Serving(tmp_path / "runs")
    with ThreadPoolExecutor(6) as clients:
        odd = [clients.submit(send_odd_paths, serving, 80) for _ in range(3)]
        for good in [clients.submit(send_until, serving.otlp, odd) for _ in range(3)]:
            good.result()

    assert [one.result() for one in odd] == [80, 80, 80]
    assert serving.stop() == 0


def send_odd_paths(serving: Serving, times: int) -> int:
    """Return how many were sent before the process ended."""
    odd = half_a_call().replace(b"collector", b"collect\xaer")
    sent = 0
    pause = threading.Event()
    while sent < times and serving.process.poll() is None:
        # Refused while the port is between two servers, which counts as well.
        with suppress(OSError), socket.create_connection(("127.0.0.1", serving.ports[0]), timeout=10) as rough:
            rough.sendall(odd)
            rough.shutdown(socket.SHUT_WR)
            rest_of(rough)
        sent += 1
        pause.wait(0.05)
    return sent


def send_until(address: str, ends: list[Future[None]]) -> None:
    """Send good requests, on a new connection each, until all of those have ended."""
    while not all(one.done() for one in ends):
        with (
            suppress(grpc.RpcError),
            grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)]) as channel,
        ):
            send: Any = channel.unary_unary(EXPORT)
            send(REQUEST, timeout=10)


def is_served(receiver: Receiver) -> bool:
    try:
        return call(receiver, REQUEST) == b""
    except grpc.RpcError as error:
        assert error.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}  # noqa: PT017  # sent again
        return False


def half_a_call() -> bytes:
    """Return the beginning of a gRPC call whose message never ends: HTTP/2 preface, settings, headers, half a frame."""

    def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload

    def literal(name: bytes, value: bytes) -> bytes:
        return b"\x00" + bytes((len(name),)) + name + bytes((len(value),)) + value

    headers = b"".join(
        literal(name, value)
        for name, value in (
            (b":method", b"POST"),
            (b":scheme", b"http"),
            (b":path", EXPORT.encode()),
            (b":authority", b"x"),
            (b"content-type", b"application/grpc"),
            (b"te", b"trailers"),  # codespell:ignore te
        )
    )
    message = b"\x00" + struct.pack(">I", 1_000_000) + b"x" * 100
    return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, headers) + frame(0, 0, 1, message)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with receiving(tmp_path_factory.mktemp("runs")) as running:
        yield running


def mutated(body: bytes, seed: int) -> bytes:
    noise = random.Random(seed)  # told noise, no secret
    changed = bytearray(body)
    for _ in range(noise.randrange(1, 8)):
        at = noise.randrange(len(changed) + 1)
        match noise.randrange(4):
            case 0:
                changed[at:at] = noise.randbytes(noise.randrange(1, 9))
            case 1:
                del changed[at : at + noise.randrange(1, 20)]
            case 2 if at < len(changed):
                changed[at] ^= 1 << noise.randrange(8)
            case _:
                changed[at:] = changed[at:] * 2
    return bytes(changed)


@settings(max_examples=INPUTS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1 << 30), content_type=st.sampled_from((PROTOBUF, JSON)), coding=st.sampled_from(("", "gzip"))
)
def test_fuzzed_requests_are_answered_and_the_next_good_one_works(
    target: Receiver, seed: int, content_type: str, coding: str
) -> None:
    good = REQUEST if content_type == PROTOBUF else hex_json(REQUEST)
    answer = post(target, mutated(good, seed), content_type, Content_Encoding=coding)

    assert answer.status in {200, 400}
    assert b"Traceback" not in answer.body
    assert post(target, good, content_type).status == 200


@settings(max_examples=INPUTS // 2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 30))
def test_fuzzed_heads_are_answered_or_closed(target: Receiver, seed: int) -> None:
    whole = (
        f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\nContent-Length: {len(REQUEST)}\r\n\r\n"
    ).encode() + REQUEST
    with socket.create_connection(place(target), timeout=10) as rough:
        rough.sendall(mutated(whole, seed))
        rough.shutdown(socket.SHUT_WR)
        try:
            answer = rest_of(rough)
        except ConnectionError:
            answer = b""

    assert not answer or answer.split(b" ")[1][:1] in {b"2", b"4"} or answer.startswith(b"HTTP/1.1 503")
    assert post(target, REQUEST).status == 200


@settings(max_examples=INPUTS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 30), gzip=st.booleans(), method=st.sampled_from((EXPORT, LOGS)))
def test_fuzzed_grpc_calls_are_answered_and_the_next_good_one_works(
    target: Receiver, seed: int, method: str, *, gzip: bool
) -> None:
    refused = None
    try:
        call(target, mutated(REQUEST, seed), method=method, gzip=gzip)
    except grpc.RpcError as error:
        refused = error

    if refused is not None:
        assert refused.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "Traceback" not in refused.details()
    assert call(target, REQUEST) == b""


@settings(max_examples=INPUTS // 2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 30))
def test_fuzzed_frames_on_the_grpc_port_stop_nobody_else(target: Receiver, seed: int) -> None:
    address = urlsplit(target.grpc_endpoint or "")
    odd = mutated(half_a_call(), seed)
    # The one before may have ended a server that has not come back yet: then nobody connects, which is an end too.
    with (
        suppress(ConnectionError),
        socket.create_connection((address.hostname or "", address.port or 0), timeout=10) as rough,
    ):
        rough.sendall(odd)
        rough.shutdown(socket.SHUT_WR)

    wait_until(lambda: is_served(target))


def test_what_the_rough_clients_sent_never_ends_the_owner(target: Receiver) -> None:
    assert target.flush()
    assert target.ready
