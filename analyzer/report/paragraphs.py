"""What a terminal shows of one run below the table: its main failure with what shows it, and what else there is."""

from collections.abc import Iterator

from analyzer.cause import FailureCause, Severity
from analyzer.report import words
from analyzer.report.exhibits import Exhibit
from analyzer.report.plain import cut, one_line, wrapped
from analyzer.report.remarks import remarks, some
from analyzer.report.report import Look, RunReport
from analyzer.session.model import Note

__all__ = ["details"]

_SHOWN = 6  # lines of evidence, and of failures of severity low
_NOTES = 3
_PIPE_WIDTH = 100  # columns where there is no terminal, for running text only


def details(run: RunReport, look: Look) -> tuple[str, ...]:
    """Return the lines on a run, the first its heading; none where there is nothing to tell."""
    width = look.width or _PIPE_WIDTH
    heading = wrapped(f"{_heading(run)} {one_line(run.diagnosis.run_id)}", width)
    failure = () if run.grave is None else _failure(run, run.grave, look)
    lost = () if run.grave is not None else _paragraph("root: ", words.root(run.diagnosis), width)
    told = [*failure, *lost, *_low(run, look)]
    said = remarks(run)
    if not (told or run.diagnosis.notes or any(remark.telling for remark in said)):
        return ()
    for remark in said:
        told += _paragraph(f"{remark.label}: " if remark.label else "", remark.text, width)
    return (*heading, *told, *_notes(run.diagnosis.notes, width))


def _heading(run: RunReport) -> str:
    if run.grave is not None:
        return f"{one_line(words.failure(run.grave))} in"
    return f"{words.READINESS[run.diagnosis.readiness_level]}:"


def _failure(run: RunReport, cause: FailureCause, look: Look) -> Iterator[str]:
    width = look.width or _PIPE_WIDTH
    yield from _paragraph("", cause.description, width)
    yield from _paragraph("sure: ", words.provenance(cause), width)
    if cause.root_cause is not None:
        yield from _paragraph("why:  ", cause.root_cause.description, width)
    yield from _paragraph("path: ", run.diagnosis.primary_diagnosis.causal_chain_explanation, width)
    yield from _paragraph("root: ", words.root(run.diagnosis), width)
    yield from _paragraph("fix:  ", cause.recommendation, width)
    yield from _paragraph("also: ", ", ".join(words.also(run.diagnosis, cause)), width)
    yield f"  evidence ({len(cause.evidence)} events):"
    for shown in run.exhibits[:_SHOWN]:
        yield cut(f"    {_exhibit_line(shown)}", width) if look.width else f"    {_exhibit_line(shown)}"
    left = len(cause.evidence) - min(len(run.exhibits), _SHOWN)
    if left:
        yield f"    … and {left} more"


def _low(run: RunReport, look: Look) -> Iterator[str]:
    """Yield a line for each failure of severity low: none to worry about, and what `--fail-on low` counts."""
    found = [cause for cause in run.diagnosis.failure_causes if cause.severity is Severity.LOW]
    for cause in found[:_SHOWN]:
        marks = f" ({', '.join(cause.marks)})" if cause.marks else ""
        line = f"  low: {one_line(cause.type)}{marks}: {one_line(cause.description)}"
        yield cut(line, look.width) if look.width else line
    if len(found) > _SHOWN:
        yield f"  low: and {len(found) - _SHOWN} more"


def _notes(notes: tuple[Note, ...], width: int) -> Iterator[str]:
    messages = [one_line(note.message) for note in notes]
    label = "note: " if len(messages) == 1 else f"{len(messages)} notes: "
    yield from _paragraph(label, some(messages, _NOTES, between="; "), width)


def _paragraph(label: str, text: str, width: int) -> Iterator[str]:
    indent = "  " + label
    for line in wrapped(one_line(text), max(width - len(indent), 20)) if text else ():
        yield indent + line
        indent = " " * len(indent)


def _exhibit_line(shown: Exhibit) -> str:
    failed = "failed" if shown.failed else ""
    parts = (shown.time, shown.event_id, shown.kind, shown.subject, failed, shown.detail)
    return "  ".join(part for part in parts if part)
