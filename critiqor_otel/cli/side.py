"""What stands on standard error: progress, notes and remarks. The product goes elsewhere."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from analyzer.report.plain import one_line
from analyzer.session.model import Note

__all__ = ["Side"]

_T = TypeVar("_T")

_SHOWN_NOTES = 20  # as many as one reads; the JSON document holds all


class Side:
    """Standard error, which says nothing when it is asked to be quiet."""

    def __init__(self, *, quiet: bool) -> None:
        """Speak, or be quiet."""
        self._quiet = quiet

    def say(self, line: str) -> None:
        """Print a line of our own; what a trace wrote into it is made harmless."""
        if not self._quiet:
            self.fail(line)

    def fail(self, line: str) -> None:
        """Print why the command has no product, quiet or not."""
        try:
            print(one_line(line), file=sys.stderr)  # noqa: T201  # the command's own voice
        except BrokenPipeError:
            self._quiet = True  # nobody listens; the product goes on

    def tell(self, notes: Iterable[Note]) -> None:
        """Print the first notes, and how many there are besides."""
        found = tuple(notes)
        for note in found[:_SHOWN_NOTES]:
            self.say(f"{note.place}: {note.message}" if note.place else note.message)
        if len(found) > _SHOWN_NOTES:
            self.say(f"… and {len(found) - _SHOWN_NOTES} more notes; --format json holds all")

    def follow(self, items: Iterable[_T], *, label: str, total: int | None = None) -> Iterator[_T]:
        """Yield the items; on a terminal a bar shows how far it is."""
        if self._quiet or not sys.stderr.isatty():
            yield from items
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            yield from progress.track(items, description=label, total=total)
