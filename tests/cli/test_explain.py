import pytest
from command import Critiqor

from analyzer.detectors.pages import page_of, summaries
from analyzer.detectors.registry import ALL

HEADINGS = ["## What it does", "## Why is this bad", "## Example", "## How to fix", "## Known limits"]


def test_every_detector_has_a_page_and_every_page_a_detector() -> None:
    assert list(summaries()) == [detector.failure_type for detector in ALL]


@pytest.mark.parametrize("failure_type", [detector.failure_type for detector in ALL])
def test_a_page_has_its_headings(failure_type: str) -> None:
    page = page_of(failure_type) or ""

    assert [line for line in page.splitlines() if line.startswith("## ")] == HEADINGS


def test_a_page_is_printed_as_written_in_a_pipe(critiqor: Critiqor) -> None:
    done = critiqor("explain", "infinite_tool_loop")

    assert done.code == 0
    assert done.out == page_of("infinite_tool_loop")


@pytest.mark.parametrize("spelling", ["INFINITE_TOOL_LOOP", "Infinite_Tool_Loop"])
def test_the_case_of_a_type_does_not_matter(critiqor: Critiqor, spelling: str) -> None:
    assert critiqor("explain", spelling).out == page_of("infinite_tool_loop")


def test_without_a_type_all_are_listed(critiqor: Critiqor) -> None:
    lines = critiqor("explain").out.splitlines()

    assert [line.split()[0] for line in lines] == list(summaries())


def test_an_unknown_type_gets_a_suggestion(critiqor: Critiqor) -> None:
    done = critiqor("explain", "infinite_loop")

    assert done.code == 2
    assert "Did you mean infinite_tool_loop?" in done.err


def test_a_part_of_a_type_s_name_suggests_those_that_hold_it(critiqor: Critiqor) -> None:
    assert "Did you mean infinite_tool_loop or alternating_loop?" in critiqor("explain", "loop").err


def test_a_type_that_is_like_none_gets_the_list(critiqor: Critiqor) -> None:
    assert all(name in critiqor("explain", "zzz").err for name in summaries())
