import csv
import io
import json
from pathlib import Path

import pytest
from command import CLEAN, LOOP, Critiqor
from evaluated import fill_history, put_verdict

from analyzer.evaluation import EvaluationRecord, load_evaluations, save_evaluation


def runs_of(critiqor: Critiqor, *arguments: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(critiqor("runs", *arguments, "--format", "json").out)["runs"]
    return found


@pytest.mark.usefixtures("folder")
def test_diagnose_of_a_folder_of_runs_fills_its_history(critiqor: Critiqor, folder: Path) -> None:
    critiqor("sessions", "traces", "--output", "runs")
    diagnosed = critiqor("diagnose", "runs", "--format", "json")

    listed = runs_of(critiqor)

    verdicts = json.loads(diagnosed.out)["runs"]
    assert [run["run_id"] for run in listed] == sorted(run["run_id"] for run in verdicts)
    assert [(run["trust_score"], run["primary_failure"], run["tokens"]) for run in listed] == [
        (100, None, 545),
        (49, "infinite_tool_loop", 1099),
    ]
    assert all(str(run["timestamp"]).startswith("2026-") and run["latency"] for run in listed)
    assert [record.trust_score for record in load_evaluations(folder / "runs" / "history.sqlite")] == [100, 49]


@pytest.mark.usefixtures("folder")
def test_a_history_is_no_evidence_and_diagnosing_again_changes_nothing(critiqor: Critiqor) -> None:
    critiqor("sessions", "traces", "--output", "runs")

    first, second = (critiqor("diagnose", "runs", "--format", "json") for _ in range(2))

    assert (first.out, first.err) == (second.out, second.err)
    assert json.loads(second.out)["skipped"] == []
    assert len(runs_of(critiqor)) == 2


def test_only_below_the_folder_that_was_given_is_a_history_filled(critiqor: Critiqor, folder: Path) -> None:
    critiqor("sessions", "traces", "--output", "runs")
    (run, _) = sorted(path for path in (folder / "runs").iterdir())

    critiqor("diagnose", "traces")
    critiqor("diagnose", f"runs/{run.name}")
    critiqor("diagnose", f"runs/{run.name}/session.json")

    assert list(folder.rglob("history.sqlite")) == []


@pytest.mark.usefixtures("folder")
def test_verdicts_on_traces_go_into_the_history_that_is_named(critiqor: Critiqor) -> None:
    critiqor("diagnose", "traces", "--history", "all.sqlite")

    assert [run["trust_score"] for run in runs_of(critiqor, "all.sqlite", "--sort", "trust")] == [49, 100]


@pytest.mark.usefixtures("folder")
def test_a_named_history_that_cannot_be_written_is_usage(critiqor: Critiqor, folder: Path) -> None:
    (folder / "file").touch()

    done = critiqor("diagnose", "traces", "--history", "file/all.sqlite")

    assert (done.code, done.out) == (2, "")
    assert "the history was not written" in done.err


@pytest.mark.usefixtures("folder")
def test_a_damaged_history_costs_a_remark_and_no_verdict(critiqor: Critiqor, folder: Path) -> None:
    critiqor("sessions", "traces", "--output", "runs")
    expected = critiqor("diagnose", "runs", "--write").out
    for file in (folder / "runs").glob("history.sqlite*"):
        file.unlink()
    (folder / "runs" / "history.sqlite").write_bytes(b"no store" * 1000)

    done = critiqor("diagnose", "runs")
    rebuilt = critiqor("runs", "--rebuild")

    assert (done.code, done.out) == (1, expected)
    assert "rebuild it" in done.err
    assert len(rebuilt.out.splitlines()) == 3
    assert "the history of runs was made from 2 diagnosed runs" in rebuilt.err


def test_a_history_that_is_missing_is_made_from_the_verdicts(critiqor: Critiqor, tmp_path: Path) -> None:
    put_verdict(tmp_path / "runs", "one", trust=70)

    assert [run["run_id"] for run in runs_of(critiqor)] == ["one"]

    put_verdict(tmp_path / "runs", "two", trust=80)
    assert [run["run_id"] for run in runs_of(critiqor, "--rebuild")] == ["one", "two"]


@pytest.mark.parametrize("verb", ["runs", "trends", "leaderboard"])
def test_nothing_to_read_says_how_to_come_by_a_history(verb: str, critiqor: Critiqor, tmp_path: Path) -> None:
    missing = critiqor(verb)
    (tmp_path / "runs").mkdir()
    empty = critiqor(verb)

    assert (missing.code, empty.code) == (3, 3)
    assert "critiqor-otel diagnose" in missing.err
    assert "runs holds no diagnosed run" in empty.err


def test_runs_are_chosen_sorted_and_cut(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 70, 90, 80)
    fill_history(tmp_path / "runs", 60, agent="bob", failure="cost_explosion")

    assert [run["run_id"] for run in runs_of(critiqor, "--sort", "trust")] == ["bob_1", "ada_1", "ada_3", "ada_2"]
    assert [run["run_id"] for run in runs_of(critiqor, "--agent", "ada", "--reverse", "--limit", "2")] == [
        "ada_3",
        "ada_2",
    ]
    assert [run["run_id"] for run in runs_of(critiqor, "--failure", "cost_explosion")] == ["bob_1"]
    assert [run["run_id"] for run in runs_of(critiqor, "--readiness", "review_recommended")] == ["bob_1"]
    assert runs_of(critiqor, "--status", "failed") == []


def test_a_choice_that_no_run_fits_is_told_of(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 70)

    none = critiqor("runs", "--failure", "infinite_tool_lop")

    assert none.code == 0
    assert "no run in runs fits; did you mean infinite_tool_loop?" in none.err


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--status", "complete", "did you mean completed?"),
        ("--status", "bogus", "--status knows no 'bogus', but completed, failed, unfinished, unknown"),
        ("--readiness", "safe", "did you mean safe_to_deploy or unsafe_for_production?"),
        ("--failure", "xyzzy", "`critiqor-otel explain` lists the failure types"),
    ],
)
def test_a_choice_that_no_run_can_fit_is_told_with_what_there_is(
    option: str, value: str, told: str, critiqor: Critiqor, tmp_path: Path
) -> None:
    fill_history(tmp_path / "runs", 70)

    assert f"no run in runs fits; {told}" in critiqor("runs", option, value).err


def test_the_table_tells_what_is_known_of_each_run(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", None, 80)

    lines = [" ".join(line.split()) for line in critiqor("runs").out.splitlines()]

    assert lines == [
        "RUN AGENT STARTED STATUS TRUST VERDICT MAIN FAILURE EXIT SECONDS TOKENS",
        "ada_1 ada 2026-01-01T00:00:00 completed ? safe to deploy none found 0 2.50 1,200",
        "ada_2 ada 2026-01-02T00:00:00 completed 80 safe to deploy none found 0 2.50 1,200",
    ]


def test_names_cannot_break_a_table_or_a_csv_file(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 80, agent='a,"b"\x1b[31m\n')

    table, lines = critiqor("runs").out, critiqor("runs", "--format", "csv").out
    (head, row) = csv.reader(io.StringIO(lines))

    assert "\x1b" not in table + lines
    assert len(table.splitlines()) == 2
    assert dict(zip(head, row, strict=True))["agent_id"] == 'a,"b"\\x1b[31m'
    assert dict(zip(head, row, strict=True))["primary_failure"] == ""


def test_a_process_s_exit_code_stands_in_the_list(critiqor: Critiqor) -> None:
    ended = critiqor("run", "--agent", "shell", "--", "sh", "-c", "exit 3")

    (run,) = runs_of(critiqor)

    assert ended.code == 3
    assert (run["agent_id"], run["exit_code"], run["status"]) == ("shell", 3, "failed")
    assert isinstance(run["latency"], float)


def test_trends_follow_each_agent(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 60, 70, 80)
    fill_history(tmp_path / "runs", 90, 90, agent="bob", failure="cost_explosion")

    table = critiqor("trends").out
    document = json.loads(critiqor("trends", "--window", "2", "--format", "json").out)

    assert ["ada", "3", "improving", "+10", "none"] in [line.split() for line in table.splitlines()]
    assert ["bob", "2", "stable", "+0", "cost_explosion"] in [line.split() for line in table.splitlines()]
    assert [(agent["agent_id"], agent["runs"], agent["trend"]["trust_change"]) for agent in document["agents"]] == [
        ("ada", 2, 10),
        ("bob", 2, 0),
    ]


def test_a_run_without_enough_evidence_is_listed_and_moves_no_trend(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 80, None, 80)

    (agent,) = json.loads(critiqor("trends", "--format", "json").out)["agents"]

    assert (agent["runs"], agent["trend"]["trust_trend"]) == (2, "stable")
    assert len(runs_of(critiqor)) == 3


def test_trends_of_one_agent_and_of_json_lines(critiqor: Critiqor, tmp_path: Path) -> None:
    for trust in (50, 90):
        record = EvaluationRecord.from_dict({"run_id": str(trust), "agent_id": "ada", "trust_score": trust})
        save_evaluation(record, tmp_path / "kept.jsonl")
    with (tmp_path / "kept.jsonl").open("a") as file:
        file.write('{"run_id": "cut')

    done = critiqor("trends", "kept.jsonl", "--agent", "ada")

    assert ["ada", "2", "improving", "+40", "none"] in [line.split() for line in done.out.splitlines()]
    assert "a line is no JSON and was left out" in done.err
    assert critiqor("trends", "kept.jsonl", "--agent", "eve").code == 3


def test_a_file_of_traces_is_no_history(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "traces.jsonl").write_text('{"resourceSpans": []}\n')

    result = critiqor("trends", "traces.jsonl")

    assert result.code == 3
    assert "traces.jsonl:1" in result.err
    assert "holds no evaluation" in result.err


def test_agents_are_ranked_in_their_category(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 60, 70)
    fill_history(tmp_path / "runs", 90, agent="bob")

    general = [line.split() for line in critiqor("leaderboard").out.splitlines()]
    coding = json.loads(critiqor("leaderboard", "--category", "coding", "--assign", "ada", "--format", "json").out)
    left = critiqor("leaderboard", "--category", "research")

    assert general == [
        ["RANK", "AGENT", "TRUST", "PERCENTILE", "RUNS"],
        ["1", "bob", "90", "100", "1"],
        ["2", "ada", "65", "50", "2"],
    ]
    assert [(entry["agent_id"], entry["trust_score"]) for entry in coding["rankings"]] == [("ada", 65)]
    assert (left.code, len(left.out.splitlines())) == (0, 1)
    assert "no agent of the category research has a run" in left.err


def test_two_runs_are_compared_by_path_or_by_id(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 60, 90)

    by_id = critiqor("compare", "ada_1", "ada_2")
    by_path = json.loads(critiqor("compare", CLEAN, LOOP, "--format", "json").out)

    assert ["trust", "60", "90", "+30"] in [line.split() for line in by_id.out.splitlines()]
    assert by_id.out.endswith("Trust went from 60 to 90 (+30); improved: loop_control, tool_reliability.\n")
    assert (by_path["trust_change"], by_path["changes"]["loop_control"]) == (-51, -28)
    assert critiqor("compare", "ada_1", "nobody").code == 2


@pytest.mark.usefixtures("folder")
def test_several_runs_are_compared_by_their_averages(critiqor: Critiqor) -> None:
    done = critiqor("compare", CLEAN, "traces", "--format", "json")

    assert json.loads(done.out)["trust_change"] == -26
    assert "traces holds 2 runs: their averages are compared" in done.err
