"""Traces asked of a Jaeger and a Tempo, by the APIs that their makers document."""

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from backend_stub import Query, Reply, answering
from command import LOOP, run_command

from analyzer.session.codec import write_session
from critiqor_otel.backends.windows import MOST
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span

SECOND = 1_000_000_000
NOW = 1_764_547_200 * SECOND


def trace(number: int) -> dict[str, Any]:
    """Return a trace of Jaeger's that begins so many milliseconds before now."""
    start = NOW // 1000 - number * 1000
    span = {
        "traceID": f"{number:x}",
        "spanID": "1",
        "operationName": "invoke_agent a",
        "startTime": start,
        "duration": 5,
    }
    return {"traceID": f"{number:x}", "spans": [{**span, "references": [], "processID": "p1"}], "processes": {}}


class KeptTraces:
    """A Jaeger that keeps many traces of two services, and answers the latest first, so many as are asked for."""

    def __init__(self, count: int) -> None:
        self.traces = [trace(number) for number in range(1, count + 1)]

    def __call__(self, path: str, query: Query) -> Reply:
        if path == "/api/services":
            return 200, {"data": ["agent", "other"], "errors": None}
        if path.startswith("/api/traces/"):
            found = [one for one in self.traces if one["traceID"] == path.rpartition("/")[2]]
            return (200, {"data": found}) if found else (404, {"errors": [{"code": 404, "msg": "trace not found"}]})
        start, end, limit = (int(query[name][0]) for name in ("start", "end", "limit"))
        found = [one for one in self.traces if start <= one["spans"][0]["startTime"] <= end]
        return 200, {"data": found[:limit], "errors": None}


def spans_of(address: str) -> list[Span]:
    return [span for batch in read_paths([address], now_ns=lambda: NOW) for span in batch.spans]


@pytest.mark.parametrize("count", [1, MOST - 1, MOST, 10 * MOST + 7])
def test_all_traces_of_a_time_are_read_however_many_a_search_returns(count: int) -> None:
    with answering(KeptTraces(count)) as backend:
        spans = spans_of(f"jaeger://127.0.0.1:{backend.port}?service=agent")

    assert sorted(int(span.trace_id, 16) for span in spans) == list(range(1, count + 1))


def test_traces_of_one_moment_are_read_however_many() -> None:
    kept = KeptTraces(3 * MOST)
    for one in kept.traces:
        one["spans"][0]["startTime"] = NOW // 1000 - 1
    with answering(kept) as backend:
        spans = spans_of(f"jaeger://127.0.0.1:{backend.port}?service=agent")

    assert len(spans) == 3 * MOST


def test_a_trace_of_several_services_is_read_once() -> None:
    with answering(KeptTraces(5)) as backend:
        spans = spans_of(f"jaeger://127.0.0.1:{backend.port}")

    assert len(spans) == 5
    assert [query["service"] for path, query in backend.asked if path == "/api/traces"] == [["agent"], ["other"]]


def test_what_is_asked_reaches_the_back_end() -> None:
    with answering(KeptTraces(1)) as backend:
        spans_of(
            f"jaeger://u:p@127.0.0.1:{backend.port}?service=agent&lookback=10m&operation=chat&tags=%7B%22a%22:%22b%22%7D"
        )

    (_, query) = backend.asked[0]
    assert query["operation"] == ["chat"]
    assert query["tags"] == ['{"a":"b"}']
    assert query["raw"] == ["true"]
    assert int(query["end"][0]) - int(query["start"][0]) == 600 * 1_000_000
    assert backend.headers[0]["authorization"] == "Basic dTpw"


def test_a_token_is_sent_and_traces_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRITIQOR_BACKEND_TOKEN", "told")
    with answering(KeptTraces(9)) as backend:
        spans = spans_of(f"jaeger://127.0.0.1:{backend.port}?trace=3&trace=5")

    assert [int(span.trace_id, 16) for span in spans] == [3, 5]
    assert backend.headers[0]["authorization"] == "Bearer told"


def test_nothing_found_is_told_with_what_there_is(tmp_path: Path) -> None:
    with answering(KeptTraces(0)) as backend:
        done = run_command(tmp_path, "sessions", f"jaeger://127.0.0.1:{backend.port}?service=nix")
        missing = run_command(tmp_path, "diagnose", f"jaeger://127.0.0.1:{backend.port}?trace=77")

    assert (done.code, missing.code) == (3, 3)
    assert "no traces of nix are kept in the time asked for; services that are known: agent, other" in done.err
    assert "no trace 77 is kept" in missing.err


class KeptByTempo:
    """A Tempo that keeps the traces of a file, in the older form of its API or in the newer alone."""

    def __init__(self, file: Path, *, newer: bool) -> None:
        self.blocks: list[Any] = []
        for line in file.read_bytes().splitlines():
            self.blocks += json.loads(line).get("resourceSpans", [])
        spans = [span for block in self.blocks for scope in block["scopeSpans"] for span in scope["spans"]]
        self.trace_id = spans[0]["traceId"]
        self.newer = newer

    def __call__(self, path: str, _query: Query) -> Reply:
        if path == "/api/search":
            return 200, {"traces": [{"traceID": self.trace_id.lstrip("0"), "rootServiceName": "a"}], "metrics": {}}
        if path.startswith("/api/v2/traces/") and self.newer:
            return 200, {"trace": {"resourceSpans": self.blocks}, "metrics": {}}
        if path.startswith("/api/traces/") and not self.newer:
            return 200, {"batches": self.blocks}
        return 404, b"not found"


@pytest.mark.parametrize("newer", [False, True])
def test_a_trace_out_of_tempo_is_the_session_of_its_file(newer: bool) -> None:  # noqa: FBT001  # a parameter of pytest
    (expected,) = reconstruct(span for batch in read_paths([str(LOOP)]) for span in batch.spans).sessions
    with answering(KeptByTempo(LOOP, newer=newer)) as backend:
        (session,) = reconstruct(spans_of(f"tempo://127.0.0.1:{backend.port}?service=agent&org=team-1")).sessions

    assert write_session(session) == write_session(expected)
    assert backend.headers[0]["x-scope-orgid"] == "team-1"
    assert backend.asked[0][1]["q"] == ['{ resource.service.name = "agent" }']


def test_a_name_cannot_break_out_of_a_query() -> None:
    with answering(lambda _path, _query: (200, {"traces": []})) as backend:
        spans_of(f"tempo://127.0.0.1:{backend.port}?service=a%22%7D")

    assert backend.asked[0][1]["q"] == ['{ resource.service.name = "a\\"}" }']


def test_without_a_service_all_are_named_where_nothing_is_kept(tmp_path: Path) -> None:
    with answering(KeptTraces(0)) as backend:
        done = run_command(tmp_path, "sessions", f"jaeger://127.0.0.1:{backend.port}")

    assert done.code == 3
    assert "no traces are kept in the time asked for; services: agent, other" in done.err


def test_an_error_in_place_of_traces_is_told(tmp_path: Path) -> None:
    def answer(_path: str, _query: Query) -> Reply:
        return 200, {"data": None, "errors": [{"msg": "store is down"}]}

    with answering(answer) as backend:
        done = run_command(tmp_path, "sessions", f"jaeger://127.0.0.1:{backend.port}?trace=77")

    assert done.code == 3
    assert "it answers with an error" in done.err
    assert "store is down" in done.err


def test_a_query_of_ones_own_reaches_tempo_and_a_trace_named_twice_is_read_once() -> None:
    kept = KeptByTempo(LOOP, newer=False)
    with answering(kept) as backend:
        asked = spans_of(f"tempo://127.0.0.1:{backend.port}?q={{name=%22invoke_agent%22}}")
        named = spans_of(f"tempo://127.0.0.1:{backend.port}?trace={kept.trace_id}&trace={kept.trace_id}")

    assert len(asked) == len(named) > 0
    assert ("/api/search", '{name="invoke_agent"}') in [
        (path, query.get("q", [""])[0]) for path, query in backend.asked
    ]


def test_what_keeps_a_back_end_from_answering_is_told(tmp_path: Path) -> None:
    with answering(KeptTraces(1)) as plain, socket.create_server(("127.0.0.1", 0)) as odd:
        answerer = threading.Thread(target=talk_nonsense, args=(odd,))
        answerer.start()
        said = run_command(
            tmp_path,
            "sessions",
            f"jaeger+https://127.0.0.1:{plain.port}?service=agent",
            "jaeger://no-such-host.invalid?service=agent",
            f"jaeger://127.0.0.1:{odd.getsockname()[1]}?service=agent",
        ).err
        answerer.join()

    assert "TLS failed" in said
    assert "its host is not known" in said
    assert "what answers there does not speak HTTP" in said


def talk_nonsense(server: socket.socket) -> None:
    server.settimeout(60)
    connection, _ = server.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"220 mail.example ESMTP\r\n")
