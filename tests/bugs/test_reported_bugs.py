"""Inputs made from public bug reports, each with its right behaviour beside it in `.facts.txt`."""

import json
import math
from pathlib import Path
from typing import Any

from command import run_command

from analyzer.diagnosis import diagnose
from analyzer.session.codec import write_session
from analyzer.session.model import Session
from critiqor_otel.engine.local import gather, runs_of
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.reconstruct.grouping import GroupBy

BUGS = Path(__file__).parents[1] / "cases" / "bugs"


def sessions(name: str, group_by: GroupBy | None = None) -> list[Session]:
    (path,) = [path for path in BUGS.glob(f"{name}-*") if path.suffix != ".txt"]
    return runs_of(gather(read_paths([str(path)])), group_by=group_by).sessions


def verdict(name: str) -> dict[str, Any]:
    (session,) = sessions(name)
    return diagnose(session).to_dict()


def span_ids(session: Session) -> set[str]:
    return {event.span.span_id for event in session.events if event.span is not None}


def test_01_batches_sent_again_after_a_lost_acknowledgement_count_once(tmp_path: Path) -> None:
    run = verdict("01")
    (session,) = sessions("01")
    outcome = run_command(
        tmp_path, "diagnose", BUGS / "01-duplicate-batches-after-retry.otlp.jsonl", "--format", "json"
    )

    assert len(span_ids(session)) == 5
    assert run["evidence_summary"]["model_calls"] == 2
    assert run["evidence_summary"]["tokens"]["input"] == 2700
    assert run["evidence_summary"]["tokens"]["output"] == 120
    assert run["evidence_summary"]["tool_calls_by_name"]["send_email"] == 1
    assert run["failure_causes"] == []
    assert outcome.code == 0
    assert [note["message"] for note in json.loads(outcome.out)["notes"]] == [
        "5 spans were delivered more than once; each was taken once"
    ]


def test_02_a_sum_on_the_root_is_not_added_to_its_parts() -> None:
    summary = verdict("02")["evidence_summary"]

    assert (summary["tokens"]["input"], summary["tokens"]["output"], summary["tokens"]["total"]) == (30000, 500, 30500)
    assert summary["model_calls"] == 4


def test_04a_polling_is_no_loop(tmp_path: Path) -> None:
    (cause,) = verdict("04a")["failure_causes"]

    assert (cause["severity"], cause["impact"], cause["marks"]) == ("low", 0, ["progressing"])
    assert run_command(tmp_path, "diagnose", BUGS / "04a-polling-is-not-a-loop.otlp.json").code == 0


def test_04b_a_real_loop_is_one_finding_with_every_call_as_evidence(tmp_path: Path) -> None:
    (session,) = sessions("04b")
    (cause,) = verdict("04b")["failure_causes"]
    calls = [event for event in session.events if event.event == "tool_call"]

    assert cause["type"] == "infinite_tool_loop"
    assert "read_file" in cause["description"]
    assert cause["evidence"] == [call.event_id for call in calls]
    assert [span["span_id"] for span in cause["spans"]] == [call.span.span_id for call in calls if call.span]
    assert len(calls) == 6
    assert run_command(tmp_path, "diagnose", BUGS / "04b-real-loop.otlp.json").code == 1


def test_05_parallel_calls_are_paired_with_their_own_results() -> None:
    (session,) = sessions("05")
    run = verdict("05")
    calls = {event.tool_call_id: event.payload["input"] for event in session.events if event.event == "tool_call"}
    outputs = {event.tool_call_id: event for event in session.events if event.event == "tool_output"}

    assert set(calls) == set(outputs)
    paired = {str(calls[call_id]["city"]): outputs[call_id] for call_id in calls}
    assert "3" in json.dumps(paired["Oslo"].payload["result"])
    assert "21" in json.dumps(paired["Rome"].payload["result"])
    assert paired["Lima"].status == "error"
    assert run["evidence_summary"]["tool_errors"] == 1
    assert [(cause["type"], cause["severity"]) for cause in run["failure_causes"]] == [("tool_timeout", "low")]


def test_06_spans_after_the_root_ended_belong_to_the_run() -> None:
    (session,) = sessions("06")
    run = verdict("06")
    (write,) = [e for e in session.events if e.event == "tool_output" and e.tool_name == "write_file"]

    assert len(span_ids(session)) == 5
    assert [note.code for note in session.notes] == []
    assert run["runtime_metrics"]["latency"] == 62.0
    assert run["evidence_summary"]["tokens"]["input"] == 1200
    assert run["evidence_summary"]["tokens"]["output"] == 420
    assert (write.status, write.error) == ("error", "disk full")
    assert run["runtime_metrics"]["errors"] == ["disk full"]


def test_07b_one_conversation_over_two_traces_is_one_run() -> None:
    (session,) = sessions("07b")
    run = verdict("07b")
    starts = [event.time_ns for event in session.events if event.event_type == "agent_start"]

    assert len(session.trace_ids) == 2
    assert starts == sorted(starts)
    assert run["runtime_metrics"]["latency"] == 10.0
    assert run["evidence_summary"]["tokens"]["input"] == 280
    assert run["evidence_summary"]["tokens"]["output"] == 22


def test_07b_grouped_by_trace_the_runs_point_at_each_other() -> None:
    first, second = sessions("07b", GroupBy.TRACE)

    assert [note.code for note in (*first.notes, *second.notes)] == ["same-conversation"] * 2
    assert second.run_id in first.notes[0].message
    assert first.run_id in second.notes[0].message


def test_09_every_legal_spelling_is_read_exactly(tmp_path: Path) -> None:
    outcome = run_command(tmp_path, "sessions", BUGS / "09-json-mapping-variants.otlp.json", "--output", "runs")
    (path,) = tmp_path.glob("runs/*/session.json")
    session = json.loads(path.read_bytes(), parse_constant=lambda name: math.nan if name else None)
    told = {event["payload"]["otel"]["name"]: event for event in session["events"] if "otel" in event["payload"]}
    first = told["variants"]
    attributes = first["payload"]["otel"]["attributes"]

    assert outcome.code == 0
    assert b"NaN," not in path.read_bytes()
    assert len({event["span"]["span_id"] for event in session["events"]}) == 3
    assert attributes["i.str"] == attributes["i.num"] == 7
    assert attributes["i.big"] == 2**63 - 1
    assert attributes["i.min"] == -(2**63)
    assert attributes["i.2p53"] == 9007199254740993
    assert attributes["d.nan"] == {"doubleValue": "NaN"}
    assert attributes["d.inf"] == {"doubleValue": "-Infinity"}
    assert attributes["d.str"] == 1.5
    assert attributes["b64"] == {"bytesValue": "3q2+7w=="}
    assert attributes["empty"] is None
    assert attributes["novalue"] is None
    assert attributes["arr1"] == [1, "two", None]
    assert attributes["kvl"] == {"a": {"b": True}}
    times = first["payload"]["otel"]
    assert times["end_time_unix_nano"] - times["start_time_unix_nano"] == 1000000001
    assert told["nulls"]["payload"]["otel"]["parent_span_id"] == first["span"]["span_id"]


def test_12_a_rotated_and_cut_file_gives_all_that_is_whole(tmp_path: Path) -> None:
    (session,) = sessions("12")
    outcome = run_command(tmp_path, "diagnose", BUGS / "12-collector-file-rotated.jsonl", "--format", "json")
    cut = [note for note in json.loads(outcome.out)["notes"] if note["code"] == "cut-file"]

    assert len(span_ids(session)) == 5
    assert outcome.code == 0
    assert len(cut) == 1
    assert cut[0]["place"].endswith("12-collector-file-rotated.jsonl:6")


def test_12b_gzip_is_found_by_its_first_bytes(tmp_path: Path) -> None:
    disguised = tmp_path / "traces.txt"
    disguised.write_bytes((BUGS / "12b-collector-file.jsonl.gz").read_bytes())
    (session,) = runs_of(gather(read_paths([str(disguised)]))).sessions

    assert [write_session(session)] == [write_session(one) for one in sessions("12b")]
    assert len(span_ids(session)) == 5


def test_15_a_download_from_the_jaeger_page_is_a_trace_like_any_other() -> None:
    (session,) = sessions("15")
    run = verdict("15")
    (output,) = [event for event in session.events if event.event == "tool_output"]
    services = {resource["attributes"]["service.name"] for resource in session.extra["resources"]}

    assert session.trace_ids == ("000000000000000004bf92f3577b34da",)
    assert len(span_ids(session)) == 3
    assert (output.tool_name, output.status, output.error) == ("web_search", "error", "timeout")
    assert run["evidence_summary"]["tokens"]["input"] == 1200
    assert run["evidence_summary"]["tokens"]["output"] == 34
    assert services == {"demo-agent", "tools"}
    assert run["runtime_metrics"]["latency"] == 9.000001


def test_17_values_of_unexpected_types_cost_only_themselves() -> None:
    (session,) = sessions("17")
    run = verdict("17")

    assert session.run_id == "12345"
    assert session.agent.name == "7"
    assert len(span_ids(session)) == 4
    assert run["evidence_summary"]["tokens"]["input"] == 3_000_000_000 + 812 + 12
    assert any("output_tokens" in note.message and "-4" in note.message for note in session.notes)


def test_18_a_call_without_usage_makes_the_total_at_least(tmp_path: Path) -> None:
    summary = verdict("18")["evidence_summary"]
    outcome = run_command(tmp_path, "diagnose", BUGS / "18-streaming-without-usage.otlp.json")

    assert summary["model_calls"] == 2
    assert (summary["tokens"]["input"], summary["tokens"]["output"]) == (100, 10)
    assert summary["tokens"]["complete"] is False
    assert "≥ 110" in outcome.out.replace("≥110", "≥ 110")
