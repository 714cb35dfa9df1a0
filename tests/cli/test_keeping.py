from collections.abc import Iterator
from pathlib import Path

import pytest

from analyzer.diagnosis import diagnose
from analyzer.evaluation import History
from analyzer.report.report import RunReport, report_run
from analyzer.session.model import Event, Session
from critiqor_otel.cli.keeping import Stores, keep
from critiqor_otel.cli.side import Side
from critiqor_otel.errors import OutputError

SESSIONS = [
    Session(
        run_id=f"run_{number:04}",
        events=(Event(event_id="e", event="decision", event_type="decision", time_ns=number * 10**9),),
    )
    for number in range(1001)
]


def reports() -> Iterator[RunReport]:
    return (report_run(diagnose(session), session) for session in SESSIONS)


def stores(runs: Path, given: Path) -> Stores:
    return Stores({session.run_id: [str(runs / session.run_id / "session.json")] for session in SESSIONS}, [str(given)])


def test_more_runs_than_one_transaction_holds_are_all_kept_with_their_start(tmp_path: Path) -> None:
    passed = list(keep(reports(), SESSIONS, stores(tmp_path / "runs", tmp_path), side=Side(quiet=True)))

    with History(tmp_path / "runs" / "history.sqlite") as history:
        kept = history.runs()
    assert len(passed) == len(kept) == 1001
    assert (kept[-1].run_id, kept[-1].timestamp) == ("run_1000", "1970-01-01T00:16:40.000000000Z")
    assert kept[-1].path == str(tmp_path / "runs" / "run_1000" / "session.json")


def test_a_history_that_cannot_be_written_is_told_of_once_and_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "history.sqlite").mkdir()

    passed = list(keep(reports(), SESSIONS, stores(tmp_path / "runs", tmp_path), side=Side(quiet=False)))

    assert len(passed) == 1001
    assert capsys.readouterr().err.count("the history was not written") == 1


def test_a_history_that_was_named_must_be_written(tmp_path: Path) -> None:
    (tmp_path / "h.sqlite").mkdir()
    named = Stores({}, [], str(tmp_path / "h.sqlite"))

    with pytest.raises(OutputError, match="the history was not written"):
        list(keep(reports(), SESSIONS, named, side=Side(quiet=True)))


def test_runs_that_lie_elsewhere_are_kept_nowhere(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()

    list(keep(reports(), SESSIONS, stores(tmp_path / "runs", tmp_path / "given"), side=Side(quiet=True)))

    assert list(tmp_path.rglob("history.sqlite")) == []
