"""What an operator sets and sees: pages, certificates, ports, and what is refused at start."""

import http.client
import ssl
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import msgspec
import pytest
from receiving import EXPORT, addresses, call, place, post, receiving
from spool_support import trace_request

from critiqor_otel.errors import ReceiverError
from critiqor_otel.receiver.config import ReceiverConfig, Tls, validated
from critiqor_otel.receiver.receiver import Receiver

REQUEST = trace_request(1, 2, root=True, agent=True)


def page(receiver: Receiver, path: str, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(*place(receiver), timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def test_health_and_readiness(receiver: Receiver) -> None:
    assert page(receiver, "/healthz") == (200, "ok\n")
    assert page(receiver, "/readyz") == (200, "ready\n")

    receiver.refuse()

    assert page(receiver, "/healthz") == (200, "ok\n")
    assert page(receiver, "/readyz") == (503, "not ready\n")


def test_metrics_count_what_was_received_rejected_and_sealed(receiver: Receiver) -> None:
    post(receiver, REQUEST)
    post(receiver, REQUEST)
    call(receiver, REQUEST)
    post(receiver, b"\xff")
    receiver.flush()

    lines = page(receiver, "/metrics")[1].splitlines()

    for line in (
        'critiqor_requests_total{transport="grpc",signal="traces"} 1',
        'critiqor_requests_total{transport="http",signal="traces"} 2',
        'critiqor_items_received_total{signal="traces"} 6',
        'critiqor_requests_refused_total{transport="http",reason="bad_data"} 1',
        "critiqor_duplicate_spans_total 4",
        'critiqor_sessions_sealed_total{reason="flush"} 1',
        "critiqor_open_sessions 0",
        "critiqor_lag_bytes 0",
    ):
        assert line in lines
    assert len([line for line in lines if line.startswith("critiqor_journal_bytes ")]) == 1
    for line in lines:
        assert line.startswith("#") or len(line.rsplit(" ", 1)) == 2


def test_metrics_are_for_who_bears_the_token(tmp_path: Path) -> None:
    with receiving(tmp_path, token="secret") as receiver:  # noqa: S106  # a token for a test
        assert page(receiver, "/metrics")[0] == 401
        assert page(receiver, "/metrics", Authorization="Bearer secret")[0] == 200
        assert page(receiver, "/healthz")[0] == 200


class Certificates(NamedTuple):
    authority: Path
    server: Tls
    client: Tls


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)  # noqa: S607  # on every machine

    new = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    openssl(*new, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority")
    for name in ("server", "client"):
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        files = ("-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")
        openssl(*new, *files, *signed, "-addext", "basicConstraints=critical,CA:FALSE")
    return Certificates(
        folder / "ca.pem",
        *(Tls(certificate=folder / f"{name}.pem", key=folder / f"{name}.key") for name in ("server", "client")),
    )


def post_tls(receiver: Receiver, certificates: Certificates, *, with_own: bool) -> int:
    context = ssl.create_default_context(cafile=str(certificates.authority))
    if with_own:
        context.load_cert_chain(certificates.client.certificate, certificates.client.key)
    connection = http.client.HTTPSConnection(*place(receiver), context=context, timeout=10)
    try:
        connection.request("POST", "/v1/traces", REQUEST, {"Content-Type": "application/x-protobuf"})
        return connection.getresponse().status
    finally:
        connection.close()


def call_tls(receiver: Receiver, certificates: Certificates, *, with_own: bool) -> bytes:
    own = (certificates.client.key.read_bytes(), certificates.client.certificate.read_bytes()) if with_own else ()
    credentials = grpc.ssl_channel_credentials(certificates.authority.read_bytes(), *own)
    address = (receiver.grpc_endpoint or "").removeprefix("https://")
    with grpc.secure_channel(address, credentials) as channel:
        send: Any = channel.unary_unary(EXPORT)
        answer: bytes = send(REQUEST, timeout=10)
        return answer


def test_tls_on_both_transports(tmp_path: Path, certificates: Certificates) -> None:
    with receiving(tmp_path, tls=certificates.server) as receiver:
        assert post_tls(receiver, certificates, with_own=False) == 200
        assert call_tls(receiver, certificates, with_own=False) == b""


def test_with_mutual_tls_only_known_clients_are_let_in(tmp_path: Path, certificates: Certificates) -> None:
    mutual = msgspec.structs.replace(certificates.server, client_authority=certificates.authority)
    with receiving(tmp_path, tls=mutual) as receiver:
        with pytest.raises(OSError, match=r"alert|reset|closed|EOF|pipe"):
            post_tls(receiver, certificates, with_own=False)
        with pytest.raises(grpc.RpcError):
            call_tls(receiver, certificates, with_own=False)
        assert post_tls(receiver, certificates, with_own=True) == 200
        assert call_tls(receiver, certificates, with_own=True) == b""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])  # noqa: S104  # what is refused
def test_nothing_listens_beyond_this_machine_unprotected(host: str) -> None:
    with pytest.raises(ReceiverError, match="set a token or client certificates"):
        validated(ReceiverConfig(host=host))

    validated(ReceiverConfig(host=host, unprotected=True))
    validated(ReceiverConfig(host=host, token="secret"))  # noqa: S106  # a token for a test


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_needs_no_protection(host: str) -> None:
    validated(ReceiverConfig(host=host))


@pytest.mark.parametrize("token", ["", "  ", "schlüssel"])
def test_a_token_that_no_header_can_bear_is_refused(token: str) -> None:
    with pytest.raises(ReceiverError, match="token"):
        validated(ReceiverConfig(token=token))


def test_a_port_that_is_taken_is_named_and_nothing_stays_open(tmp_path: Path) -> None:
    with receiving(tmp_path / "first") as first:
        port = int((first.http_endpoint or "").rpartition(":")[2])
        taken = ReceiverConfig(runs=tmp_path / "second", grpc_port=0, http_port=port)
        with pytest.raises(ReceiverError, match=f"HTTP cannot listen on 127.0.0.1:{port}"):
            Receiver(taken).__enter__()
        grpc_port = int((first.grpc_endpoint or "").rpartition(":")[2])
        with pytest.raises(ReceiverError, match=f"gRPC cannot listen on 127.0.0.1:{grpc_port}.*is the port taken"):
            Receiver(msgspec.structs.replace(taken, grpc_port=grpc_port, http_port=0)).__enter__()
    with receiving(tmp_path / "second") as free:
        assert post(free, REQUEST).status == 200


def test_two_receivers_do_not_share_a_folder(tmp_path: Path) -> None:
    with receiving(tmp_path), pytest.raises(ReceiverError, match="another receiver"), receiving(tmp_path):
        pass


def test_one_transport_may_be_left_out(tmp_path: Path) -> None:
    with receiving(tmp_path / "http", grpc_port=None) as receiver:
        assert receiver.grpc_endpoint is None
        assert post(receiver, REQUEST).status == 200
    with receiving(tmp_path / "grpc", http_port=None) as receiver:
        assert receiver.http_endpoint is None
        assert call(receiver, REQUEST) == b""
    with pytest.raises(ReceiverError, match="neither"):
        Receiver(ReceiverConfig(grpc_port=None, http_port=None))


def test_the_owner_may_be_a_process_of_its_own(tmp_path: Path) -> None:
    sealed = []
    config = ReceiverConfig(runs=tmp_path, grpc_port=0, http_port=0, owner="process")
    with Receiver(config, sealed=sealed.append) as receiver:
        assert post(receiver, REQUEST).status == 200
        assert sorted(addresses(receiver).values()) == [1, 1]
        assert receiver.tally.sealed == {"flush": 1}
        post(receiver, trace_request(1, root=True, trace=2))

    assert [run.close_reason for run in sealed] == ["flush", "shutdown"]


def test_a_run_id_never_becomes_a_path(receiver: Receiver) -> None:
    for number, run_id in enumerate(("../../outside", "/etc/passwd", "..", ".spool", "a\x00b", "x" * 5000), 1):
        post(receiver, trace_request(1, root=True, agent=True, trace=number, critiqor__run_id=run_id))
    assert receiver.flush()

    runs = receiver.config.runs
    assert len(list(runs.glob("*/session.json"))) == 6
    assert [path for path in runs.parent.rglob("session.json") if path.parent.parent != runs] == []
