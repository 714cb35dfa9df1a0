import re
from typing import Any

import msgspec
import pytest

from analyzer.report.plain import column_width
from analyzer.report.report import Look, Report, RunReport
from analyzer.report.text import render
from analyzer.session.model import Note
from analyzer.verdict import EvidenceSummary, Readiness, RunMetrics, RunStatus


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


def test_a_failure_of_severity_low_is_counted_in_the_table_and_told_in_a_line(mild: RunReport) -> None:
    text = shown(mild)

    assert "none (1 low)" in text.splitlines()[1]
    assert "  low: infinite_tool_loop (progressing): x" in text
    assert "evidence (" not in text
    assert "none found" not in text


def test_colour_is_ours_alone(failing: RunReport) -> None:
    codes = set(re.findall(r"\x1b.*?m", shown(failing, look=Look(colour=True))))

    assert codes == {"\x1b[0m", "\x1b[1m", "\x1b[1;31m"}


def test_a_hundred_failing_runs_do_not_flood_the_screen(failing: RunReport) -> None:
    text = shown(*[failing] * 100)

    assert text.count("evidence (") == 12
    assert "88 more runs with findings" in text


def test_no_runs_make_no_table() -> None:
    assert shown() == ""


def with_facts(run: RunReport, **facts: Any) -> RunReport:
    return msgspec.structs.replace(run, diagnosis=msgspec.structs.replace(run.diagnosis, **facts))


def named(run: RunReport, run_id: str, **facts: Any) -> RunReport:
    return with_facts(run, run_id=run_id, **facts)


def test_what_nobody_could_judge_is_told(clean: RunReport) -> None:
    blind = with_facts(clean, evidence_summary=EvidenceSummary(missing=("tokens", "tool_arguments")))
    few = with_facts(clean, evidence_summary=EvidenceSummary(missing=("tokens",)))

    text = " ".join(shown(blind).split())
    assert re.search(r"not judged: \d+ failure types, since the traces lack tokens, tool_arguments; doctor tells", text)
    assert "safe to deploy: clean" in text
    assert "not judged: cost_explosion (tokens missing)" in " ".join(shown(few).split())


def test_a_failure_that_was_found_was_judged(failing: RunReport) -> None:
    blind = with_facts(failing, evidence_summary=EvidenceSummary(missing=("tool_arguments",)))

    text = shown(blind)
    assert [cause.type for cause in failing.diagnosis.failure_causes if f"{cause.type} (tool" in text] == []


def test_trust_is_unknown_where_the_evidence_is_insufficient(clean: RunReport) -> None:
    unknown = with_facts(clean, trust_score=None, readiness_level=Readiness.INSUFFICIENT_EVIDENCE)

    text = shown(unknown)
    assert re.search(r"unknown +\? +insufficient evidence", text.splitlines()[1])
    assert "nothing to judge by: no tool call and no model call" in text


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (
            {"status": RunStatus.FAILED, "trust_score": 74, "runtime_metrics": RunMetrics(errors=("one", "boom"))},
            ["the run failed: boom; for that, trust is 74 at most", "errors: one · boom"],
        ),
        ({"status": RunStatus.FAILED, "runtime_metrics": RunMetrics(exit_code=3)}, ["the run failed with exit code 3"]),
        (
            {
                "status": RunStatus.FAILED,
                "runtime_metrics": RunMetrics(errors=("boom", "crashed", "process_exit"), exit_code=1),
            },
            ["the run failed with exit code 1: crashed"],
        ),
        ({"status": RunStatus.FAILED, "trust_score": 49}, ["the run failed, and nothing says why\n"]),
        (
            {"status": RunStatus.UNFINISHED, "trust_score": 79},
            ["the run never ended, or its end is not in the evidence; for that, trust is 79 at most"],
        ),
    ],
)
def test_a_run_that_failed_or_never_ended_says_why_it_is_not_trusted(
    clean: RunReport, facts: dict[str, Any], told: list[str]
) -> None:
    text = shown(with_facts(clean, **facts))

    assert all(line in text for line in told)


def test_notes_on_the_evidence_are_counted_and_the_first_told(clean: RunReport) -> None:
    notes = tuple(Note(code="odd", message=f"value {number} is bad") for number in range(5))

    text = shown(with_facts(clean, notes=notes))
    assert "5 notes: value 0 is bad; value 1 is bad; value 2 is bad; and 2 more" in text


def test_the_worst_run_is_told_first_and_rows_keep_their_order(
    failing: RunReport, clean: RunReport, mild: RunReport
) -> None:
    unfinished = named(clean, "b", status=RunStatus.UNFINISHED, readiness_level=Readiness.REVIEW_RECOMMENDED)
    mild = named(mild, "a", readiness_level=Readiness.SAFE_TO_DEPLOY)

    table, *paragraphs, totals = shown(mild, unfinished, named(failing, "c")).split("\n\n")
    assert [line.split()[0] for line in table.splitlines()[1:]] == ["a", "b", "c"]
    assert [paragraph.splitlines()[0].split()[-1] for paragraph in paragraphs] == ["c", "b", "a"]
    assert totals == "3 runs: 1 safe, 1 to review, 1 unsafe\n"


def test_one_run_needs_no_totals(clean: RunReport) -> None:
    assert "runs:" not in shown(clean)


def test_the_files_of_a_run_are_told_where_there_are_several(failing: RunReport, clean: RunReport) -> None:
    files = tuple(f"traces/{number}.jsonl" for number in range(7))
    several = msgspec.structs.replace(failing, files=files, among_many=True)

    text = shown(several, clean)
    assert text.splitlines()[0].endswith("FROM")
    assert text.splitlines()[1].endswith("traces/0.jsonl, traces/1.jsonl, and 5 more")
    assert "from: traces/0.jsonl, traces/1.jsonl" in text
    assert "FROM" not in shown(several, clean, look=Look(width=100)).splitlines()[0]
    assert "from:" in shown(several, clean, look=Look(width=100))


def test_ids_that_were_cut_can_be_found_whole(clean: RunReport) -> None:
    long = named(clean, "0123456789" * 5)

    assert "`show` takes the beginning of one" in " ".join(shown(long, look=Look(width=80)).split())
    assert "`show`" not in shown(long)
