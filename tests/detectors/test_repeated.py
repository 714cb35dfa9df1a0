"""What a detector says when that of a bad case happens twice in one run, and twelve times.

Several findings are counted ("and 11 more"), an impact has an end, and what was over once may come again. The expected
words stand in `repeated.expected.json`; `pytest --update-golden` writes it anew.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from repeated import repeated

from analyzer.detectors.registry import ALL
from analyzer.diagnosis import diagnose

HERE = Path(__file__).parent
EXPECTED = HERE / "repeated.expected.json"
DETECTORS = {detector.failure_type: detector for detector in ALL}
CASES = sorted(path for kind in ("bad", "low") for path in HERE.rglob(f"{kind}_*.session.json"))
FORMS = {"twice": (2, False), "twelve times": (12, False), "twelve runs": (12, True)}


def found(path: Path, times: int, *, with_rims: bool) -> list[str]:
    session = repeated(path.read_bytes(), times, with_rims=with_rims)
    diagnosis = diagnose(session, detectors=(DETECTORS[path.parent.name],))
    assert [note.message for note in diagnosis.notes if note.code == "detector-failed"] == []
    return [
        f"{cause.severity} {cause.impact} {cause.rule or ''}: {cause.description}" for cause in diagnosis.failure_causes
    ]


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('.session.json')}"


@pytest.fixture(scope="module")
def expected(request: pytest.FixtureRequest) -> dict[str, dict[str, list[str]]]:
    if request.config.getoption("--update-golden"):
        fresh: dict[str, Any] = {
            name_of(path): {form: found(path, times, with_rims=rims) for form, (times, rims) in FORMS.items()}
            for path in CASES
        }
        EXPECTED.write_text(json.dumps(fresh, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return json.loads(EXPECTED.read_text("utf-8"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("path", CASES, ids=name_of)
def test_what_happens_again_and_again_is_counted(path: Path, expected: dict[str, dict[str, list[str]]]) -> None:
    told = {form: found(path, times, with_rims=rims) for form, (times, rims) in FORMS.items()}

    assert told == expected[name_of(path)]


def test_every_expectation_has_its_case(expected: dict[str, dict[str, list[str]]]) -> None:
    assert set(expected) == set(map(name_of, CASES))
