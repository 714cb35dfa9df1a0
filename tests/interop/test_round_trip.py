"""Session → spans → Collector → receiver, files and Jaeger → session: the same file again."""

from pathlib import Path

import msgspec
from drawn_sessions import SESSIONS
from fanned_out import EVER, Held
from hypothesis import assume, given, settings
from real_programs import CONFIG, INTEROP, Collector, Jaeger, Serving
from trips import without_spans

from analyzer.session.codec import read_session
from analyzer.session.model import Session
from critiqor_otel.emit.otlp_exporter import OTLPSpanExporter
from critiqor_otel.emit.otlp_settings import OtlpSettings
from critiqor_otel.emit.replay import replay

RECORDED = sorted((INTEROP.parent / "cases" / "critiqor-v1").glob("*.session.json"))
LAST_NS = (1 << 63) - 1_000
ALL_WAYS = ("receiver", "json", "proto", "zstd_proto", "jaeger")


def through(
    sessions: dict[str, Session], collector_binary: Path, jaeger_binary: Path, folder: Path
) -> dict[str, dict[str, bytes]]:
    """Return what came back by each way, without the spans that events came with."""
    jaeger, server = Jaeger(jaeger_binary), Serving(folder / "runs")
    environment = {
        "JAEGER_OTLP_ENDPOINT": f"127.0.0.1:{jaeger.otlp}",
        "CRITIQOR_OTLP_ENDPOINT": server.otlp,
        "CRITIQOR_TRACES": str(folder),
    }
    collector = Collector(collector_binary, CONFIG, INTEROP / "more-files.yaml", environment=environment)
    exporter = OTLPSpanExporter(settings=OtlpSettings(endpoint=f"{collector.endpoint}/v1/traces"))
    assert replay(sessions.values(), exporter.export_neutral).is_whole
    exporter.shutdown()
    assert collector.stop() == 0
    server.settle()
    places = {"receiver": folder / "runs", "jaeger": f"{jaeger.address}?{EVER}"}
    came = {way: Held(places.get(way, folder / way)).sessions for way in ALL_WAYS}
    jaeger.kill()
    return {
        way: {run_id: without_spans(read_session(content)) for run_id, content in found.items()}
        for way, found in came.items()
    }


def test_every_recorded_session_comes_back(collector_binary: Path, jaeger_binary: Path, tmp_path: Path) -> None:
    sessions = {(session := read_session(path.read_bytes())).run_id: session for path in RECORDED}
    expected = {run_id: without_spans(session) for run_id, session in sessions.items()}

    came = through(sessions, collector_binary, jaeger_binary, tmp_path)

    assert len(expected) > 40
    assert {way: differing(found, expected) for way, found in came.items()} == {way: [] for way in ALL_WAYS}


def drawn(count: int) -> dict[str, Session]:
    """Return sessions that hypothesis drew, under run ids that no two share."""
    found: dict[str, Session] = {}

    @settings(max_examples=count)
    @given(session=SESSIONS)
    def draw(session: Session) -> None:
        # Jaeger's search reaches to the last microsecond of 64 bits of nanoseconds; what is later is shown there.
        assume(all((event.time_ns or 0) < LAST_NS for event in session.events))
        run_id = f"run {len(found)}"
        found[run_id] = msgspec.structs.replace(session, run_id=run_id, continues=None)

    draw()
    return found


def test_any_session_comes_back(collector_binary: Path, jaeger_binary: Path, tmp_path: Path) -> None:
    sessions = drawn(200)
    expected = {run_id: without_spans(session) for run_id, session in sessions.items()}

    came = through(sessions, collector_binary, jaeger_binary, tmp_path)

    assert {way: differing(found, expected) for way, found in came.items()} == {way: [] for way in ALL_WAYS}


def differing(found: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    return sorted(run_id for run_id in found | expected if found.get(run_id) != expected.get(run_id))
