import json
import random
from pathlib import Path

import pytest
from command import CLEAN, LOOP, Critiqor

RUN_KEYS = {
    *("run_id", "trace_ids", "agent", "status", "trust_score", "readiness_level", "evidence_level", "scores"),
    *(
        "failure_causes",
        "primary_diagnosis",
        "causal_graph",
        "roots",
        "cost_analysis",
        "runtime_metrics",
        "evidence_summary",
        "notes",
    ),
}
CAUSE_KEYS = {
    *("type", "severity", "confidence", "basis", "impact", "description", "evidence", "spans", "root_cause"),
    *("recommendation", "fingerprint"),
}
SUMMARY_KEYS = {
    *(
        "event_count",
        "event_counts",
        "tool_calls",
        "tool_calls_by_name",
        "tool_outputs",
        "memory_events",
        "tool_errors",
    ),
    *("retries", "errors", "state_transitions", "model_calls", "tokens", "missing"),
}


@pytest.mark.usefixtures("folder")
def test_a_folder_gives_a_verdict_a_run(critiqor: Critiqor) -> None:
    done = critiqor("diagnose", "traces")

    assert done.code == 1
    assert done.out.splitlines()[0].split()[:4] == ["RUN", "AGENT", "STATUS", "TRUST"]
    assert len([line for line in done.out.splitlines()[1:3] if "support_agent" in line]) == 2
    assert "infinite_tool_loop" in done.out
    assert "search_docs" in done.out


@pytest.mark.usefixtures("folder")
def test_the_json_document_has_the_documented_shape(critiqor: Critiqor) -> None:
    document = json.loads(critiqor("diagnose", "traces", "--format", "json").out)

    (looping,) = [run for run in document["runs"] if run["failure_causes"]]
    cause = looping["failure_causes"][0]
    assert document.keys() == {"schema_version", "runs", "skipped", "notes"}
    assert document["schema_version"] == "critiqor.diagnosis.v1"
    assert all(run.keys() == RUN_KEYS for run in document["runs"])
    assert cause.keys() >= CAUSE_KEYS
    assert len(cause["spans"]) == len(cause["evidence"]) > 0
    assert looping["evidence_summary"].keys() == SUMMARY_KEYS
    assert looping["causal_graph"]["edges"][0].keys() == {"from", "to", "relation", "rule", "confidence"}
    assert looping["causal_graph"]["nodes"][0].keys() == {"id", "type", "kind", "label"}


@pytest.mark.usefixtures("folder")
def test_runs_come_in_order_of_their_id(critiqor: Critiqor) -> None:
    lines = critiqor("diagnose", "traces", "--format", "jsonl").out.splitlines()

    ids = [json.loads(line)["run_id"] for line in lines]
    assert ids == sorted(ids)
    assert len(ids) == 2


@pytest.mark.parametrize(("fail_on", "code"), [("low", 1), ("high", 1), ("never", 0)])
def test_the_exit_code_follows_fail_on(critiqor: Critiqor, fail_on: str, code: int) -> None:
    assert critiqor("diagnose", LOOP, "--fail-on", fail_on).code == code


def test_a_clean_run_is_fine(critiqor: Critiqor) -> None:
    assert critiqor("diagnose", CLEAN).code == 0


def test_standard_output_holds_the_product_and_nothing_else(critiqor: Critiqor, folder: Path) -> None:
    (folder / "traces" / "notes.txt").write_text("not a trace")

    done = critiqor("diagnose", "traces", "--format", "json")

    assert json.loads(done.out)["runs"]
    assert "notes.txt" in done.err


def test_quiet_says_nothing_on_standard_error(critiqor: Critiqor, folder: Path) -> None:
    (folder / "traces" / "notes.txt").write_text("not a trace")

    assert critiqor("diagnose", "traces", "--quiet").err == ""


def test_a_trace_can_come_from_standard_input(critiqor: Critiqor) -> None:
    from_file = critiqor("diagnose", LOOP, "--format", "jsonl")
    from_input = critiqor("diagnose", "-", "--format", "jsonl", stdin=LOOP.read_bytes())

    assert from_input.out == from_file.out
    assert from_input.code == from_file.code == 1


def test_a_report_goes_to_a_file_whole(critiqor: Critiqor, folder: Path) -> None:
    done = critiqor("diagnose", "traces", "--format", "markdown", "--output", "report.md")

    assert done.out == ""
    assert (folder / "report.md").read_text().startswith("# Agent runs\n")
    assert {path.name for path in folder.iterdir()} == {"traces", "report.md"}


def test_an_output_that_cannot_be_written_is_named(critiqor: Critiqor) -> None:
    done = critiqor("diagnose", CLEAN, "--output", "nowhere/report.json")

    assert done.code == 2
    assert "nowhere/report.json cannot be written: No such file or directory" in done.err


def test_what_cannot_be_read_is_named_and_the_rest_is_diagnosed(critiqor: Critiqor, folder: Path) -> None:
    (folder / "traces" / "broken.json").write_text('{"resourceSpans": [')

    done = critiqor("diagnose", "traces", "--format", "json")

    document = json.loads(done.out)
    assert done.code == 1
    assert len(document["runs"]) == 2
    assert "traces/broken.json" in json.dumps([document["skipped"], document["notes"]])
    assert "traces/broken.json" in done.err


@pytest.mark.parametrize("content", [b"", b"hello", b'{"a": 1}', b"\x00\xff\xfe", b'{"resourceMetrics": []}'])
def test_nothing_readable_is_exit_code_3_with_a_document(critiqor: Critiqor, folder: Path, content: bytes) -> None:
    (folder / "input.bin").write_bytes(content)

    done = critiqor("diagnose", "input.bin", "--format", "json")

    assert done.code == 3
    assert json.loads(done.out)["runs"] == []
    assert "input.bin" in done.err


def test_an_empty_folder_is_exit_code_3(critiqor: Critiqor, folder: Path) -> None:
    (folder / "empty").mkdir()

    done = critiqor("diagnose", "empty")

    assert done.code == 3
    assert "empty" in done.err


@pytest.mark.usefixtures("folder")
def test_a_path_that_is_not_there_is_named(critiqor: Critiqor) -> None:
    alone, beside = critiqor("diagnose", "nowhere.json", "-q"), critiqor("diagnose", "nowhere.json", "traces", "-q")

    assert alone.code == 3
    assert "nowhere.json" in alone.err
    assert beside.code == 1
    assert beside.err == "Error: nowhere.json: it can't be read: No such file or directory\n"


@pytest.mark.parametrize("options", [[], ["--format", "json"]])
def test_an_input_is_never_written_over(critiqor: Critiqor, folder: Path, options: list[str]) -> None:
    trace = folder / "traces" / "loop.otlp.jsonl"
    before = trace.read_bytes()
    (folder / "link").symlink_to(trace)

    for path, output in (("traces/loop.otlp.jsonl",) * 2, ("traces", trace), (trace, "link")):
        done = critiqor("diagnose", path, "--output", output, *options)
        assert done.code == 2
        assert "which is read" in done.err
    assert trace.read_bytes() == before


def test_a_report_among_the_traces_may_be_written_again(critiqor: Critiqor, folder: Path) -> None:
    first = critiqor("diagnose", "traces", "--format", "json", "-o", "traces/report.json")
    again = critiqor("diagnose", "traces", "--format", "json", "-o", "traces/report.json")

    assert (first.code, again.code) == (1, 1)
    assert json.loads((folder / "traces" / "report.json").read_bytes())["runs"]


@pytest.mark.usefixtures("folder")
def test_a_run_says_which_file_it_came_from_where_there_are_several(critiqor: Critiqor) -> None:
    several, one = critiqor("diagnose", "traces"), critiqor("diagnose", LOOP)

    assert several.out.splitlines()[0].endswith("FROM")
    assert "\n  from: traces/loop.otlp.jsonl\n" in several.out
    assert "2 runs: 1 safe, 1 unsafe\n" in several.out
    assert "loop.otlp.jsonl" not in one.out + critiqor("diagnose", "traces", "--format", "json").out


def test_standard_input_is_called_by_its_name(critiqor: Critiqor) -> None:
    nothing, empty = critiqor("diagnose", "-", stdin=b""), critiqor("diagnose", "-", stdin=b"[]")

    assert nothing.err.startswith("Error: standard input: it is empty\nNo run was found in standard input: ")
    assert empty.code == 3
    assert "standard input: it is JSON and holds no spans, no log records and no session" in empty.err
    assert nothing.out == empty.out == ""


def test_what_is_read_is_told_once(critiqor: Critiqor, folder: Path) -> None:
    for name in ("a", "b", "c"):
        (folder / name).write_text("hello")

    done = critiqor("diagnose", "a", "b", "c")

    assert done.err.count("it looks like text") == 3
    assert done.err.count("What is read: OTLP") == 1


def test_what_the_tool_keeps_beside_runs_is_passed_over_silently(critiqor: Critiqor, folder: Path) -> None:
    critiqor("sessions", "traces")
    critiqor("diagnose", "runs", "--write")
    (folder / "runs" / ".spool" / "journal").mkdir(parents=True)
    (folder / "runs" / ".spool" / "journal" / "1.seg").write_bytes(b"x")
    for run in [path for path in (folder / "runs").iterdir() if (path / "session.json").exists()]:
        critiqor("finalize", run.name)

    done = critiqor("diagnose", "runs", "--format", "json")

    document = json.loads(done.out)
    assert (len(document["runs"]), document["skipped"], document["notes"], done.err) == (2, [], [], "")


def test_spans_of_no_agent_are_exit_code_3_and_say_so(critiqor: Critiqor, folder: Path) -> None:
    span = {"traceId": "1" * 32, "spanId": "2" * 16, "name": "GET /", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    (folder / "http.json").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))

    done = critiqor("diagnose", "http.json", "--format", "json")

    assert done.code == 3
    assert "No run was found in http.json: in 1 span no agent speaks." in done.err
    assert [note["code"] for note in json.loads(done.out)["skipped"]] == ["no-agent"]


def test_spans_split_and_shuffled_over_files_give_the_same_bytes(critiqor: Critiqor, folder: Path) -> None:
    expected = critiqor("diagnose", "traces", "--format", "json").out
    pieces = [line for path in (LOOP, CLEAN) for line in one_span_a_line(path)]
    random.Random(7).shuffle(pieces)
    (folder / "split").mkdir()
    for number in range(5):
        (folder / "split" / f"{number}.jsonl").write_text("".join(pieces[number::5]))

    assert critiqor("diagnose", "split", "--format", "json").out == expected


def one_span_a_line(path: Path) -> list[str]:
    return [
        json.dumps({"resourceSpans": [{**resource, "scopeSpans": [{**scope, "spans": [span]}]}]}) + "\n"
        for line in path.read_text().splitlines()
        for resource in json.loads(line)["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def test_no_path_but_those_given_stands_in_the_output(critiqor: Critiqor, folder: Path) -> None:
    (folder / "traces" / "broken.json").write_text("{")

    forms = [critiqor("diagnose", "traces", "--format", form) for form in ("table", "json", "jsonl", "markdown")]

    assert not [done for done in forms if str(folder) in done.out + done.err]


def test_a_verdict_is_written_beside_its_session(critiqor: Critiqor, folder: Path) -> None:
    critiqor("sessions", "traces")

    done = critiqor("diagnose", "runs", "--write", "--format", "json")

    runs = json.loads(done.out)["runs"]
    for run in runs:
        written = json.loads((folder / "runs" / run["run_id"] / "diagnosis.json").read_bytes())
        assert written == {"schema_version": "critiqor.diagnosis.v1", **run}
    assert len(runs) == 2
    assert critiqor("diagnose", "runs", "--write", "--format", "json").out == done.out


def test_a_run_from_a_trace_has_no_session_to_write_beside(critiqor: Critiqor, folder: Path) -> None:
    done = critiqor("diagnose", "traces", "--write")

    assert "came from traces" in done.err
    assert [path.name for path in folder.iterdir()] == ["traces"]


@pytest.mark.usefixtures("folder")
def test_sessions_and_traces_of_one_run_are_one_run(critiqor: Critiqor) -> None:
    critiqor("sessions", "traces")

    together = json.loads(critiqor("diagnose", "traces", "runs", "--format", "json").out)

    assert len(together["runs"]) == 2


def test_one_trace_in_two_profiles_names_the_same_loop(critiqor: Critiqor) -> None:
    profiles = [critiqor("diagnose", LOOP, "--profile", name) for name in ("standard", "critiqor-v1")]

    assert all("infinite_tool_loop" in done.out for done in profiles)


def test_where_some_verdicts_cannot_be_written_the_others_are(critiqor: Critiqor, tmp_path: Path) -> None:
    critiqor("sessions", LOOP, CLEAN, "--group-by", "trace")
    folders = sorted(path.parent for path in (tmp_path / "runs").glob("*/session.json"))
    for folder in folders[:-1]:
        (folder / "diagnosis.json").mkdir()  # in the way, also of root

    done = critiqor("diagnose", "runs", "--write", "--fail-on", "never")

    assert len(folders) > 1
    assert (folders[-1] / "diagnosis.json").is_file()
    assert all(folder.name in done.out for folder in folders)
    assert all(str(folder.name) in done.err for folder in folders[:-1])
    assert done.code != 0
