import hashlib
import json
import stat
from pathlib import Path

from analyzer.session.codec import read_session
from analyzer.session.model import Event, Session
from critiqor_otel.spool.continuations import join_continuations
from critiqor_otel.spool.sealed_runs import Arrival, seal


def run(*event_ids: str, run_id: str = "run_001") -> Session:
    events = tuple(
        Event(event_id=event_id, event="tool_call", event_type="tool_call", time_ns=position, payload={"input": {}})
        for position, event_id in enumerate(event_ids)
    )
    return Session(run_id=run_id, events=events)


def test_a_run_is_written_read_only_with_its_receipt(tmp_path: Path) -> None:
    sealed = seal(run("a", "b"), Arrival(duplicates=3), runs=tmp_path / "runs")

    session_file, receipt_file = sealed.folder / "session.json", sealed.folder / "receipt.json"
    receipt = json.loads(receipt_file.read_bytes())
    assert sealed.outcome == "written"
    assert sealed.folder == tmp_path / "runs" / "run_001"
    assert stat.S_IMODE(session_file.stat().st_mode) == stat.S_IMODE(receipt_file.stat().st_mode) == 0o444
    assert receipt == {
        "schema_version": "critiqor.receipt.v1",
        "run_id": "run_001",
        "transport": "file",
        "close_reason": "end_of_input",
        "duplicates": 3,
        "digest": f"sha256:{hashlib.sha256(session_file.read_bytes()).hexdigest()}",
    }


def test_the_same_evidence_again_changes_nothing(tmp_path: Path) -> None:
    first = seal(run("a"), Arrival(), runs=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}

    second = seal(run("a"), Arrival(duplicates=9), runs=tmp_path)

    assert second.outcome == "unchanged"
    assert second.folder == first.folder
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == before


def test_other_evidence_becomes_a_continuation_and_leaves_the_sealed_run_alone(tmp_path: Path) -> None:
    seal(run("a"), Arrival(), runs=tmp_path)
    before = (tmp_path / "run_001" / "session.json").read_bytes()

    sealed = seal(run("a", "b"), Arrival(), runs=tmp_path)

    continuation = read_session((tmp_path / "run_001~2" / "session.json").read_bytes())
    assert sealed.outcome == "continued"
    assert sealed.folder == tmp_path / "run_001~2"
    assert (continuation.run_id, continuation.continues) == ("run_001~2", "run_001")
    assert (tmp_path / "run_001" / "session.json").read_bytes() == before


def test_each_further_evidence_is_a_continuation_of_its_own(tmp_path: Path) -> None:
    versions = [run("a"), run("a", "b"), run("a", "b", "c")]

    outcomes = [seal(version, Arrival(), runs=tmp_path).outcome for version in (*versions, *versions)]

    assert outcomes == ["written", "continued", "continued", "unchanged", "unchanged", "unchanged"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run_001", "run_001~2", "run_001~3"]


def test_a_run_whose_id_looks_like_a_continuation_is_not_taken_for_one(tmp_path: Path) -> None:
    seal(run("a"), Arrival(), runs=tmp_path)
    seal(run("a", "b"), Arrival(), runs=tmp_path)

    sealed = seal(run("z", run_id="run_001~2"), Arrival(), runs=tmp_path)

    assert sealed.outcome == "written"
    assert sealed.folder.name == "run_001%7E2"


def test_an_id_that_climbs_stays_inside(tmp_path: Path) -> None:
    sealed = seal(run("a", run_id="../../outside"), Arrival(), runs=tmp_path / "runs")

    assert sealed.folder.resolve().parent == (tmp_path / "runs").resolve()
    assert read_session((sealed.folder / "session.json").read_bytes()).run_id == "../../outside"


def test_a_run_and_its_continuations_read_as_the_whole_run(tmp_path: Path) -> None:
    for version in (run("a"), run("a", "b"), run("a", "b", "c")):
        seal(version, Arrival(), runs=tmp_path)
    parts = [read_session(path.read_bytes()) for path in sorted(tmp_path.rglob("session.json"), reverse=True)]

    (whole,) = join_continuations(parts)

    assert whole.run_id == "run_001"
    assert whole.continues is None
    assert [event.event_id for event in whole.events] == ["a", "b", "c"]
