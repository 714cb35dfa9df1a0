import json
from pathlib import Path
from typing import Any

import pytest

from analyzer.evaluation import (
    Critiqor,
    EvaluationRecord,
    HistoryWarning,
    Origin,
    load_evaluations,
    save_evaluation,
)

TOLD = Origin(now=lambda: "2026-01-01T00:00:00+00:00", new_id=lambda: "new-id")


@pytest.fixture(params=["evaluations.jsonl", "history.sqlite", "deep/er/history.db"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / request.param


def record(run_id: str, agent_id: str = "a", **more: Any) -> EvaluationRecord:
    return EvaluationRecord.from_dict({"run_id": run_id, "agent_id": agent_id, **more})


def test_what_was_saved_is_loaded(path: Path) -> None:
    result = Critiqor("a").evaluate("p", "Certainly 99%.")

    saved = save_evaluation(result, path, "agent-1", origin=TOLD)

    assert (saved.run_id, saved.agent_id, saved.timestamp) == ("new-id", "agent-1", "2026-01-01T00:00:00+00:00")
    assert load_evaluations(path) == [saved]


def test_a_record_is_saved_as_it_is(path: Path) -> None:
    mine = record("r\ud800\0", "b\n", trust_score=2**70, scores={"é\u2028": -3})

    assert save_evaluation(mine, str(path), "ignored", "ignored") is mine
    assert load_evaluations(str(path)) == [mine]


def test_a_dict_is_stamped_where_it_names_nothing_itself(path: Path) -> None:
    bare = save_evaluation({"confidence": 61, "run_id": None, "scores": {"x": 1}}, path, origin=TOLD)
    full = save_evaluation({"run_id": "r", "agent_id": "mine", "timestamp": "t", "trust_score": "7"}, path, origin=TOLD)
    told = save_evaluation(full.to_dict(), path, "theirs", "r2", origin=TOLD)

    assert (bare.run_id, bare.agent_id, bare.trust_score) == ("new-id", "default", 61)
    assert (full.run_id, full.agent_id, full.timestamp, full.trust_score) == ("r", "mine", "t", 7)
    assert (told.run_id, told.agent_id) == ("r2", "theirs")


@pytest.mark.parametrize("thing", [None, 5, "text", [1]], ids=["none", "number", "text", "list"])
def test_what_is_no_evaluation_is_refused_by_name(path: Path, thing: Any) -> None:
    with pytest.raises(TypeError, match=f"found {type(thing).__name__}"):
        save_evaluation(thing, path)

    assert load_evaluations(path) == []


@pytest.mark.parametrize(
    ("agent_id", "limit", "loaded"),
    [
        (None, None, ["1", "2", "3", "4"]),
        (None, 0, ["1", "2", "3", "4"]),
        (None, 3, ["2", "3", "4"]),
        ("a", None, ["1", "3"]),
        ("b", 1, ["4"]),
        ("c", 5, []),
    ],
)
def test_the_last_evaluations_of_an_agent_are_loaded(
    path: Path, agent_id: Any, limit: int | None, loaded: list[str]
) -> None:
    for run_id, agent in (("1", "a"), ("2", "b"), ("3", "a"), ("4", "b")):
        save_evaluation(record(run_id, agent), path)

    assert [found.run_id for found in load_evaluations(path, agent_id, limit)] == loaded


def test_a_file_that_is_not_there_holds_nothing(path: Path) -> None:
    assert load_evaluations(path) == []
    assert not path.exists()


def test_a_line_is_one_object_with_sorted_keys(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    save_evaluation(record("r"), path)
    save_evaluation(record("s"), path)

    lines = path.read_text().splitlines()

    assert len(lines) == 2
    assert list(json.loads(lines[0])) == sorted(record("r").to_dict())


@pytest.mark.parametrize("cut", [b'{"run_id": "c', b"[1]", b"\xff\xfe{", b"5"], ids=["cut", "list", "bytes", "number"])
def test_a_line_that_cannot_be_read_costs_that_line_decision_not_the_file(tmp_path: Path, cut: bytes) -> None:
    path = tmp_path / "e.jsonl"
    save_evaluation(record("1"), path)
    with path.open("ab") as file:
        file.write(cut)

    save_evaluation(record("2"), path)

    with pytest.warns(HistoryWarning, match=r"e\.jsonl:2: a line"):
        assert [found.run_id for found in load_evaluations(path)] == ["1", "2"]


def test_an_object_of_something_else_is_no_evaluation(tmp_path: Path) -> None:
    lines = tmp_path / "kept.jsonl"
    lines.write_text('{"resourceSpans": []}\n{"run_id": "run-1", "trust_score": 80}\n')

    with pytest.warns(HistoryWarning, match=r"kept.jsonl:1: .* no field of an evaluation"):
        records = load_evaluations(lines)

    assert [record.run_id for record in records] == ["run-1"]


def test_blank_lines_and_windows_line_ends_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"run_id":"1"}\r\n\r\n \n{"run_id":"2"}')

    assert [found.run_id for found in load_evaluations(path)] == ["1", "2"]


def test_a_file_of_the_original_is_read(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    line = {
        "agent_id": "default",
        "deployment_recommendation": "safe_to_deploy",
        "evaluation_confidence": 82,
        "evidence_level": "trace_available",
        "failure_causes": [
            {
                "description": "d",
                "impact": -7,
                "recommendation": "fix",
                "root_cause": {"description": "w", "impact": "i", "recommended_fix": "fix", "trust_penalty": -7},
                "severity": "medium",
                "type": "ignored_tool_output",
            }
        ],
        "run_id": "5f0c",
        "scores": {"reasoning": 80},
        "timestamp": "2026-01-01T00:00:00+00:00",
        "trust_score": 80,
    }
    path.write_text(json.dumps(line) + "\n")

    (loaded,) = load_evaluations(path)

    assert loaded.to_dict() == line
