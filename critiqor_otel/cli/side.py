"""What stands on standard error: progress, notes and remarks. The product goes elsewhere."""

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from analyzer.report.plain import one_line
from analyzer.session.model import Note

__all__ = ["Side", "spoken_facts", "spoken_place"]

_STANDARD_INPUT = "standard input"

_T = TypeVar("_T")

_PATIENCE = 0.5  # seconds until a bar is worth a look
_SHOWN_NOTES = 20  # as many as one reads; the JSON document holds all


class Side:
    """Standard error, which says nothing when it is asked to be quiet."""

    def __init__(self, *, quiet: bool, verbose: bool = False) -> None:
        """Speak, or be quiet; or tell all there is."""
        self._quiet = quiet
        self.verbose = verbose

    def say(self, line: str) -> None:
        """Print a line of our own; what a trace wrote into it is made harmless."""
        if not self._quiet:
            self.fail(line)

    def fail(self, line: str) -> None:
        """Print why the command has no product, quiet or not."""
        try:
            print(one_line(line), file=sys.stderr)  # noqa: T201  # the command's own voice
        except OSError:
            self._quiet = True  # nobody listens, or there is no room to write; the product goes on

    def tell(self, notes: Iterable[Note]) -> None:
        """Print the first notes, and how many there are besides; nothing when it is to be quiet."""
        found = tuple(notes)
        shown = len(found) if self.verbose else _SHOWN_NOTES
        for note in found[:shown]:
            self.say(_spoken(note))
        if len(found) > shown:
            self.say(f"… and {len(found) - shown} more notes; --format json holds all")

    def fail_on(self, notes: Iterable[Note]) -> None:
        """Print what went wrong with what was asked for, quiet or not: the first of it, and how much there is."""
        found = tuple(notes)
        for note in found[:_SHOWN_NOTES]:
            self.fail(f"Error: {_spoken(note)}")
        if len(found) > _SHOWN_NOTES:
            self.fail(f"… and {len(found) - _SHOWN_NOTES} more errors")

    def follow(self, items: Iterable[_T], *, label: str, total: int | None = None) -> Iterator[_T]:
        """Yield the items; on a terminal a bar shows how far it is, unless it is done in no time."""
        if self._quiet or not sys.stderr.isatty():
            yield from items
            return
        from rich.console import Console  # noqa: PLC0415  # slow to load, and needed on a terminal alone
        from rich.progress import (  # noqa: PLC0415  # as above
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        progress = Progress(*columns, console=Console(stderr=True), transient=True)
        task = progress.add_task(label, total=total)
        begun = monotonic()
        try:
            for item in items:
                yield item
                progress.advance(task)
                if not progress.live.is_started and monotonic() - begun > _PATIENCE:
                    progress.start()
        finally:
            progress.stop()

    @contextmanager
    def measuring(self) -> Generator[Callable[[str, int, int], None]]:
        """Yield what is to be told of bytes that are done: a label, how many, and of how many; a bar shows the rate."""
        if self._quiet or not sys.stderr.isatty():
            yield _unheard
            return
        from rich.console import Console  # noqa: PLC0415  # as above
        from rich.progress import (  # noqa: PLC0415  # as above
            BarColumn,
            DownloadColumn,
            Progress,
            TaskID,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TextColumn("left"), TimeRemainingColumn())
        progress = Progress(
            TextColumn("{task.description}"), *columns, console=Console(stderr=True), transient=True, expand=True
        )
        tasks: dict[str, TaskID] = {}

        def show(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = progress.add_task(label, total=total)
            progress.update(tasks[label], completed=done)

        with progress:
            yield show


def _unheard(_label: str, _done: int, _total: int) -> None:
    pass


def spoken_facts(word: str, facts: Mapping[str, object]) -> str:
    """Return as a line what programs are told by a word and facts."""
    return one_line(f"{word}: {', '.join(f'{name} {fact}' for name, fact in facts.items())}")


def spoken_place(place: str) -> str:
    """Return a place as people call it: `-` is standard input."""
    name, colon, line = place.partition(":")
    return f"{_STANDARD_INPUT}{colon}{line}" if name == "-" else place


def _spoken(note: Note) -> str:
    return f"{spoken_place(note.place)}: {note.message}" if note.place else note.message
