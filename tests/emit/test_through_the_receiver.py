"""Session, spans, our own receiver, session: the same again, over HTTP and over gRPC."""

from pathlib import Path

import pytest
from trips import without_spans

from analyzer.session.codec import read_session
from critiqor_otel.emit.otlp_exporter import OTLPSpanExporter
from critiqor_otel.emit.otlp_settings import OtlpSettings, Protocol
from critiqor_otel.emit.replay import replay
from critiqor_otel.testing import embedded_receiver, sealed_sessions

CASES = sorted((Path(__file__).parents[1] / "cases" / "critiqor-v1").glob("*.session.json"))


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_every_recorded_session_comes_back(protocol: Protocol, tmp_path: Path) -> None:
    sessions = {(session := read_session(path.read_bytes())).run_id: session for path in CASES}
    with embedded_receiver(tmp_path / "runs") as receiver:
        path = "/v1/traces" if protocol == "http/protobuf" else ""
        settings = OtlpSettings(endpoint=f"{receiver.http_endpoint}{path}", protocol=protocol)
        exporter = OTLPSpanExporter(settings=settings)
        replayed = replay(sessions.values(), exporter.export_neutral)
        exporter.shutdown()
        sealed = sealed_sessions(receiver)

    assert replayed.is_whole
    assert {session.run_id: without_spans(session) for session in sealed} == {
        run_id: without_spans(session) for run_id, session in sessions.items()
    }
