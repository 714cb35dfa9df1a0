import re
from pathlib import Path

from analyzer.causality.drawing import DRAWINGS
from analyzer.causality.links import LINKS
from analyzer.causality.signs import SIGNS
from analyzer.diagnosis import Profile

PAGE = (Path(__file__).parents[2] / "docs" / "roots.md").read_text("utf-8")


def rows() -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")
    ]


def test_the_page_lists_every_link_rule_as_it_is() -> None:
    told = [row for row in rows() if len(row) == 6]

    assert told == [
        [f"`{rule.relation}`", f"`{rule.name}`", rule.cause, rule.effect, rule.holds, rule.confidence.value]
        for rule in LINKS[Profile.STANDARD]
    ]


def test_the_page_lists_every_sign_with_its_weight() -> None:
    told = [row for row in rows() if len(row) == 4]

    assert told == [
        [f"`{sign.name}`", f"{sign.weight:g}", sign.words, "yes" if sign.is_fault else "no"] for sign in SIGNS
    ]


def test_the_page_names_every_form_of_a_drawing() -> None:
    assert all(re.search(rf"`{form}`", PAGE) for form in DRAWINGS)
