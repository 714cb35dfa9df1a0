import re
from typing import Any

import msgspec

from analyzer.report.markdown import render
from analyzer.report.report import Look, Report, RunReport
from analyzer.session.model import Note
from analyzer.verdict import EvidenceSummary, Readiness, RunMetrics, RunStatus


def shown(*runs: RunReport, skipped: tuple[Note, ...] = ()) -> str:
    return b"".join(render(Report(runs=runs, skipped=skipped), Look())).decode()


def outside_code(text: str) -> str:
    """Return the text without its code spans."""
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)


def test_no_control_character_of_a_trace_is_written(failing: RunReport) -> None:
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown(failing))


def test_no_markup_of_a_trace_takes_effect(failing: RunReport) -> None:
    prose = outside_code(shown(failing))

    assert not re.search(r"(?<!\\)[<>@]", prose)
    assert not re.search(r"(?<!\\)\[a", prose)


def test_a_table_row_has_as_many_cells_as_its_head(failing: RunReport, clean: RunReport) -> None:
    rows = [line for line in shown(failing, clean).splitlines() if line.startswith("|")]
    cells = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]

    assert cells[:4] == [9] * 4
    assert cells[4:] == [6] * (len(cells) - 4)


def test_every_failure_is_told_the_main_one_first(failing: RunReport) -> None:
    headings = re.findall(r"^### (.*)$", shown(failing), re.MULTILINE)

    assert headings == [r"infinite\_tool\_loop \(critical\)", r"cost\_explosion \(high\)", "Notes on the evidence"]


def test_every_piece_of_evidence_is_named(failing: RunReport) -> None:
    assert all(f"`event_{number}`" in shown(failing) for number in range(9))


def test_a_backtick_of_a_trace_does_not_end_its_code_span() -> None:
    note = Note(code="x", message="m", place="a``b`")

    assert "- ``` a``b` ```: m" in shown(skipped=(note,))


def test_no_runs_are_told() -> None:
    assert "No runs." in shown()


def test_what_else_is_to_be_known_of_a_run_stands_first_in_its_section(clean: RunReport) -> None:
    facts: dict[str, Any] = {
        "status": RunStatus.FAILED,
        "trust_score": 74,
        "readiness_level": Readiness.REVIEW_RECOMMENDED,
        "runtime_metrics": RunMetrics(errors=("b_oom",)),
        "evidence_summary": EvidenceSummary(missing=("tool_arguments",)),
    }
    text = shown(
        msgspec.structs.replace(
            clean, diagnosis=msgspec.structs.replace(clean.diagnosis, **facts), files=("a.json",), among_many=True
        )
    )

    assert r"- the run failed: b\_oom; for that, trust is 74 at most" in text
    assert re.search(r"- \*\*not judged\*\*: \d+ failure types, since the traces lack tool\\_arguments; doctor", text)
    assert "- **from**: a.json" in text


def test_totals_stand_below_the_table(clean: RunReport, failing: RunReport) -> None:
    assert "\n\n2 runs: 1 safe, 1 unsafe\n" in shown(clean, failing)
    assert "runs:" not in shown(clean)


def test_a_clean_run_has_a_row_and_no_section(clean: RunReport) -> None:
    text = shown(clean)

    assert "| `clean` | `langchain` |" in text
    assert "##" not in text
