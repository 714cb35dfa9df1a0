import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from analyzer.errors import HistoryDamagedError, HistoryError
from analyzer.evaluation import (
    AgentProfile,
    Diagnosed,
    EvaluationRecord,
    History,
    HistoryWarning,
    RunQuery,
    export_lines,
    import_lines,
    load_evaluations,
    rebuild,
    save_evaluation,
)
from analyzer.evaluation.diagnosed import record_of_diagnosis
from analyzer.evaluation.history.schema import VERSION


def record(run_id: str, timestamp: str = "", **more: Any) -> EvaluationRecord:
    return EvaluationRecord.from_dict({"run_id": run_id, "agent_id": "a", "timestamp": timestamp, **more})


def diagnosis(run_id: str, **more: Any) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "agent": {"name": "ada", "framework": None, "version": None},
        "status": "completed",
        "trust_score": 80,
        "readiness_level": "review_recommended",
        "evidence_level": "fully_instrumented",
        "scores": {"loop_control": 71},
        "failure_causes": [{"type": "cost_explosion", "severity": "high", "impact": -12, "evidence": ["e1"]}],
        "primary_diagnosis": {"root_cause_failure_type": "cost_explosion"},
        "cost_analysis": {"total_tokens": 1},
        "runtime_metrics": {"latency": 2.5, "retries": 0, "errors": []},
        "evidence_summary": {"event_count": 4, "tool_outputs": 1, "tokens": {"total": 1200}},
        **more,
    }


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "history.sqlite"


def put_run(runs: Path, run_id: str, document: Any = None, session: str | None = None) -> None:
    folder = runs / run_id
    folder.mkdir(parents=True)
    (folder / "diagnosis.json").write_text(json.dumps(diagnosis(run_id) if document is None else document))
    if session is not None:
        (folder / "session.json").write_text(session)


@pytest.mark.parametrize(
    ("told", "agent"),
    [
        ({"agent": {"name": "ada", "framework": "strands"}}, "ada"),
        ({"agent": {"name": None, "framework": "strands"}}, "strands"),
        ({"agent": {"name": None, "framework": "strands"}, "agent_id": "ada"}, "ada"),
        ({"agent": {"name": None, "framework": None}}, "default"),
    ],
)
def test_an_agent_without_a_name_goes_by_its_framework(told: dict[str, Any], agent: str) -> None:
    assert record_of_diagnosis(diagnosis("r", **told)).agent_id == agent


def test_a_new_store_writes_ahead_and_knows_its_version(store: Path) -> None:
    History(store).close()

    connection = sqlite3.connect(store)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    connection.close()


def test_evaluations_come_by_time_and_those_without_first(store: Path) -> None:
    with History(store) as history:
        history.save(record("late", "2026-01-02T00:00:00+02:00"))
        history.save(record("early", "2026-01-01T21:59:59Z"))
        history.save(record("unknown", "soon"))
        history.save(record("equal", "2026-01-01T22:00:00Z"))

        assert [found.run_id for found in history.records()] == ["unknown", "early", "late", "equal"]
        assert [found.run_id for found in history.records(limit=2)] == ["late", "equal"]


def test_evaluations_are_saved_all_or_none(store: Path) -> None:
    def broken() -> Any:
        yield record("1")
        raise KeyboardInterrupt

    with History(store) as history:
        with pytest.raises(KeyboardInterrupt):
            history.save_all(broken())

        assert history.records() == []
        history.save(record("2"))
        assert len(history.records()) == 1


def test_a_diagnosed_run_is_a_run_and_a_record(store: Path) -> None:
    with History(store) as history:
        saved = history.save_diagnoses([Diagnosed(diagnosis("r"), "2026-01-01T00:00:00Z", "runs/r/diagnosis.json")])
        (run,) = history.runs()
        (kept,) = history.records("ada")

    assert saved == 1
    assert run.to_dict() == {
        "run_id": "r",
        "agent_id": "ada",
        "timestamp": "2026-01-01T00:00:00Z",
        "status": "completed",
        "trust_score": 80,
        "readiness": "review_recommended",
        "primary_failure": "cost_explosion",
        "exit_code": None,
        "latency": 2.5,
        "tokens": 1200,
        "path": "runs/r/diagnosis.json",
    }
    assert (kept.trust_score, kept.evaluation_confidence, kept.timestamp) == (80, 93 + 10 - 4, "2026-01-01T00:00:00Z")
    assert kept.failure_causes[0].evidence == ("e1",)


def test_diagnosing_a_run_again_replaces_it(store: Path) -> None:
    with History(store) as history:
        history.save(record("r"))
        history.save_diagnoses([Diagnosed(diagnosis("r")), Diagnosed(diagnosis("s"))])
        history.save_diagnoses([Diagnosed(diagnosis("r", trust_score=20))])

        assert [(run.run_id, run.trust_score) for run in history.runs()] == [("r", 20), ("s", 80)]
        assert sorted(found.trust_score for found in history.records()) == [0, 20, 80]


def test_the_newest_evaluation_of_a_run_is_found_by_its_id(store: Path) -> None:
    with History(store) as history:
        history.save(record("r", "2026-01-02T00:00:00Z", trust_score=70))
        history.save_diagnoses([Diagnosed(diagnosis("r"), "2026-01-01T00:00:00Z")])

        found = history.record("r")

        assert found is not None
        assert found.trust_score == 70
        assert history.record("nobody") is None


def test_a_run_without_a_trust_score_is_listed_and_is_no_evaluation(store: Path) -> None:
    with History(store) as history:
        history.save_diagnoses([Diagnosed(diagnosis("r")), Diagnosed(diagnosis("s", trust_score=None))])
        assert [(run.run_id, run.trust_score) for run in history.runs()] == [("r", 80), ("s", None)]
        assert [kept.run_id for kept in history.records()] == ["r"]

        history.save_diagnoses([Diagnosed(diagnosis("r", trust_score=None))])
        assert history.records() == []


def test_the_agent_of_a_diagnosed_run_is_registered_unless_it_is(store: Path) -> None:
    with History(store) as history:
        history.register(AgentProfile("ada", "Ada", "coding"))
        history.save_diagnoses([Diagnosed(diagnosis("r")), Diagnosed(diagnosis("s", agent={"name": "bob"}))])

        assert history.profiles() == [AgentProfile("ada", "Ada", "coding"), AgentProfile("bob")]


def test_the_store_is_not_locked_while_diagnoses_are_made(store: Path) -> None:
    def slow() -> Any:
        yield Diagnosed(diagnosis("r"))
        with History(store, wait_s=0) as other:
            other.save(record("meanwhile"))
        yield Diagnosed(diagnosis("s"))

    with History(store) as history:
        history.save_diagnoses(slow())

        assert len(history.records()) == 3


def test_runs_are_filtered_and_sorted(store: Path) -> None:
    found = [
        diagnosis("a", trust_score=50, readiness_level="unsafe_for_production", exit_code=1),
        diagnosis("b", trust_score=90),
        diagnosis("c", trust_score=None, agent={"name": "bob"}),
    ]
    with History(store) as history:
        history.save_diagnoses(map(Diagnosed, found))

        def listed(**query: Any) -> list[str]:
            return [run.run_id for run in history.runs(RunQuery(**query))]

        assert listed(order="trust_score") == ["a", "b", "c"]
        assert listed(order="trust_score", descending=True) == ["b", "a", "c"]
        assert listed(agent_id="ada", limit=1) == ["a"]
        assert listed(readiness="unsafe_for_production", primary_failure="cost_explosion") == ["a"]
        assert listed(status="failed") == []
        assert listed(order="1; DROP TABLE runs") == ["a", "b", "c"]
        assert history.runs()[0].exit_code == 1


def test_an_entry_that_is_no_json_is_left_out_with_a_warning(store: Path) -> None:
    with History(store) as history:
        history.save_all([record("1"), record("2")])
    connection = sqlite3.connect(store)
    connection.execute("UPDATE records SET body = '{' WHERE run_id = '1'")
    connection.commit()
    connection.close()

    with History(store) as history, pytest.warns(HistoryWarning, match="no JSON"):
        assert [found.run_id for found in history.records()] == ["2"]


@pytest.mark.parametrize(
    "damage", [b"this is no store" * 100, b"SQLite format 3\0" + b"\xff" * 5000], ids=["text", "garbage"]
)
def test_a_damaged_store_says_so_and_can_be_rebuilt(store: Path, damage: bytes) -> None:
    put_run(store.parent, "r")
    store.write_bytes(damage)

    with pytest.raises(HistoryDamagedError, match=r"history\.sqlite is damaged .* rebuild it"):
        History(store)
    rebuilt = rebuild(store.parent)

    assert rebuilt.runs == 1
    assert rebuilt.damaged is not None
    assert rebuilt.damaged.read_bytes() == damage
    with History(store) as history:
        assert [run.run_id for run in history.runs()] == ["r"]


def test_what_a_damaged_store_still_holds_is_salvaged(store: Path) -> None:
    with History(store) as history:
        history.register(AgentProfile("a", "Ada"))
        history.save_all([record(f"{number:04}", trust_score=number) for number in range(2000)])
    data = bytearray(store.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 40_000] = b"\xff" * 40_000
    store.write_bytes(data)

    rebuilt = rebuild(store.parent)

    assert 0 < rebuilt.salvaged < 2000
    assert rebuilt.notes[0].code == "damaged-history"
    with History(store) as history:
        assert [found.run_id for found in history.records()][:2] == ["0000", "0001"]
        assert history.profiles() == [AgentProfile("a", "Ada")]


def test_a_store_of_a_newer_build_is_left_alone(store: Path) -> None:
    History(store).close()
    connection = sqlite3.connect(store)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()

    with pytest.raises(HistoryError, match=f"version {VERSION + 1}, this build reads up to {VERSION}"):
        rebuild(store.parent)

    assert store.exists()


def test_a_store_that_is_held_too_long_is_named(store: Path) -> None:
    History(store).close()
    holder = sqlite3.connect(store, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    with History(store, wait_s=0) as history, pytest.raises(HistoryError, match=r"history\.sqlite: database is locked"):
        history.save(record("1"))

    holder.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(HistoryError, match="file: "):
        History(tmp_path / "file" / "history.sqlite")


def test_a_closed_store_says_so(store: Path) -> None:
    history = History(store)
    history.close()

    with pytest.raises(HistoryError, match="closed"):
        history.records()


def test_rebuilding_reads_all_runs_and_keeps_what_was_saved_on_its_own(store: Path) -> None:
    put_run(store.parent, "b", session='{"created_at": "2026-01-01T00:00:00.000000000Z", "events": []}')
    put_run(store.parent, "a", {"schema_version": "critiqor.diagnosis.v1", "runs": [diagnosis("a"), diagnosis("a2")]})
    put_run(store.parent, "c", [1])
    put_run(store.parent, "d", session="cut")
    (store.parent / "e").mkdir()
    (store.parent / "e" / "diagnosis.json").write_text('{"run_id')
    with History(store) as history:
        history.save(record("mine", "2026-02-01T00:00:00Z"))
        history.save_diagnoses([Diagnosed(diagnosis("gone"))])

    rebuilt = rebuild(store.parent)

    assert (rebuilt.runs, rebuilt.damaged) == (4, None)
    assert [(note.code, Path(note.place or "").parent.name) for note in rebuilt.notes] == [
        ("unreadable-diagnosis", "c"),
        ("unreadable-diagnosis", "e"),
    ]
    with History(store) as history:
        assert [run.run_id for run in history.runs()] == ["a", "a2", "d", "b"]
        assert history.records()[-1].run_id == "mine"
        assert len(history.records()) == 5


def test_rebuilding_twice_changes_nothing(store: Path) -> None:
    put_run(store.parent, "b")
    rebuild(store.parent)
    with History(store) as history:
        first = (history.runs(), history.records())

    rebuild(store.parent)

    with History(store) as history:
        assert (history.runs(), history.records()) == first


def test_a_diagnosis_of_the_original_is_read(store: Path) -> None:
    put_run(
        store.parent,
        "run_001",
        {
            "run_id": "run_001",
            "agent_id": "openclaw_agent",
            "executive_summary": {
                "trust_score": 88,
                "readiness_level": "ready_for_runtime",
                "evidence_level": "fully_instrumented",
                "event_count": 9,
            },
            "failure_analysis": {"failure_causes": [{"type": "skill_failure", "severity": "medium", "impact": -14}]},
            "primary_diagnosis": {"root_cause_failure_type": "skill_failure"},
            "cost_analysis": {"total_tokens": 40},
        },
    )
    rebuild(store.parent)

    with History(store) as history:
        (run,), (kept,) = history.runs(), history.records("openclaw_agent")

    assert (run.trust_score, run.readiness, run.primary_failure, run.tokens) == (
        88,
        "ready_for_runtime",
        "skill_failure",
        40,
    )
    assert (kept.deployment_recommendation, kept.failure_causes[0].type) == ("safe_to_deploy", "skill_failure")


def test_the_store_travels_as_json_lines(store: Path, tmp_path: Path) -> None:
    lines = tmp_path / "out" / "evaluations.jsonl"
    records = [record(str(number), f"2026-01-0{number}T00:00:00Z", trust_score=number) for number in (1, 2, 3)]
    with History(store) as history:
        history.save_all(reversed(records))
        assert export_lines(history, lines) == 3

    assert load_evaluations(lines) == records
    with History(tmp_path / "other.sqlite") as other:
        first, again = import_lines(other, lines), import_lines(other, lines)
        assert other.records() == records
    assert (first.added, first.known) == (3, 0)
    assert (again.added, again.known) == (0, 3)


def test_an_import_says_which_lines_it_left_out(store: Path, tmp_path: Path) -> None:
    lines = tmp_path / "evaluations.jsonl"
    save_evaluation(record("1"), lines)
    with lines.open("a") as file:
        file.write('{"run_id": "cut')

    with History(store) as history:
        imported = import_lines(history, lines)

    assert imported.added == 1
    assert [note.place for note in imported.notes] == [f"{lines}:2"]


def test_an_export_that_fails_leaves_the_file_as_it_was(store: Path, tmp_path: Path) -> None:
    lines = tmp_path / "evaluations.jsonl"
    lines.write_text("before")
    history = History(store)
    history.close()

    with pytest.raises(HistoryError):
        export_lines(history, lines)

    assert lines.read_text() == "before"
    assert list(tmp_path.glob(".*")) == []
