"""The published schemas hold for what is written, over all captures."""

import json
from pathlib import Path

import jsonschema
import pytest
from command import CAPTURES, LOOP, Critiqor, run_command


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> str:
    done = run_command(tmp_path_factory.mktemp("schema"), "diagnose", CAPTURES, "--format", "json", "--quiet")
    return done.out


def validator(critiqor: Critiqor, *document: str) -> jsonschema.Draft202012Validator:
    schema = json.loads(critiqor("schema", *document).out)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_verdict_on_the_captures_is_valid(critiqor: Critiqor, verdicts: str) -> None:
    document = json.loads(verdicts)

    assert len(document["runs"]) > 50
    validator(critiqor).validate(document)


@pytest.mark.parametrize("field", ["trust_score", "failure_causes", "causal_graph"])
def test_a_verdict_that_lacks_a_field_is_not_valid(field: str, critiqor: Critiqor, verdicts: str) -> None:
    document = json.loads(verdicts)
    del document["runs"][0][field]

    assert not validator(critiqor).is_valid(document)


def test_every_session_file_is_valid(critiqor: Critiqor, tmp_path: Path) -> None:
    critiqor("sessions", CAPTURES, "--output", tmp_path / "runs", "--quiet")
    files = list(tmp_path.glob("runs/*/session.json"))
    valid = validator(critiqor, "session")

    assert len(files) > 50
    for file in files:
        valid.validate(json.loads(file.read_bytes()))


def test_a_baseline_is_valid(critiqor: Critiqor, tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    critiqor("diagnose", LOOP, "--baseline", file, "--update-baseline")

    validator(critiqor, "baseline").validate(json.loads(file.read_bytes()))
