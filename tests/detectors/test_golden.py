"""Each detector over its own cases: `bad_*` are found as expected, `low_*` are no reason to worry, `good_*` are silent.

A case is a session, `<type>/<case>.session.json`, here or in `cases/`; only the one detector runs. `missed_*` is a real
failure that is not seen yet. A good case is run by all detectors too: none may raise an alarm, but for OTHERS.
`pytest --update-golden` writes the expected files anew.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from analyzer.detectors.detector import Detector
from analyzer.detectors.registry import ALL
from analyzer.diagnosis import diagnose
from analyzer.session.codec import read_session

HERE = Path(__file__).parent
DETECTORS = {detector.failure_type: detector for detector in ALL}
CASES = sorted([*HERE.glob("*/*.session.json"), *HERE.glob("cases/*/*.session.json")])
LEAST = 3


def found(path: Path, detector: Detector) -> list[dict[str, Any]]:
    diagnosis = diagnose(read_session(path.read_bytes()), detectors=(detector,))
    assert [note.message for note in diagnosis.notes if note.code == "detector-failed"] == []
    causes: list[dict[str, Any]] = json.loads(json.dumps(diagnosis.to_dict()["failure_causes"]))
    return causes


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('.session.json')}"


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_a_case_is_found_as_expected(path: Path, request: pytest.FixtureRequest) -> None:
    expected = path.with_name(path.name.replace(".session.", ".expected."))
    causes = found(path, DETECTORS[path.parent.name])

    if request.config.getoption("--update-golden"):
        expected.write_text(json.dumps(causes, indent=1, ensure_ascii=False) + "\n")
    assert causes == json.loads(expected.read_text())


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_a_case_is_what_its_name_says(path: Path) -> None:
    severities = {cause["severity"] for cause in found(path, DETECTORS[path.parent.name])}
    kind = path.name.split("_")[0]

    assert {
        "bad": severities - {"low"},
        "low": severities == {"low"},
        "good": not severities,
        "missed": not severities,
    }[kind]


@pytest.mark.parametrize("path", [path for path in CASES if path.name.startswith("good_")], ids=name_of)
def test_a_good_case_raises_no_alarm_of_another_detector(path: Path) -> None:
    loud = [cause.type for cause in diagnose(read_session(path.read_bytes())).failure_causes if cause.severity != "low"]

    assert loud in ([], OTHERS.get(name_of(path), []))


# Good cases of one detector that are a bad case of another, on purpose.
OTHERS = {"cost_explosion/good_duplicates_without_tokens": ["infinite_tool_loop"]}


@pytest.mark.parametrize("failure_type", DETECTORS)
def test_a_detector_has_enough_cases(failure_type: str) -> None:
    kinds = Counter(path.name.split("_")[0] for path in CASES if path.parent.name == failure_type)

    assert min(kinds["bad"], kinds["good"]) >= LEAST


def test_every_folder_belongs_to_a_detector() -> None:
    assert {path.parent.name for path in CASES} == set(DETECTORS)
