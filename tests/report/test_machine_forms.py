"""What machines read is held against the schemas and readers of those who read it."""

import csv
import dataclasses
import io
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import xmlschema
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from analyzer.cause import Severity
from analyzer.detectors.registry import ALL
from analyzer.report.forms import form_named
from analyzer.report.report import Look, Report, RunReport
from analyzer.session.model import Note

SCHEMAS = Path(__file__).parent / "schemas"
# The schema's pattern for languages has a bracket too many; nothing here names a language.
LANGUAGE = "language"


def written(form: str, *runs: RunReport, look: Look | None = None, skipped: tuple[Note, ...] = ()) -> str:
    return b"".join(form_named(form)(Report(runs=runs, skipped=skipped), look or Look())).decode()


def known(run: RunReport, cause: int, reason: str) -> RunReport:
    fingerprint = "f00d"
    causes = list(run.diagnosis.failure_causes)
    causes[cause] = replaced(causes[cause], fingerprint=fingerprint)
    verdict = msgspec.structs.replace(run.diagnosis, failure_causes=tuple(causes))
    return msgspec.structs.replace(run, diagnosis=verdict, known={fingerprint: reason}, has_baseline=True)


def replaced(value: Any, **changes: Any) -> Any:
    return dataclasses.replace(value, **changes)


def sarif_schema() -> Any:
    def without_languages(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_languages(item) for key, item in value.items() if key != LANGUAGE}
        return list(map(without_languages, value)) if isinstance(value, list) else value

    return without_languages(json.loads((SCHEMAS / "sarif-2.1.0.json").read_text()))


def results(*runs: RunReport) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(written("sarif", *runs))["runs"][0]["results"]
    return found


@pytest.fixture
def placed(failing: RunReport) -> RunReport:
    return msgspec.structs.replace(failing, files=("traces/a run.jsonl", "traces/b.jsonl"))


def test_a_sarif_log_is_valid(placed: RunReport, clean: RunReport) -> None:
    skipped = (Note(code="unreadable-input", message="no format", place="x.bin"),)

    log = json.loads(written("sarif", known(placed, 0, "we know"), clean, skipped=skipped))

    jsonschema.Draft202012Validator(sarif_schema()).validate(log)


def test_every_failure_type_is_a_sarif_rule_with_its_page() -> None:
    rules = json.loads(written("sarif"))["runs"][0]["tool"]["driver"]["rules"]

    assert [rule["id"] for rule in rules] == [detector.failure_type for detector in ALL]
    assert all("## How to fix" in rule["help"]["markdown"] for rule in rules)


def test_a_sarif_result_stands_at_the_first_event_and_names_the_others(placed: RunReport) -> None:
    loop = results(placed)[1]

    assert loop["locations"][0]["logicalLocations"][0]["name"] == "event_0"
    assert loop["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "traces/a%20run.jsonl"
    assert [one["logicalLocations"][0]["name"] for one in loop["relatedLocations"]] == [
        f"event_{number}" for number in range(1, 9)
    ]


def test_severity_decides_the_sarif_level(failing: RunReport, mild: RunReport) -> None:
    assert [result["level"] for result in results(failing, mild)] == ["error", "error", "note"]


def test_a_known_failure_is_suppressed_in_sarif_with_its_reason(failing: RunReport) -> None:
    cost, loop = results(known(failing, 0, "until the cache is there"))

    assert cost["suppressions"][0]["justification"] == "until the cache is there"
    assert (cost["baselineState"], loop["baselineState"]) == ("unchanged", "new")
    assert "suppressions" not in loop


def test_junit_is_valid(failing: RunReport, clean: RunReport, mild: RunReport) -> None:
    schema = xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd")

    schema.validate(io.StringIO(written("junit", failing, clean, mild)))


def test_a_failure_type_is_a_test_case_that_fails_in_its_run(failing: RunReport, clean: RunReport) -> None:
    document = written("junit", failing, clean)

    assert document.count("<testcase ") == 2 * len(ALL)
    assert re.findall(r'<testcase classname="[^"]*" name="(\w+)">\s*<failure', document) == [
        "infinite_tool_loop",
        "cost_explosion",
    ]


def test_junit_fails_what_fails_the_command(failing: RunReport, mild: RunReport) -> None:
    assert "<failure" not in written("junit", failing, look=Look(fail_on=None))
    assert written("junit", failing, look=Look(fail_on=Severity.CRITICAL)).count("<failure") == 1
    assert written("junit", known(failing, 1, "known"), look=Look(fail_on=Severity.CRITICAL)).count("<failure") == 0
    assert "<system-out>infinite_tool_loop (low)" in written("junit", mild)


def test_openmetrics_is_read_by_a_strict_reader_and_counts(failing: RunReport, clean: RunReport) -> None:
    families = {
        family.name: family for family in text_string_to_metric_families(written("openmetrics", failing, clean))
    }

    runs = {sample.labels["readiness"]: sample.value for sample in families["critiqor_runs"].samples}
    of_type = {sample.labels["type"]: sample.value for sample in families["critiqor_runs_with_failure"].samples}
    assert (runs["unsafe_for_production"], runs["safe_to_deploy"]) == (1, 1)
    assert of_type == {detector.failure_type: 0 for detector in ALL} | {"infinite_tool_loop": 1, "cost_explosion": 1}


def test_csv_has_a_line_a_run_and_no_cell_is_a_formula(failing: RunReport, clean: RunReport) -> None:
    evil = msgspec.structs.replace(clean.diagnosis, run_id="=cmd|'/C calc'!A0")
    rows = list(csv.DictReader(io.StringIO(written("csv", failing, msgspec.structs.replace(clean, diagnosis=evil)))))

    assert [row["primary_failure"] for row in rows] == ["infinite_tool_loop", ""]
    assert rows[1]["run_id"] == "'=cmd|'/C calc'!A0"
    assert rows[1]["tokens"] == ""


@pytest.mark.parametrize("form", ["sarif", "junit", "csv", "openmetrics"])
def test_no_terminal_escape_of_a_trace_is_in_any_form(form: str, failing: RunReport) -> None:
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", written(form, failing))


def test_json_tells_of_each_failure_whether_it_is_known_where_there_is_a_baseline(failing: RunReport) -> None:
    with_one = json.loads(written("jsonl", known(failing, 0, "why")))
    without = json.loads(written("jsonl", failing))

    assert [cause["known"] for cause in with_one["failure_causes"]] == ["why", None]
    assert all("known" not in cause for cause in without["failure_causes"])
