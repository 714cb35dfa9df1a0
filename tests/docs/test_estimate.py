"""The estimate for a billion spans a day: what is computed from measured figures, and that the page shows it."""

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MEASURED = """
| memory of all processes, 1,000,000 spans, MB | 190 | ≤ 600 | two jobs |
| CPU a span, JSON lines to verdicts, µs | 90 |  | one process, start-up included |
| verdicts as JSON lines, bytes a span | 600 |  | 1200 bytes of JSON a span come in |
"""


def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "bench" / "estimate.py"))


def test_core_hours_and_prices_follow_from_what_a_span_takes() -> None:
    lines = list(script()["estimate"](MEASURED))

    assert "| CPU, JSON lines to verdicts, all detectors | 90 µs | 25 core hours |" in lines
    assert "| 25 core hours | 1.25 |" in lines
    assert lines[-1] == "| **together** | **about 13** |"


def test_a_figure_that_was_not_measured_is_named() -> None:
    with pytest.raises(LookupError, match="bytes of JSON"):
        list(script()["estimate"](MEASURED.replace("bytes of JSON", "")))


def test_the_page_has_the_place_for_the_tables() -> None:
    found, page = script(), (ROOT / "docs" / "scale.md").read_text()

    begin, end = page.index(found["BEGIN"]), page.index(found["END"])
    assert begin < page.index("core hours |", begin) < page.index("**together**") < end
