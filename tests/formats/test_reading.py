"""Paths on the command line: files, folders, standard input, and what is no evidence among them."""

import io
import json
import os
from pathlib import Path

import pytest
from small_inputs import SMALL, SPANS
from written_otlp import standard_json, trace_request

from critiqor_otel.errors import UnreadableInputError
from critiqor_otel.formats.reading import read_path, read_paths
from critiqor_otel.span import Batch

LINE = standard_json(trace_request(SPANS))
SESSION = SMALL["session"]


def read(*paths: Path | str) -> list[Batch]:
    return list(read_paths([str(path) for path in paths]))


def told(batches: list[Batch], folder: Path) -> list[tuple[str, str, str]]:
    """Return code, place within the folder and message of each note."""
    return [
        (note.code, os.path.relpath(note.place or "", folder), note.message)
        for batch in batches
        for note in batch.notes
    ]


def places(batches: list[Batch], folder: Path) -> list[str]:
    return [os.path.relpath(batch.place or "", folder) for batch in batches if batch.spans or batch.sessions]


@pytest.mark.parametrize("name", ["traces.json", "traces.jsonl", "traces.txt", "traces.gz", "traces"])
def test_the_name_of_a_file_says_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(LINE)

    (batch,) = read_path(tmp_path / name)

    assert list(batch.spans) == SPANS


def test_standard_input_is_read_like_a_file() -> None:
    (batch,) = read_paths(["-"], standard_input=io.BytesIO(LINE))

    assert (list(batch.spans), batch.place) == (SPANS, "-")


def test_folders_are_read_in_sorted_order_and_each_batch_names_its_file(tmp_path: Path) -> None:
    for name in ("b.json", "a/2.json", "a/10.json", "c/d/e.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(LINE)

    batches = read(tmp_path)

    assert places(batches, tmp_path) == ["a/10.json", "a/2.json", "b.json", "c/d/e.json"]


def test_what_is_no_evidence_in_a_folder_is_passed_over_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Traces\n")
    (tmp_path / "empty.json").touch()
    (tmp_path / ".hidden").write_bytes(LINE)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.json").write_bytes(LINE)
    (tmp_path / "traces.json").write_bytes(LINE)
    os.mkfifo(tmp_path / "pipe")

    batches = read(tmp_path)

    assert places(batches, tmp_path) == ["traces.json"]
    assert [(code, place) for code, place, _ in told(batches, tmp_path)] == [
        ("skipped-file", ".git"),
        ("skipped-file", ".hidden"),
        ("skipped-file", "README.md"),
        ("skipped-file", "empty.json"),
        ("skipped-file", "pipe"),
    ]


def test_one_unreadable_file_does_not_keep_the_others_from_being_read(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    (tmp_path / "traces").write_bytes(LINE)

    batches = read(tmp_path / "text", tmp_path / "missing", tmp_path / "traces")

    assert places(batches, tmp_path) == ["traces"]
    codes = [(code, place) for code, place, _ in told(batches, tmp_path)]
    assert codes == [("unreadable-input", "text"), ("unreadable-input", "missing")]
    assert "No such file or directory" in told(batches, tmp_path)[1][2]


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000, ""])
def test_a_name_no_file_can_bear_is_an_unreadable_input(name: str) -> None:
    (batch,) = read_paths([name])

    assert [note.code for note in batch.notes] == ["unreadable-input"]


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    assert told(read(tmp_path), tmp_path) == [("unreadable-input", ".", "the folder is empty")]


def test_a_link_back_to_its_folder_is_followed_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "traces").write_bytes(LINE)
    (tmp_path / "a" / "loop").symlink_to(tmp_path)

    batches = read(tmp_path)

    assert places(batches, tmp_path) == ["a/traces"]
    assert [code for code, _, _ in told(batches, tmp_path)] == ["skipped-file"]


def test_an_entry_of_a_folder_that_the_system_will_not_look_at_costs_itself_alone(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("x" * 300)
    (tmp_path / "b").write_bytes(LINE)

    batches = read(tmp_path)

    assert places(batches, tmp_path) == ["b"]
    assert told(batches, tmp_path) == [("unreadable-input", "a", "it can't be reached: File name too long")]


def test_a_file_that_may_not_be_opened_says_why(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.write_bytes(LINE)
    closed.chmod(0)
    if os.access(closed, os.R_OK):
        pytest.skip("this user may read everything")

    with pytest.raises(UnreadableInputError, match="Permission denied"):
        list(read_path(closed))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="Is a directory"):
        list(read_path(tmp_path))


def test_session_files_are_read_as_sessions(tmp_path: Path) -> None:
    (tmp_path / "run_1").mkdir()
    (tmp_path / "run_1" / "session.json").write_bytes(SESSION)
    (tmp_path / "run_1" / "diagnosis.json").write_text('{"schema_version": "critiqor.diagnosis.v1", "runs": []}')
    (tmp_path / "run_1" / "receipt.json").write_text('{"schema_version": "critiqor.receipt.v1"}')

    batches = read(tmp_path)

    assert [session.run_id for batch in batches for session in batch.sessions] == ["run_1"]
    assert sum(batch.skipped for batch in batches) == 2
    assert told(batches, tmp_path) == []


def test_the_record_of_a_run_is_passed_over_beside_its_evidence_and_read_without_it(tmp_path: Path) -> None:
    (tmp_path / "run_1").mkdir()
    (tmp_path / "run_1" / "session.json").write_bytes(SESSION)
    record = {"status": "COMPLETED", "lifecycle": [], "event_log": [{"event": "tool_call", "tool": "x"}]}
    (tmp_path / "run_1.json").write_text(json.dumps({"run_id": "run_1", **record}))
    (tmp_path / "run_2.json").write_text(json.dumps({"run_id": "run_2", **record}))

    batches = read(tmp_path)

    assert [session.run_id for batch in batches for session in batch.sessions] == ["run_1", "run_2"]
    assert places(batches, tmp_path) == ["run_1/session.json", "run_2.json"]
    assert told(batches, tmp_path) == []


def test_a_run_record_without_events_is_no_evidence_and_no_fault(tmp_path: Path) -> None:
    record = {"run_id": "r", "status": "COMPLETED", "lifecycle": [], "timestamps": {}, "metadata": {}}
    (tmp_path / "r.json").write_text(json.dumps(record))
    (tmp_path / ".spool").mkdir()
    (tmp_path / ".spool" / "sealed.db").write_bytes(b"SQLite format 3")

    batches = read(tmp_path)

    assert [(batch.sessions, batch.notes, batch.skipped) for batch in batches] == [((), (), 1)]


def test_an_indented_list_of_events_is_a_session(tmp_path: Path) -> None:
    events = [{"event": "tool_call", "tool": "read", "timestamp": "2025-06-01T12:00:00Z"}]
    (tmp_path / "events").write_text(json.dumps(events, indent=2))

    (batch,) = read(tmp_path / "events")

    assert [event.event for event in batch.sessions[0].events] == ["tool_call"]


def test_a_session_of_another_version_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "s").write_text('{"schema_version": "critiqor.session.v9", "events": []}')

    (batch,) = read(tmp_path / "s")

    assert [note.code for note in batch.notes] == ["unreadable-input"]
    assert "critiqor.session.v9" in batch.notes[0].message


def test_a_name_that_is_no_unicode_is_mended_in_places(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.json"
    Path(os.fsdecode(path)).write_bytes(LINE)

    (batch,) = read(tmp_path)

    assert list(batch.spans) == SPANS
    assert batch.place is not None
    assert batch.place.endswith("\ufffd.json")
