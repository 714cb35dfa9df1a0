"""The pages over the runs folder: what they answer, to whom, and what they never show."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import CAPTURES
from receiving import Answer, post, receiving

from analyzer.diagnosis import diagnose
from analyzer.report.json_form import run_document
from analyzer.session.model import Session
from critiqor_otel.engine.local import gather, runs_of
from critiqor_otel.errors import ReceiverError
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.receiver.receiver import Receiver
from critiqor_otel.receiver.runs_list import UNJUDGED, RunsList
from critiqor_otel.spool.run_files import DIAGNOSIS_FILE
from critiqor_otel.spool.run_folder import folder_of
from critiqor_otel.spool.sealed_runs import Arrival, seal

LOOP = CAPTURES / "pydantic_ai" / "repeat_identical_calls.otlp.jsonl"


def sealed(runs: Path, run_id: str = "run 1/../x", *, judged: bool = True) -> Session:
    (session,) = runs_of(gather(read_paths([str(LOOP)]))).sessions
    named = Session(run_id=run_id, events=session.events, agent=session.agent, trace_ids=session.trace_ids)
    seal(named, Arrival(), runs=runs)
    if judged:
        (runs / folder_of(run_id) / DIAGNOSIS_FILE).write_bytes(run_document(diagnose(named)))
    return named


def get(receiver: Receiver, path: str, **headers: str) -> Answer:
    return post(receiver, b"", None, path=path, method="GET", **headers)


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    sealed(tmp_path / "runs")
    with receiving(tmp_path / "runs", ui=True) as running:
        yield running


def test_pages_are_served_only_where_they_are_asked_for(tmp_path: Path) -> None:
    with receiving(tmp_path / "runs") as receiver:
        assert get(receiver, "/ui/").status == 404
        assert receiver.ui_address is None


def test_the_address_without_its_slash_leads_to_the_list(receiver: Receiver) -> None:
    answer = get(receiver, "/ui")
    bare = get(receiver, "/")

    assert (answer.status, answer.headers["location"]) == (308, "/ui/")
    assert (bare.status, bare.headers["location"]) == (308, "/ui/")


def test_the_list_gives_rows_once_a_change(receiver: Receiver) -> None:
    first = get(receiver, "/ui/api/runs?since=-1").json
    again = get(receiver, f"/ui/api/runs?since={first['version']}").json
    of_another_process = get(receiver, "/ui/api/runs?since=999").json

    assert [(row["run_id"], row["trust"], row["severity"]) for row in first["rows"]] == [("run 1/../x", 49, "critical")]
    assert again == {"version": first["version"], "rows": []}
    assert of_another_process["rows"] == first["rows"]


@pytest.mark.parametrize(
    "query", ["", "?since=", "?since=x", "?since=1e9", "?since=-", "?since=%FF", "?since=99999999999999999999"]
)
def test_an_odd_question_gets_every_row(receiver: Receiver, query: str) -> None:
    assert len(get(receiver, f"/ui/api/runs{query}").json["rows"]) == 1


def test_a_run_has_a_page_at_the_address_that_its_row_tells(receiver: Receiver) -> None:
    (row,) = get(receiver, "/ui/api/runs").json["rows"]
    answer = get(receiver, f"/ui/{row['link']}")

    assert answer.status == 200
    assert b"Infinite tool loop" in answer.body
    assert b'href="../"' in answer.body


@pytest.mark.parametrize(
    "path",
    [
        "/ui/runs/",
        "/ui/runs/..",
        "/ui/runs/%2e%2e",
        "/ui/runs/..%2f..%2fetc%2fpasswd",
        "/ui/runs/.critiqor",
        "/ui/x",
        "/ui/runs/no",
    ],
)
def test_nothing_but_runs_has_a_page(receiver: Receiver, path: str) -> None:
    assert get(receiver, path).status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_pages_can_only_be_got(receiver: Receiver, method: str) -> None:
    assert post(receiver, b"", None, path="/ui/", method=method).status == 405


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80"])
def test_who_comes_under_a_foreign_name_sees_nothing(receiver: Receiver, host: str) -> None:
    answer = get(receiver, "/ui/api/runs", Host=host)

    assert answer.status == 403
    assert b"run_id" not in answer.body


@pytest.mark.parametrize("host", ["localhost:4318", "127.0.0.1", "[::1]:4318", "LOCALHOST", "10.0.0.7:80"])
def test_who_comes_by_address_is_let_in(receiver: Receiver, host: str) -> None:
    assert get(receiver, "/ui/api/runs", Host=host).status == 200


def test_other_origins_may_send_and_read_nothing(tmp_path: Path) -> None:
    with receiving(tmp_path / "runs", ui=True, cors_origins=("*",)) as receiver:
        answer = get(receiver, "/ui/api/runs", Origin="https://app.example")

        assert "access-control-allow-origin" not in answer.headers
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_every_answer_is_guarded_by_headers(receiver: Receiver) -> None:
    for path in ("/ui/", "/ui/api/runs", "/ui/nothing"):
        headers = get(receiver, path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in get(receiver, "/ui/").headers["content-security-policy"]


def test_the_token_guards_all_of_it(tmp_path: Path) -> None:
    sealed(tmp_path / "runs")
    with receiving(tmp_path / "runs", ui=True, token="secret") as receiver:  # noqa: S106  # of this test alone
        for path in ("/ui", "/ui/", "/ui/api/runs", "/ui/runs/x"):
            answer = get(receiver, path)
            assert answer.status == 401
            assert answer.headers["www-authenticate"].startswith("Basic ")
        assert get(receiver, "/ui/api/runs", Authorization="Bearer secret").status == 200
        assert get(receiver, "/ui/api/runs", Authorization="Bearer secret", Host="runs.example").status == 200


def test_pages_need_an_http_port(tmp_path: Path) -> None:
    with pytest.raises(ReceiverError, match="over HTTP"), receiving(tmp_path / "runs", ui=True, http_port=None):
        pass


def test_a_session_that_cannot_be_read_is_said_to_be_so(receiver: Receiver, tmp_path: Path) -> None:
    (row,) = get(receiver, "/ui/api/runs").json["rows"]
    (session_file,) = (tmp_path / "runs").glob("run*/session.json")
    session_file.unlink()
    session_file.write_text("no session")

    answer = get(receiver, f"/ui/{row['link']}")

    assert answer.status == 500
    assert b"can't be read" in answer.body


def test_a_run_without_a_verdict_is_listed_and_judged_when_it_is_opened(tmp_path: Path) -> None:
    sealed(tmp_path, "later", judged=False)
    listed = RunsList(tmp_path)
    (row,) = listed.changed(-1)
    assert (row.run_id, row.readiness) == ("later", UNJUDGED)
    assert row.started is not None

    (session,) = runs_of(gather(read_paths([str(tmp_path)]))).sessions
    (tmp_path / "later" / DIAGNOSIS_FILE).write_bytes(run_document(diagnose(session)))
    (row,) = listed.changed(listed.version)

    assert (row.run_id, row.trust) == ("later", 49)
    assert listed.changed(listed.version) == []


def test_a_folder_that_is_not_there_yet_has_no_runs(tmp_path: Path) -> None:
    listed = RunsList(tmp_path / "runs")
    assert listed.changed(-1) == []

    sealed(tmp_path / "runs")

    assert len(listed.changed(0)) == 1


def test_a_verdict_that_cannot_be_read_leaves_the_run_unjudged(tmp_path: Path) -> None:
    sealed(tmp_path, "odd")
    (tmp_path / "odd" / DIAGNOSIS_FILE).write_text(json.dumps({"run_id": 7}))

    assert [row.readiness for row in RunsList(tmp_path).changed(-1)] == [UNJUDGED]
