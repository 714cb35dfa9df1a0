"""A second `run` has a folder of runs of its own: what was sealed in it moves in, what was not stays."""

from pathlib import Path

from spool_support import START, record, trace_request, written

from analyzer.session.codec import read_session
from analyzer.session.model import Event, Session
from critiqor_otel.spool.journal import JournalLimits
from critiqor_otel.spool.kept_aside import KeptAside
from critiqor_otel.spool.left_behind import seal_beside
from critiqor_otel.spool.own_runs import move_in, own_runs
from critiqor_otel.spool.owner import OwnerSettings
from critiqor_otel.spool.sealed_runs import Arrival, seal
from critiqor_otel.spool.segments import Position, segment_path
from critiqor_otel.spool.spool_folder import SpoolFolder, SpoolLock


def own_folder(runs: Path, run_id: str = "second") -> Path:
    own = own_runs(runs, run_id)
    SpoolFolder(own).make()
    return own


def session(run_id: str, *names: str) -> Session:
    events = [Event(event_id=name, event="tool_call", event_type="tool_call", payload={}) for name in names]
    return Session(run_id=run_id, events=tuple(events))


def events_in(runs: Path) -> dict[str, list[str]]:
    files = sorted(runs.glob("*/session.json"))
    found = {file.parent.name: read_session(file.read_bytes()) for file in files}
    return {name: [event.event_id for event in session.events] for name, session in found.items()}


def take_over(runs: Path) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    seal_beside(
        SpoolFolder(runs),
        OwnerSettings(),
        now_ns=lambda: START,
        tell=lambda word, facts: told.append((word, Path(str(facts["folder"])).name)),
    )
    return told


def test_what_was_kept_aside_is_not_removed(tmp_path: Path) -> None:
    own = own_folder(tmp_path)
    kept = KeptAside(SpoolFolder(own).aside).keep(b"evidence", Position(1, 0), reason="unsealed")

    assert move_in(own, tmp_path) == {}
    assert kept.read_bytes() == b"evidence"


def test_what_was_not_sealed_is_not_removed(tmp_path: Path) -> None:
    own = own_folder(tmp_path)
    waiting = segment_path(SpoolFolder(own).journal, 1)
    waiting.write_bytes(b"acknowledged")

    assert move_in(own, tmp_path) == {}
    assert waiting.read_bytes() == b"acknowledged"


def test_nothing_else_stays(tmp_path: Path) -> None:
    own = own_folder(tmp_path)

    assert move_in(own, tmp_path) == {}
    assert not own.exists()


def test_a_run_and_what_came_later_for_it_carry_on_the_run_of_their_name(tmp_path: Path) -> None:
    own = own_folder(tmp_path)
    seal(session("second", "there"), Arrival(), runs=tmp_path)
    for event in ("one", "two"):
        seal(session("second", event), Arrival(), runs=own)

    move_in(own, tmp_path)

    assert events_in(tmp_path) == {"second": ["there"], "second~2": ["one"], "second~3": ["two"]}
    parts = [read_session((tmp_path / name / "session.json").read_bytes()) for name in ("second~2", "second~3")]
    assert [(part.run_id, part.continues) for part in parts] == [("second~2", "second"), ("second~3", "second")]
    assert not own.exists()


def test_a_move_that_was_interrupted_doubles_nothing_when_it_is_begun_again(tmp_path: Path) -> None:
    own = own_folder(tmp_path)
    seal(session("second", "there"), Arrival(), runs=tmp_path)
    seal(session("second", "one"), Arrival(), runs=own)
    seal(session("second", "one"), Arrival(), runs=tmp_path)  # as far as the one that was killed came

    assert take_over(tmp_path) == [("left-behind", "second~2")]
    assert events_in(tmp_path) == {"second": ["there"], "second~2": ["one"]}
    assert not own.exists()


def test_what_a_killed_run_had_received_is_sealed_with_what_it_had_sealed(tmp_path: Path) -> None:
    own = own_folder(tmp_path)
    seal(session("early", "one"), Arrival(), runs=own)
    written(SpoolFolder(own).journal, [record(trace_request(7), run_id="second")], JournalLimits())

    assert sorted(take_over(tmp_path)) == [("left-behind", "early"), ("left-behind", "second")]
    assert sorted(events_in(tmp_path)) == ["early", "second"]
    assert take_over(tmp_path) == []


def test_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    own = own_folder(tmp_path)
    written(SpoolFolder(own).journal, [record(trace_request(7), run_id="second")], JournalLimits())
    lock = SpoolLock(SpoolFolder(own), "run")

    assert take_over(tmp_path) == []
    lock.release()

    assert take_over(tmp_path) == [("left-behind", "second")]


def test_what_cannot_be_moved_in_stays_and_is_told(tmp_path: Path) -> None:
    own = own_folder(tmp_path)
    written(SpoolFolder(own).journal, [record(trace_request(7), run_id="second")], JournalLimits())
    (tmp_path / "second").write_text("a file where the folder should be")

    assert take_over(tmp_path) == [("not-taken-over", own.name)]
    (tmp_path / "second").unlink()

    assert take_over(tmp_path) == [("left-behind", "second")]
    assert not own.exists()
