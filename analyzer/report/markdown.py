"""A report for a pull request or an issue: every run, every failure, in GitHub's Markdown."""

import re
from collections import Counter
from collections.abc import Iterator

from analyzer.cause import FailureCause
from analyzer.pattern import pattern
from analyzer.report import words
from analyzer.report.exhibits import Exhibit
from analyzer.report.plain import one_line
from analyzer.report.remarks import remarks
from analyzer.report.report import Look, Report, RunReport
from analyzer.session.model import Note
from analyzer.verdict import Readiness

__all__ = ["render"]

_SPECIAL = pattern(r"([\\`*_{}\[\]<>()#+!|~&@-])")
_HEAD = (
    "| run | agent | status | trust | verdict | main failure | tool calls | tokens |",
    "|---|---|---|--:|---|---|--:|--:|",
)


def render(report: Report, look: Look) -> Iterator[bytes]:
    """Yield the report in lines of UTF-8."""
    _ = look
    for line in _lines(report):
        yield (line + "\n").encode()


def _lines(report: Report) -> Iterator[str]:
    yield "# Agent runs"
    yield ""
    sections: list[str] = []
    verdicts: Counter[Readiness] = Counter()
    for run in report.runs:
        if not verdicts:
            yield from _HEAD
        verdicts[run.diagnosis.readiness_level] += 1
        yield _row(run)
        sections.extend(_section(run))
    if not verdicts:
        yield "No runs."
    if verdicts.total() > 1:
        yield ""
        yield words.totals(verdicts)
    yield from sections
    yield from _notes("Not read", report.skipped)
    yield from _notes("Notes on the input", report.notes)


def _row(run: RunReport) -> str:
    diagnosis, evidence = run.diagnosis, run.diagnosis.evidence_summary
    cells = (
        _code(diagnosis.run_id),
        _code(words.agent(diagnosis)),
        diagnosis.status.value,
        words.trust(diagnosis),
        words.READINESS[diagnosis.readiness_level],
        _escaped(words.main_failure(diagnosis, run.grave)),
        words.tool_calls(evidence),
        words.tokens(evidence),
    )
    return f"| {' | '.join(cells)} |"


def _section(run: RunReport) -> Iterator[str]:
    said = remarks(run)
    if not (run.diagnosis.failure_causes or run.diagnosis.notes or any(remark.telling for remark in said)):
        return
    yield ""
    yield f"## {_code(run.diagnosis.run_id)}"
    if said:
        yield ""
    for remark in said:
        yield f"- {f'**{remark.label}**: ' if remark.label else ''}{_escaped(remark.text)}"
    causes = sorted(run.diagnosis.failure_causes, key=lambda cause: cause is not run.primary)
    for cause in causes:
        yield from _failure(cause)
        if cause is run.primary:
            yield from _evidence(run.exhibits)
    if where := words.root(run.diagnosis):
        yield from ("", f"**Where it began**: {_escaped(where)}")
    yield from _notes("Notes on the evidence", run.diagnosis.notes, level="###")


def _failure(cause: FailureCause) -> Iterator[str]:
    yield ""
    yield f"### {_escaped(words.failure(cause))}"
    yield ""
    yield _escaped(cause.description)
    yield ""
    if cause.root_cause is not None:
        yield f"- **Why**: {_escaped(cause.root_cause.description)}"
    if cause.recommendation:
        yield f"- **Fix**: {_escaped(cause.recommendation)}"
    yield f"- **How sure**: {_escaped(words.provenance(cause))}"
    yield f"- **Evidence**: {', '.join(_code(event_id) for event_id in cause.evidence)}"


def _evidence(shown: tuple[Exhibit, ...]) -> Iterator[str]:
    yield ""
    yield "| time | event | kind | of | shows |"
    yield "|---|---|---|---|---|"
    for one in shown:
        failed = "**failed** " if one.failed else ""
        cells = (one.time, _code(one.event_id), _escaped(one.kind), _code(one.subject), failed + _code(one.detail))
        yield f"| {' | '.join(cells)} |"


def _notes(title: str, notes: tuple[Note, ...], *, level: str = "##") -> Iterator[str]:
    if not notes:
        return
    yield ""
    yield f"{level} {title}"
    yield ""
    for note in notes:
        place = f"{_code(note.place)}: " if note.place else ""
        yield f"- {place}{_escaped(note.message)} ({_code(note.code)})"


def _escaped(text: str) -> str:
    """Return the text so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def _code(text: str) -> str:
    """Return the text as a code span, inside which nobody is mentioned and nothing is a link."""
    line = one_line(text).replace("|", "\\|")
    if not line:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"
