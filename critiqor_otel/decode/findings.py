"""What was found wrong while decoding: counted by reason, told in one note a kind."""

from collections import Counter
from enum import StrEnum

from analyzer.session.model import Note

__all__ = ["Finding", "Findings"]

_TOLD = 6  # reasons a note spells out; the rest is counted


class Finding(StrEnum):
    """A kind of fault; the value is the note's code."""

    INVALID_ID = "invalid-id"
    DAMAGED_RECORD = "damaged-record"
    INVALID_PARENT = "invalid-parent-id"
    INVALID_LINK = "invalid-link"
    INVALID_TEXT = "invalid-text"
    BAD_VALUE = "bad-value"
    TOO_DEEP = "too-deep"
    SOURCE_WARNING = "source-warning"
    CUT = "cut-file"


_SENTENCES = {
    Finding.INVALID_ID: "{count} left out, having no valid ids",
    Finding.DAMAGED_RECORD: "{count} left out, being damaged",
    Finding.INVALID_PARENT: "{count} with an invalid parent id, read as without a parent",
    Finding.INVALID_LINK: "{count} left out, naming no span",
    Finding.INVALID_TEXT: "{count} holding what is no Unicode, replaced by U+FFFD",
    Finding.BAD_VALUE: "{count} left out, being unreadable",
    Finding.TOO_DEEP: "{count} nested too deep, cut",
    Finding.SOURCE_WARNING: "{count} given by the source",
    Finding.CUT: "{count} cut short; the whole parts before the cut are kept",
}
_THINGS = {
    Finding.INVALID_ID: "record",
    Finding.DAMAGED_RECORD: "record",
    Finding.INVALID_PARENT: "span",
    Finding.INVALID_LINK: "link",
    Finding.INVALID_TEXT: "text",
    Finding.BAD_VALUE: "value",
    Finding.TOO_DEEP: "value",
    Finding.SOURCE_WARNING: "warning",
    Finding.CUT: "message",
}
_LOSSES = frozenset((Finding.INVALID_ID, Finding.DAMAGED_RECORD))


class Findings:
    """Counts faults while a piece of input is decoded."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        """Start with nothing found."""
        self._counts: dict[Finding, Counter[str]] = {}

    def add(self, finding: Finding, reason: str) -> None:
        """Count one fault; reasons that are equal are told once, so they should not quote long values."""
        self._counts.setdefault(finding, Counter())[reason] += 1

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(reasons.total() for reasons in self._counts.values())

    @property
    def rejected(self) -> int:
        """How many spans and log records were left out."""
        return sum(reasons.total() for finding, reasons in self._counts.items() if finding in _LOSSES)

    def notes(self, place: str) -> tuple[Note, ...]:
        """Return one note a kind of fault, in order of the kinds."""
        return tuple(
            Note(code=finding.value, message=_message(finding, self._counts[finding]), place=place or None)
            for finding in Finding
            if finding in self._counts
        )


def _message(finding: Finding, reasons: Counter[str]) -> str:
    total = reasons.total()
    count = f"{total} {_THINGS[finding]}{'' if total == 1 else 's'}"
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    told = [reason if times == 1 else f"{reason} ({times} times)" for reason, times in ranked[:_TOLD]]
    if len(ranked) > _TOLD:
        told.append(f"{sum(times for _, times in ranked[_TOLD:])} for other reasons")
    return f"{_SENTENCES[finding].format(count=count)}: {'; '.join(told)}"
