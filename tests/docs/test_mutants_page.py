"""docs/mutants.md is what the arguments say, and what they argue is still in the code."""

from mutants_page import PAGE, argued, page
from mutating import everything


def test_the_page_is_written_from_the_arguments() -> None:
    assert PAGE.read_text("utf-8") == page()


def test_what_is_argued_is_in_the_code_and_argued_once() -> None:
    keys = argued()

    assert len(keys) == len(set(keys))
    assert set(keys) <= {mutant.key for mutant in everything()}
