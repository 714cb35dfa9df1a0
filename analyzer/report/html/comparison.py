"""Differences between runs as a page of its own: scores, failures, amounts and where the steps part."""

from collections.abc import Sequence

from analyzer.report.differences import Differences
from analyzer.report.differences_view import amounts, groups, heading, step_lines
from analyzer.report.html.assets import assets_of, template

__all__ = ["comparison_page"]


def comparison_page(names: tuple[str, str], rows: Sequence[Sequence[str]], summary: str, found: Differences) -> bytes:
    """Return the page; the rows are trust and dimensions with before, after and change."""
    before, after = names
    page = template("comparison.html.j2").render(
        assets=assets_of(()),
        before=before,
        after=after,
        summary=summary,
        rows=rows,
        groups=list(groups(found)),
        amounts=list(amounts(found)),
        diverging=[(heading(one), list(step_lines(one))) for one in found.diverging],
        many=found.runs_before > 1 or found.runs_after > 1,
        runs_before=found.runs_before,
        runs_after=found.runs_after,
    )
    return page.encode()
