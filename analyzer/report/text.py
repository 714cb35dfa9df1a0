"""A report for a terminal: a row a run, then the main failures with what shows them."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from analyzer.cause import FailureCause, Severity
from analyzer.report import words
from analyzer.report.exhibits import Exhibit
from analyzer.report.plain import column_width, cut, one_line, wrapped
from analyzer.report.report import Look, Report, RunReport

__all__ = ["render"]

_DETAILED_RUNS = 12  # as many as one scrolls through; the other forms hold all
_SHOWN_EVIDENCE = 6  # lines a failure
_GAP = "  "
_PIPE_WIDTH = 100  # columns where there is no terminal, for running text only

_COLOURS = {
    "unsafe for production": "1;31",
    "critical": "1;31",
    "high": "31",
    "review recommended": "33",
    "medium": "33",
    "safe to deploy": "32",
    "heading": "1",
    "quiet": "2",
}


class _Column(msgspec.Struct, frozen=True):
    title: str
    value: Callable[[RunReport], str]
    least: int
    """Columns below which it is of no use."""
    elastic: bool = False
    """Gives way first when the terminal is too narrow: its beginning is enough to recognise it."""
    optional: int = 0
    """Order in which columns go when that is not enough; 0 stays."""


_COLUMNS = (
    _Column("RUN", lambda run: run.diagnosis.run_id, 10, elastic=True),
    _Column("AGENT", lambda run: words.agent(run.diagnosis), 8, elastic=True, optional=1),
    _Column("STATUS", lambda run: run.diagnosis.status, 6, optional=4),
    _Column("TRUST", lambda run: str(run.diagnosis.trust_score), 5),
    _Column("VERDICT", lambda run: words.READINESS[run.diagnosis.readiness_level], 6),
    _Column("MAIN FAILURE", lambda run: words.failure(run.primary), 8),
    _Column("TOOL CALLS", lambda run: words.tool_calls(run.diagnosis.evidence_summary), 5, optional=2),
    _Column("TOKENS", lambda run: words.tokens(run.diagnosis.evidence_summary), 5, optional=3),
)


class _Account(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a run while the others are read: its row and its failure, not its graph."""

    row: tuple[str, ...]
    severity: Severity | None
    details: tuple[str, ...]


def render(report: Report, look: Look) -> Iterator[bytes]:
    """Yield the report in lines of UTF-8."""
    for line in _lines(report, look):
        yield (line + "\n").encode()


def _lines(report: Report, look: Look) -> Iterator[str]:
    accounts = [_account(run, look) for run in report.runs]
    if not accounts:
        yield "No runs."
        return
    yield from _table([account.row for account in accounts], look)
    worth_telling = [account for account in accounts if account.severity not in {None, Severity.LOW}]
    worth_telling.sort(key=lambda account: -words.SEVERITY_ORDER.index(account.severity or Severity.LOW))
    for account in worth_telling[:_DETAILED_RUNS]:
        yield ""
        yield from account.details
    left = len(worth_telling) - _DETAILED_RUNS
    if left > 0:
        yield ""
        yield f"{left} more runs with failures: --format markdown and --format json tell them all."


def _account(run: RunReport, look: Look) -> _Account:
    severity = None if run.primary is None else run.primary.severity
    details = () if run.primary is None else tuple(_details(run, run.primary, look))
    return _Account(row=tuple(one_line(column.value(run)) for column in _COLUMNS), severity=severity, details=details)


def _table(rows: Sequence[tuple[str, ...]], look: Look) -> Iterator[str]:
    titles = tuple(column.title for column in _COLUMNS)
    natural = {index: max(column_width(row[index]) for row in (titles, *rows)) for index in range(len(_COLUMNS))}
    widths = natural if look.width is None else _fit(natural, look.width)
    yield _row(titles, widths, lambda cell: _paint(cell, "heading", look))
    for row in rows:
        yield _row(row, widths, lambda cell: _paint_word(cell, look))


def _row(cells: Sequence[str], widths: Mapping[int, int], paint: Callable[[str], str]) -> str:
    shown = [(cut(cells[index], width), width) for index, width in widths.items()]
    padded = [paint(cell) + " " * (width - column_width(cell)) for cell, width in shown]
    return _GAP.join(padded).rstrip()


def _fit(natural: Mapping[int, int], room: int) -> dict[int, int]:
    """Return the columns to show and their widths: elastic ones give way, optional ones go, the rest is narrowed."""
    widths = dict(natural)
    leaving = sorted(
        (index for index in natural if _COLUMNS[index].optional), key=lambda index: _COLUMNS[index].optional
    )
    for gone in (None, *leaving):
        widths = {index: width for index, width in natural.items() if index in widths and index != gone}
        if _narrow(widths, room, [index for index in widths if _COLUMNS[index].elastic]):
            return widths
    _narrow(widths, room, list(widths))
    return widths


def _narrow(widths: dict[int, int], room: int, yielding: Sequence[int]) -> bool:
    """Take from the widest of the yielding columns until all fit; tell whether they do."""
    while (excess := sum(widths.values()) + len(_GAP) * (len(widths) - 1) - room) > 0:
        able = [index for index in yielding if widths[index] > _COLUMNS[index].least]
        if not able:
            return False
        widest = max(able, key=widths.__getitem__)
        second = max((widths[index] for index in able if index != widest), default=0)
        step = max(1, min(excess, widths[widest] - second))
        widths[widest] = max(_COLUMNS[widest].least, widths[widest] - step)
    return True


def _details(run: RunReport, cause: FailureCause, look: Look) -> Iterator[str]:
    width = look.width or _PIPE_WIDTH
    for line in wrapped(f"{one_line(words.failure(cause))} in {one_line(run.diagnosis.run_id)}", width):
        yield _paint(line, cause.severity, look)
    yield from _paragraph("", cause.description, width)
    yield from _paragraph("sure: ", words.provenance(cause), width)
    if cause.root_cause is not None:
        yield from _paragraph("why:  ", cause.root_cause.description, width)
    yield from _paragraph("path: ", run.diagnosis.primary_diagnosis.causal_chain_explanation, width)
    yield from _paragraph("fix:  ", cause.recommendation, width)
    yield from _paragraph("also: ", ", ".join(words.also(run.diagnosis, cause)), width)
    yield f"  evidence ({len(cause.evidence)} events):"
    for shown in run.exhibits[:_SHOWN_EVIDENCE]:
        yield cut(f"    {_exhibit_line(shown)}", width) if look.width else f"    {_exhibit_line(shown)}"
    left = len(cause.evidence) - min(len(run.exhibits), _SHOWN_EVIDENCE)
    if left:
        yield f"    … and {left} more"


def _paragraph(label: str, text: str, width: int) -> Iterator[str]:
    indent = "  " + label
    for line in wrapped(one_line(text), max(width - len(indent), 20)):
        yield indent + line
        indent = " " * len(indent)


def _exhibit_line(shown: Exhibit) -> str:
    words_of_it = (
        shown.time,
        shown.event_id,
        shown.kind,
        shown.subject,
        "failed" if shown.failed else "",
        shown.detail,
    )
    return _GAP.join(word for word in words_of_it if word)


def _paint_word(cell: str, look: Look) -> str:
    """Colour a cell by the word it ends in: a verdict, or a severity in brackets."""
    word = cell[:-1].rpartition("(")[2] if cell.endswith(")") else cell
    return _paint(cell, word, look)


def _paint(text: str, word: str, look: Look) -> str:
    code = _COLOURS.get(word)
    return f"\x1b[{code}m{text}\x1b[0m" if look.colour and code else text
