import re

import pytest

from analyzer.report.plain import column_width
from analyzer.report.report import Look, Report, RunReport
from analyzer.report.text import render


def shown(*runs: RunReport, look: Look = Look()) -> str:  # noqa: B008  # frozen
    return b"".join(render(Report(runs=runs), look)).decode()


def test_no_escape_of_a_trace_reaches_the_terminal(failing: RunReport) -> None:
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown(failing))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_every_line_fits_the_terminal(failing: RunReport, clean: RunReport, width: int) -> None:
    lines = shown(failing, clean, look=Look(width=width)).splitlines()

    assert max(map(column_width, lines)) <= width


def test_the_columns_that_matter_stay_on_a_narrow_terminal(failing: RunReport) -> None:
    titles, row, *_ = shown(failing, look=Look(width=75)).splitlines()

    assert titles.split() == ["RUN", "TRUST", "VERDICT", "MAIN", "FAILURE"]
    assert row.endswith("unsafe for production  infinite_tool_loop (critical)")


def test_a_pipe_gets_every_word_whole(failing: RunReport) -> None:
    assert "…" not in shown(failing).splitlines()[1]


def test_the_main_failure_is_told_with_its_evidence(failing: RunReport) -> None:
    text = shown(failing)

    assert "infinite_tool_loop (critical)" in text
    assert "sure: confidence medium, observed, impact -30" in text
    assert "why:  Nothing new was learned" in text
    assert "also: cost_explosion (high)" in text
    assert "evidence (9 events)" in text
    assert "22:13:20.000  event_0  tool_call" in text
    assert "退款" in text
    assert "… and 3 more" in text


def test_figures_say_what_is_not_known(failing: RunReport, clean: RunReport) -> None:
    _, failing_row, clean_row, *_ = shown(failing, clean).splitlines()

    assert failing_row.endswith("9 (2 failed)  ≥ 12,345")
    assert re.search(r"\?\s+\?$", clean_row)


def test_a_run_without_failures_says_so(clean: RunReport) -> None:
    text = shown(clean)

    assert "none found" in text
    assert "evidence" not in text


def test_a_failure_of_severity_low_stands_in_the_table_only(mild: RunReport) -> None:
    text = shown(mild)

    assert "infinite_tool_loop (low)" in text
    assert "evidence" not in text


def test_colour_is_ours_alone(failing: RunReport) -> None:
    codes = set(re.findall(r"\x1b.*?m", shown(failing, look=Look(colour=True))))

    assert codes == {"\x1b[0m", "\x1b[1m", "\x1b[1;31m"}


def test_a_hundred_failing_runs_do_not_flood_the_screen(failing: RunReport) -> None:
    text = shown(*[failing] * 100)

    assert text.count("evidence (") == 12
    assert "88 more runs with failures" in text


def test_no_runs_are_told() -> None:
    assert shown() == "No runs.\n"
