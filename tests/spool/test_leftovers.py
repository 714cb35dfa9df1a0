"""What an earlier process left, or somebody else, is cleared away, made anew or told of."""

import json
from pathlib import Path

import pytest

from analyzer.session.codec import write_session
from analyzer.session.model import Event, Session, SpanRef
from critiqor_otel.spool.run_files import DIAGNOSIS_FILE, beside
from critiqor_otel.spool.sealed_index import SealedIndex
from critiqor_otel.spool.spool_folder import SpoolFolder

SPAN = SpanRef("1" * 32, "2" * 16)
TOLD = Event(event_id="1", event="tool_call", event_type="tool_call", payload={}, span=SPAN)
UNTOLD = Event(event_id="2", event="tool_call", event_type="tool_call", payload={})


def sealed(runs: Path, name: str) -> None:
    (runs / name).mkdir(parents=True)
    session = Session(run_id=name, trace_ids=(SPAN.trace_id,), events=(TOLD, UNTOLD))
    (runs / name / "session.json").write_bytes(write_session(session))


def test_a_damaged_index_is_made_anew_of_the_session_files(tmp_path: Path) -> None:
    sealed(tmp_path / "runs", "run")
    file = tmp_path / "sealed.sqlite"
    file.write_bytes(b"this is no database, and was one perhaps" * 100)

    index = SealedIndex(file)

    assert index.learn(tmp_path / "runs") == []
    found = index.sealed(SPAN.trace_id)
    assert found is not None
    assert found.span_ids == {SPAN.span_id}
    index.close()


def test_a_session_file_that_cannot_be_read_is_told_of(tmp_path: Path) -> None:
    sealed(tmp_path / "runs", "good")
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "session.json").write_text("{")

    index = SealedIndex(tmp_path / "sealed.sqlite")
    notes = index.learn(tmp_path / "runs")
    index.close()

    assert [note.place for note in notes] == [str(tmp_path / "runs" / "bad" / "session.json")]


def test_half_written_files_are_cleared_away(tmp_path: Path) -> None:
    sealed(tmp_path, "run")
    (tmp_path / "run" / ".session.json.123.aside").write_text(json.dumps({}))

    SpoolFolder(tmp_path).make()

    assert [path.name for path in (tmp_path / "run").iterdir()] == ["session.json"]


@pytest.mark.parametrize(
    ("session_file", "verdict"),
    [
        ("session.json", "diagnosis.json"),
        ("a.session.json", "a.diagnosis.json"),
        ("plugin.json", "plugin.json.diagnosis.json"),
    ],
)
def test_a_verdict_bears_the_name_of_its_session_file(session_file: str, verdict: str) -> None:
    assert beside(session_file, DIAGNOSIS_FILE) == verdict
