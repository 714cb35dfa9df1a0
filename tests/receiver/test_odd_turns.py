"""What a receiver does at odd turns: half a call, an odd body, an owner that dies, a certificate that is gone."""

import json
import os
import signal
import socket
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from real_programs import wait_until
from receiving import JSON, addresses, call, place, post, raw, receiving
from spool_support import trace_request

from critiqor_otel.errors import ReceiverError
from critiqor_otel.receiver.config import ReceiverConfig, Tls
from critiqor_otel.receiver.receiver import Receiver

REQUEST = trace_request(1, 2, root=True)


def test_a_body_of_another_message_is_taken_for_nothing_and_the_client_told(receiver: Receiver) -> None:
    answer = post(receiver, b"\x1a\x03abc")  # a sound message, with a field that OTLP does not know

    assert answer.status == 200
    assert "hold nothing of this signal" in answer.response.partial_success.error_message


@pytest.mark.parametrize(
    ("signal_name", "document", "status"),
    [
        ("metrics", {"resourceMetrics": "none"}, 200),
        ("metrics", {"resourceMetrics": []}, 200),
        ("logs", {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "a"}}]}]}]}, 200),
        ("logs", {"resource_logs": [{"scope_logs": [{"log_records": [{"body": {"string_value": "a"}}]}]}]}, 200),
        ("logs", {"resourceLogs": "none"}, 200),
    ],
)
def test_json_of_each_signal_is_checked(
    receiver: Receiver, signal_name: str, document: dict[str, Any], status: int
) -> None:
    answer = post(receiver, json.dumps(document).encode(), JSON, path=f"/v1/{signal_name}")

    assert answer.status == status


def test_a_coding_that_is_not_known_is_named(receiver: Receiver) -> None:
    answer = post(receiver, REQUEST, content_encoding="br")

    assert answer.status == 415
    assert "Content-Encoding 'br' is not understood" in answer.refusal.message


def test_nothing_at_all_may_be_packed(receiver: Receiver) -> None:
    assert post(receiver, b"", content_encoding="gzip").status == 200


def test_a_lost_grpc_client_that_speaks_in_pieces_is_told_where_to_go(receiver: Receiver) -> None:
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    settings = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    headers = b"\x00\x00\x01\x01\x05" + struct.pack(">I", 1) + b"\x82"
    with socket.create_connection(place(receiver), timeout=20) as lost:
        lost.sendall(preface + settings[:5])
        begun = lost.recv(65536)
        lost.sendall(settings[5:] + headers[:-1])
        begun += lost.recv(65536)
        lost.sendall(headers[-1:])
        while part := lost.recv(65536):
            begun += part

    assert b"OTLP over gRPC is served on port" in begun


def test_a_body_that_comes_after_its_refusal_does_not_become_a_request(receiver: Receiver) -> None:
    head = b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection(place(receiver), timeout=20) as client:
        client.sendall(head)
        answered = client.recv(65536)
        with suppress(ConnectionError):
            client.sendall(b"GET /healthz HTTP/1.")
            while part := client.recv(65536):
                answered += part

    assert answered.startswith(b"HTTP/1.1 404 ")
    assert answered.count(b"HTTP/1.1 ") == 1


def test_two_faults_of_one_head_get_one_answer(receiver: Receiver) -> None:
    answered = raw(receiver, b"NO HTTP AT ALL\r\n\r\n" * 3)

    assert answered.startswith(b"HTTP/1.1 400 ")
    assert answered.count(b"HTTP/1.1 ") == 1


def test_a_certificate_that_is_not_there_is_named(tmp_path: Path) -> None:
    tls = Tls(certificate=tmp_path / "cert.pem", key=tmp_path / "key.pem")

    with pytest.raises(ReceiverError, match=r"cert\.pem is no file: TLS needs it"):
        Receiver(ReceiverConfig(runs=tmp_path / "runs", tls=tls))


def test_a_certificate_that_is_none_lets_nothing_listen(tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("no certificate")
    tls = Tls(certificate=tmp_path / "cert.pem", key=tmp_path / "cert.pem")
    config = ReceiverConfig(runs=tmp_path / "runs", grpc_port=None, http_port=0, tls=tls)

    with pytest.raises(ReceiverError, match="HTTP cannot listen on"), Receiver(config):
        pass


def test_before_it_listens_a_receiver_knows_no_numbers(tmp_path: Path) -> None:
    receiver = Receiver(ReceiverConfig(runs=tmp_path / "runs"))
    receiver.refuse()

    assert (receiver.ready, receiver.flush(), receiver.ui_address, receiver.grpc_endpoint) == (False, False, None, None)
    assert not receiver.counts.requests
    assert not receiver.tally.sealed


def test_an_owner_that_dies_is_told_of_and_replaced(tmp_path: Path) -> None:
    told: list[tuple[str, dict[str, object]]] = []
    died = threading.Event()

    def tell(word: str, facts: dict[str, object]) -> None:
        told.append((word, facts))
        if word == "owner-died":
            died.set()

    config = ReceiverConfig(runs=tmp_path, grpc_port=None, http_port=0, owner="process")
    with Receiver(config, tell=tell) as receiver:
        assert post(receiver, REQUEST).status == 200
        os.kill(owner_of(os.getpid()), signal.SIGKILL)
        assert died.wait(60)
        wait_until(lambda: receiver.ready and receiver.flush(5))

        assert sorted(addresses(receiver).values()) == [1, 1]
    assert ("owner-died", {"code": -signal.SIGKILL}) in told


@pytest.mark.parametrize("owner", ["thread", "process"])
def test_a_folder_that_is_moved_away_takes_nothing_until_it_is_back(tmp_path: Path, owner: Any) -> None:
    runs = tmp_path / "runs"
    with receiving(runs, owner=owner) as receiver:
        before = post(receiver, REQUEST).status
        runs.rename(tmp_path / "elsewhere")
        away = [post(receiver, trace_request(3)).status for _ in range(2)]
        wait_until(lambda: post(receiver, b"", path="/readyz", method="GET").status == 503)
        (tmp_path / "elsewhere").rename(runs)
        wait_until(lambda: post(receiver, b"", path="/readyz", method="GET").status == 200)
        after = post(receiver, trace_request(4)).status

        assert (before, away, after) == (200, [503, 503], 200)
        assert sorted(addresses(receiver).values()) == [1, 1, 1]


def owner_of(parent: int) -> int:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            its_parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if int(its_parent) == parent and b"owner_process" in (folder / "cmdline").read_bytes():
                return int(folder.name)
    raise LookupError("no owner is at work")


def test_a_grpc_client_that_comes_to_the_one_port_and_leaves_is_forgotten(tmp_path: Path) -> None:
    with receiving(tmp_path, one_port=True) as receiver:
        with socket.create_connection(place(receiver), timeout=20) as gone:
            gone.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
            assert gone.recv(1)
        assert call(receiver, REQUEST) == b""
        assert post(receiver, REQUEST).status == 200


def test_an_owner_that_does_not_end_in_time_is_killed_and_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("critiqor_otel.receiver.owner_process._LAST_SECONDS", 0.1)
    config = ReceiverConfig(runs=tmp_path, grpc_port=None, http_port=0, owner="process", shutdown_seconds=0.1)
    with Receiver(config) as receiver:
        assert post(receiver, REQUEST).status == 200
        owner = owner_of(os.getpid())
        os.kill(owner, signal.SIGSTOP)

    assert not Path(f"/proc/{owner}").exists()
