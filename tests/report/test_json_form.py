import json
from typing import Any

import pytest

from analyzer.report.forms import form_named
from analyzer.report.json_form import encode_json, run_document
from analyzer.report.report import Look, Report, RunReport
from analyzer.session.model import Note, SpanRef


def shown(report: Report, form: str) -> str:
    return b"".join(form_named(form)(report, Look())).decode()


def as_json(run: RunReport) -> Any:
    return json.loads(json.dumps(run.diagnosis.to_dict()))


def test_the_document_holds_runs_skipped_and_notes(failing: RunReport, clean: RunReport) -> None:
    skipped = Note(code="no-trace", message="holds no trace", place="a.json")
    note = Note(code="cut-file", message="cut", place="b.json", span=SpanRef("a" * 32, "b" * 16))

    document = json.loads(shown(Report(runs=(failing, clean), skipped=(skipped,), notes=(note,)), "json"))

    assert list(document) == ["schema_version", "runs", "skipped", "notes"]
    assert document["schema_version"] == "critiqor.diagnosis.v1"
    assert document["runs"] == [as_json(failing), as_json(clean)]
    assert document["skipped"] == [{"code": "no-trace", "message": "holds no trace", "place": "a.json"}]
    assert document["notes"][0]["span"] == {"trace_id": "a" * 32, "span_id": "b" * 16}


def test_no_runs_are_an_empty_list() -> None:
    assert json.loads(shown(Report(runs=()), "json"))["runs"] == []


def test_lines_hold_a_run_each(failing: RunReport, clean: RunReport) -> None:
    lines = shown(Report(runs=(failing, clean)), "jsonl").splitlines()

    assert [json.loads(line)["run_id"] for line in lines] == [failing.diagnosis.run_id, "clean"]


@pytest.mark.parametrize("text", ["\x1b[2J", "\x7f", "\x9b31m", "\u2028", "\ud83e", "退款", "a\\u009b"])
def test_json_is_faithful_and_holds_nothing_a_terminal_obeys(text: str) -> None:
    encoded = encode_json({"text": text})

    assert json.loads(encoded) == {"text": text}
    assert not any(byte < 0x20 or byte == 0x7F for byte in encoded)
    assert "\x9b" not in encoded.decode()


def test_the_file_beside_a_session_names_its_schema(clean: RunReport) -> None:
    document = json.loads(run_document(clean.diagnosis))

    assert document == {"schema_version": "critiqor.diagnosis.v1", **as_json(clean)}
