"""The tables of `--format parquet`, read as users read them."""

import json
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from command import Critiqor


@pytest.fixture
def tables(critiqor: Critiqor, folder: Path) -> Path:
    critiqor("diagnose", "traces", "--format", "parquet", "--output", "tables")
    return folder / "tables"


def test_duckdb_joins_runs_causes_and_events(tables: Path) -> None:
    sql = """
        select run_id, trust_score, type, severity, event, tool_name
        from read_parquet(?) as runs
        join read_parquet(?) as causes using (run_id)
        join read_parquet(?) as events using (run_id)
        where event_id = causes.evidence[1] and type = 'infinite_tool_loop'
    """

    found = duckdb.execute(sql, [f"{tables}/{name}/*.parquet" for name in ("runs", "causes", "events")]).fetchall()

    assert [row[2:] for row in found] == [("infinite_tool_loop", "critical", "tool_call", "search_docs")]


def test_pandas_reads_what_the_json_report_says(critiqor: Critiqor, tables: Path) -> None:
    told = [json.loads(line) for line in critiqor("diagnose", "traces", "--format", "jsonl").out.splitlines()]

    runs, causes = (pd.read_parquet(tables / name).sort_values("run_id", kind="stable") for name in ("runs", "causes"))

    assert list(runs["run_id"]) == [run["run_id"] for run in told]
    assert list(runs["trust_score"]) == [run["trust_score"] for run in told]
    assert [dict(scores) for scores in runs["scores"]] == [run["scores"] for run in told]
    assert list(runs["input_tokens"]) == [run["evidence_summary"]["tokens"]["input"] for run in told]
    assert list(causes["fingerprint"]) == [cause["fingerprint"] for run in told for cause in run["failure_causes"]]
    assert sorted(runs["files"].str[0]) == ["traces/clean.otlp.jsonl", "traces/loop.otlp.jsonl"]


def test_every_event_of_a_session_is_a_row_with_its_payload(critiqor: Critiqor, tables: Path, folder: Path) -> None:
    critiqor("sessions", "traces", "--output", "runs")
    sessions = [json.loads(path.read_bytes()) for path in sorted((folder / "runs").glob("*/session.json"))]

    events = pd.read_parquet(tables / "events")

    told = {(s["run_id"], event["event_id"]): event for s in sessions for event in s["events"]}
    rows = {(row["run_id"], row["event_id"]): row for row in events.to_dict("records")}
    assert rows.keys() == told.keys()
    assert all(json.loads(rows[key]["payload"]) == event["payload"] for key, event in told.items())


def test_parquet_goes_to_a_folder_that_is_empty(critiqor: Critiqor, tables: Path) -> None:
    again = critiqor("diagnose", "traces", "--format", "parquet", "--output", str(tables))
    unnamed = critiqor("diagnose", "traces", "--format", "parquet")

    assert (again.code, unnamed.code) == (2, 2)
    assert "holds files already" in again.err
    assert "name it with --output FOLDER" in unnamed.err


def test_json_lines_come_in_parts_where_the_output_is_a_folder(critiqor: Critiqor, folder: Path) -> None:
    whole = critiqor("diagnose", "traces", "--format", "jsonl").out

    critiqor("diagnose", "traces", "--format", "jsonl", "--output", "parts/")

    lines = [line for path in sorted((folder / "parts").glob("*.jsonl")) for line in path.read_text().splitlines()]
    assert sorted(lines) == sorted(whole.splitlines())
    assert (folder / "parts" / "_SUCCESS").exists()


def test_numbers_and_times_beyond_64_bits_are_null_and_stand_in_the_payload(critiqor: Critiqor, folder: Path) -> None:
    usage = {"input_tokens": 10**30, "output_tokens": 7}
    answer = {"event_type": "after_provider_response", "payload": {"usage": usage}, "timestamp": "9999-12-31T00:00:00Z"}
    (folder / "odd.json").write_text(json.dumps({"run_id": "odd", "events": [answer]}))

    made = critiqor("diagnose", "odd.json", "--format", "parquet", "--output", "odd")

    runs, events = (pd.read_parquet(folder / "odd" / name) for name in ("runs", "events"))
    assert made.code == 0
    assert pd.isna(runs["input_tokens"][0])
    assert pd.isna(events["time"][0])
    assert json.loads(events["payload"][0])["usage"] == usage
