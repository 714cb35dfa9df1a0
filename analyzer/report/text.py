"""A report for a terminal: a row a run, then what there is to tell of runs, the worst first, then the totals."""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

import msgspec

from analyzer.cause import Severity
from analyzer.report import words
from analyzer.report.clusters import Clusters
from analyzer.report.paragraphs import details
from analyzer.report.plain import column_width, cut, one_line, wrapped
from analyzer.report.remarks import some
from analyzer.report.report import Look, Report, RunReport
from analyzer.verdict import Readiness

__all__ = ["render"]

_DETAILED_RUNS = 12  # as many as one scrolls through; the other forms hold all
_GAP = "  "
_RUN = 0  # the column
_ANY = 1 << 20  # a width that every line fits
_CUT_SHORT = "Ids were cut to fit: `show` takes the beginning of one, and lists them whole where there are several."
_FILES = 2  # named in a row
_WORST_FIRST = tuple(
    map(Readiness, ("unsafe_for_production", "review_recommended", "insufficient_evidence", "safe_to_deploy"))
)

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
    _Column("AGENT", lambda run: words.agent(run.diagnosis), 8, elastic=True, optional=2),
    _Column("STATUS", lambda run: run.diagnosis.status, 6, optional=5),
    _Column("TRUST", lambda run: words.trust(run.diagnosis), 5),
    _Column("VERDICT", lambda run: words.READINESS[run.diagnosis.readiness_level], 6),
    _Column("MAIN FAILURE", lambda run: words.main_failure(run.diagnosis, run.grave), 8),
    _Column("TOOL CALLS", lambda run: words.tool_calls(run.diagnosis.evidence_summary), 5, optional=3),
    _Column("TOKENS", lambda run: words.tokens(run.diagnosis.evidence_summary), 5, optional=4),
    _Column("FROM", lambda run: some(run.files, _FILES) if run.among_many else "", 8, elastic=True, optional=1),
)


class _Account(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a run while the others are read: its row and its failure, not its graph."""

    row: tuple[str, ...]
    readiness: Readiness
    severity: Severity
    """That of the main failure; low where there is none."""
    details: tuple[str, ...]

    @property
    def badness(self) -> tuple[int, int]:
        """The worst is the least."""
        return -words.SEVERITY_ORDER.index(self.severity), _WORST_FIRST.index(self.readiness)


def render(report: Report, look: Look) -> Iterator[bytes]:
    """Yield the report in lines of UTF-8."""
    for line in _lines(report, look):
        yield (line + "\n").encode()


def _lines(report: Report, look: Look) -> Iterator[str]:
    clusters = Clusters()
    accounts = [_account(run, look, clusters) for run in report.runs]
    if not accounts:
        return
    yield from _shared(clusters, look)
    cut_short = yield from _table([account.row for account in accounts], look)
    telling = sorted((account for account in accounts if account.details), key=lambda account: account.badness)
    for account in telling[:_DETAILED_RUNS]:
        heading, *body = account.details
        yield ""
        yield _paint(heading, account.severity, look)
        yield from body
    if len(telling) > _DETAILED_RUNS:
        yield ""
        yield f"{len(telling) - _DETAILED_RUNS} more runs with findings: --format markdown and json tell them all."
    if cut_short:
        yield ""
        yield from wrapped(_CUT_SHORT, look.width or _ANY)
    if len(accounts) > 1:
        yield ""
        yield from wrapped(words.totals(Counter(account.readiness for account in accounts)), look.width or _ANY)


def _shared(clusters: Clusters, look: Look) -> Iterator[str]:
    """Yield what many runs have in common, and an empty line after it."""
    lines = [line for text in clusters.lines() for line in wrapped(text, look.width or _ANY)]
    yield from lines
    if lines:
        yield ""


def _account(run: RunReport, look: Look, clusters: Clusters) -> _Account:
    clusters.add(run)
    return _Account(
        row=tuple(one_line(column.value(run)) for column in _COLUMNS),
        readiness=run.diagnosis.readiness_level,
        severity=Severity.LOW if run.grave is None else run.grave.severity,
        details=details(run, look),
    )


def _table(rows: Sequence[tuple[str, ...]], look: Look) -> Generator[str, None, bool]:
    """Yield a line a row; return whether the id of some run was cut."""
    titles = tuple(column.title for column in _COLUMNS)
    shown = [index for index in range(len(_COLUMNS)) if index == _RUN or any(row[index] for row in rows)]
    natural = {index: max(column_width(row[index]) for row in (titles, *rows)) for index in shown}
    widths = natural if look.width is None else _fit(natural, look.width)
    yield _row(titles, widths, lambda cell: _paint(cell, "heading", look))
    for row in rows:
        yield _row(row, widths, lambda cell: _paint_word(cell, look))
    return widths[_RUN] < natural[_RUN]


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


def _paint_word(cell: str, look: Look) -> str:
    """Colour a cell by the word it ends in: a verdict, or a severity in brackets."""
    word = cell[:-1].rpartition("(")[2] if cell.endswith(")") else cell
    return _paint(cell, word, look)


def _paint(text: str, word: str, look: Look) -> str:
    code = _COLOURS.get(word)
    return f"\x1b[{code}m{text}\x1b[0m" if look.colour and code else text
