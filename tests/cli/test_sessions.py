import json
import stat
from pathlib import Path

from command import CLEAN, LOOP, Critiqor


def test_each_run_has_a_read_only_folder_of_its_own(critiqor: Critiqor, folder: Path) -> None:
    done = critiqor("sessions", "traces", "--output", "out")

    printed = [folder / line for line in done.out.splitlines()]
    assert done.code == 0
    assert len(printed) == 2
    for path in printed:
        session, receipt = json.loads(path.read_bytes()), json.loads(path.with_name("receipt.json").read_bytes())
        assert session["schema_version"] == "critiqor.session.v1"
        assert receipt["transport"] == "file"
        assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_the_second_time_nothing_changes(critiqor: Critiqor, folder: Path) -> None:
    critiqor("sessions", "traces")
    before = {path: path.read_bytes() for path in (folder / "runs").rglob("*.json")}

    again = critiqor("sessions", "traces")

    assert again.code == 0
    assert "2 runs already sealed with the same evidence: left alone" in again.err
    assert {path: path.read_bytes() for path in (folder / "runs").rglob("*.json")} == before


def test_later_evidence_becomes_a_continuation_that_reads_as_one_run(critiqor: Critiqor, folder: Path) -> None:
    spans = json.loads(LOOP.read_text().splitlines()[0])["resourceSpans"][0]["scopeSpans"][0]["spans"]
    whole = LOOP.read_text()
    (folder / "early.jsonl").write_text(without(whole, spans[0]["spanId"]))
    critiqor("sessions", "early.jsonl")

    done = critiqor("sessions", LOOP)

    (line,) = done.out.splitlines()
    runs = json.loads(critiqor("diagnose", "runs", "--format", "json").out)["runs"]
    expected = json.loads(critiqor("diagnose", LOOP, "--format", "json").out)["runs"]
    assert "continuation" in done.err
    assert "~2" in line
    assert [run["run_id"] for run in runs] == [run["run_id"] for run in expected]
    assert runs[0]["evidence_summary"]["tool_calls_by_name"] == expected[0]["evidence_summary"]["tool_calls_by_name"]


def without(lines: str, span_id: str) -> str:
    """Return the requests without one span."""
    requests = [json.loads(line) for line in lines.splitlines()]
    for request in requests:
        for resource in request["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                scope["spans"] = [span for span in scope["spans"] if span["spanId"] != span_id]
    return "".join(json.dumps(request) + "\n" for request in requests)


def test_the_receipt_counts_repeated_deliveries(critiqor: Critiqor, folder: Path) -> None:
    spans = sum(line.count('"spanId"') for line in CLEAN.read_text().splitlines())
    (folder / "twice.jsonl").write_text(CLEAN.read_text() * 2)

    (line,) = critiqor("sessions", "twice.jsonl").out.splitlines()

    receipt = json.loads((folder / line).with_name("receipt.json").read_bytes())
    assert 0 < receipt["duplicates"] <= spans


def test_a_session_is_the_same_however_often_its_spans_came(critiqor: Critiqor, folder: Path) -> None:
    (folder / "twice.jsonl").write_text(CLEAN.read_text() * 2)

    (once,) = critiqor("sessions", CLEAN, "--output", "once").out.splitlines()
    (twice,) = critiqor("sessions", "twice.jsonl", "--output", "twice").out.splitlines()

    assert (folder / once).read_bytes() == (folder / twice).read_bytes()


def test_nothing_readable_writes_nothing(critiqor: Critiqor, folder: Path) -> None:
    (folder / "input.txt").write_text("hello")

    done = critiqor("sessions", "input.txt")

    assert done.code == 3
    assert not (folder / "runs").exists()


def test_a_folder_that_cannot_be_made_is_usage(critiqor: Critiqor, folder: Path) -> None:
    (folder / "runs").write_text("a file")

    done = critiqor("sessions", "traces")

    assert done.code == 2
    assert "runs cannot be written" in done.err


def test_a_trace_without_an_agent_is_kept_when_it_is_alone_or_asked_for(critiqor: Critiqor, folder: Path) -> None:
    span = {"traceId": "1" * 32, "spanId": "2" * 16, "name": "GET /", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    (folder / "http.json").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))

    alone = critiqor("sessions", "http.json")
    beside, asked_for = critiqor("sessions", "http.json", CLEAN), critiqor("sessions", "http.json", CLEAN, "--all")

    assert json.loads((folder / alone.out.strip()).read_bytes())["events"][0]["span"]["span_id"] == "2" * 16
    assert [len(done.out.splitlines()) for done in (alone, beside, asked_for)] == [1, 1, 2]
    assert f"in the trace {'1' * 32} no agent speaks" in beside.err


def test_two_runs_of_one_id_are_not_taken_for_a_run_and_its_continuation(critiqor: Critiqor, folder: Path) -> None:
    for number in range(2):
        events = [{"event": "tool_call", "tool": "search", "args": {"q": number}} for _ in range(3)]
        session = {"schema_version": "critiqor.session.v1", "run_id": "run_001", "events": events}
        (folder / f"{number}").mkdir()
        (folder / f"{number}/session.json").write_text(json.dumps(session))

    for inputs in (("0", "1"), ("1", "0")):
        done = critiqor("sessions", *inputs, "--output", "out")

        assert len(done.out.splitlines()) == 2
    found = json.loads(critiqor("diagnose", "out", "--format", "json").out)["runs"]
    assert [run["evidence_summary"]["tool_calls"] for run in found] == [3, 3]
    assert all(run["run_id"].startswith("run_001.") for run in found)
