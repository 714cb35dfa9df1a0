"""`docs/conventions.md` says what the tables and the captured traces say. `pytest --update-golden` writes it anew."""

from pathlib import Path

import pytest
from conventions_page import COLUMNS, ROWS, page, reasons_of, roles_of, states_of

from critiqor_otel.conventions.convention import Convention
from critiqor_otel.conventions.registry import ALL

PAGE = Path(__file__).parents[2] / "docs" / "conventions.md"
WHOLE = {"carried", "not tried"}


def test_the_page_is_up_to_date(request: pytest.FixtureRequest) -> None:
    made = page()
    if request.config.getoption("--update-golden"):
        PAGE.write_text(made)

    assert PAGE.read_text() == made


@pytest.mark.parametrize("folder", ROWS)
def test_what_a_capture_lacks_has_its_reason_and_nothing_else_has(folder: str) -> None:
    states = states_of(folder)

    explained = {column for column in COLUMNS if reasons_of(folder, column)}
    lacking = {column for column, state in states.items() if state not in WHOLE}
    assert lacking == explained


@pytest.mark.parametrize("convention", ALL, ids=lambda convention: convention.name)
def test_every_family_says_how_its_spans_are_known_and_what_they_are(convention: Convention) -> None:
    assert convention.known_by
    assert roles_of(convention)
