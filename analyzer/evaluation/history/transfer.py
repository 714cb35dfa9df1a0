"""The history store's evaluations as a file of JSON lines, and such a file's evaluations into the store."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analyzer.evaluation.history.store import History
from analyzer.evaluation.lines import read_lines, replace_lines
from analyzer.evaluation.record import EvaluationRecord
from analyzer.session.model import Note

__all__ = ["Imported", "export_lines", "import_lines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import found."""

    added: int
    known: int
    """Evaluations that the store held already, word for word."""
    notes: tuple[Note, ...] = ()
    """A note a line that could not be read."""


def export_lines(history: History, path: str | Path, *, agent_id: str | None = None) -> int:
    """Write the evaluations, of one agent or all, by time; the file appears whole. Return how many they are."""
    return replace_lines(Path(path), history.records(agent_id))


def import_lines(history: History, path: str | Path) -> Imported:
    """Keep the evaluations of a file that the store does not hold yet; an import may be repeated.

    Raises:
        OSError: the file can't be read.
    """
    notes: list[Note] = []
    read = 0

    def records() -> Iterator[EvaluationRecord]:
        nonlocal read
        for found in read_lines(Path(path)):
            if isinstance(found, Note):
                notes.append(found)
            else:
                read += 1
                yield found

    added = history.add_missing(records())
    return Imported(added=added, known=read - added, notes=tuple(notes))
