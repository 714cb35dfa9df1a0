"""What is said of an input: what could not be read, what was passed over, and why there is no run in it."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import msgspec

from analyzer.report.remarks import some
from analyzer.session.model import Note
from critiqor_otel.backends.address import is_address, shown_address
from critiqor_otel.cli.product import STANDARD_OUTPUT
from critiqor_otel.cli.side import Side, spoken_place
from critiqor_otel.formats.input_files import SKIPPED_FILE, UNREADABLE_INPUT
from critiqor_otel.formats.reading import EMPTY_INPUT, EXPECTED, is_of_no_format

__all__ = ["Held", "Remarks", "emptiness", "remarks_on", "spare", "tell_remarks"]

_NAMED_PATHS = 5
_NAMED_FOREIGN = 3  # a folder may hold thousands of files that are none of ours
_UNREAD = frozenset((SKIPPED_FILE, UNREADABLE_INPUT))


class Held(msgspec.Struct, frozen=True):
    """How much an input held."""

    spans: int
    logs: int
    passed_over: int


class Remarks(msgspec.Struct, frozen=True):
    """The notes on an input, as a report shows them."""

    skipped: tuple[Note, ...]
    """Inputs that could not be read, and traces in which no agent speaks."""
    notes: tuple[Note, ...]
    """What else was found odd in the input."""


def remarks_on(notes: Iterable[Note], silent_traces: Iterable[str]) -> Remarks:
    """Return the notes in an order that depends on nothing but them."""
    told = sorted(notes, key=lambda note: (note.place or "", note.code, note.message))
    return Remarks(
        skipped=(*(note for note in told if note.code in _UNREAD), *map(_silent, silent_traces)),
        notes=tuple(note for note in told if note.code not in _UNREAD),
    )


def tell_remarks(remarks: Remarks, *, side: Side, any_run: bool) -> None:
    """Tell the user what is to be said of the input."""
    named = [note for note in remarks.skipped if note.code == UNREADABLE_INPUT]
    skipped = [note for note in remarks.skipped if note.code != UNREADABLE_INPUT]
    foreign = [note for note in skipped if is_of_no_format(note)]
    if len(foreign) > _NAMED_FOREIGN and not side.verbose:
        skipped = [note for note in skipped if not is_of_no_format(note)]
        side.tell(foreign[:_NAMED_FOREIGN])
        left = _counted(len(foreign) - _NAMED_FOREIGN, "more file")
        side.say(f"… and {left} of no format that is known here; --verbose names all")
    side.tell((*skipped, *remarks.notes))
    side.fail_on(named)
    if any(map(is_of_no_format, named if any_run else remarks.skipped)):
        side.say(f"What is read: {EXPECTED}.")


def emptiness(held: Held, notes: Iterable[Note], paths: Sequence[str]) -> str:
    """Say why there is no run, to the user who expected one."""
    if held.spans or held.logs:
        counted = (_counted(held.spans, "span"), _counted(held.logs, "log record"))
        found = f"in {' and '.join(filter(None, counted))} no agent speaks"
    elif any(note.code == EMPTY_INPUT for note in notes):
        found = "no spans, no log records and no session are in it"
    elif held.passed_over:
        found = f"{_counted(held.passed_over, 'record')} read, and no spans found"
    else:
        found = "nothing could be read"
    return f"No run was found in {some([_spoken(path) for path in paths], _NAMED_PATHS)}: {found}."


def spare(places: Iterable[str], output: str) -> None:
    """Refuse to write the product over a file that is read.

    Raises:
        click.UsageError: the output is one of these files.
    """
    if output == STANDARD_OUTPUT or not os.path.isfile(output):  # noqa: PTH113  # False for what can't be looked at
        return
    for place in places:
        if os.path.isfile(place) and Path(place).samefile(output):  # noqa: PTH113  # as above
            raise click.UsageError(f"--output {output} would overwrite {place}, which is read")


def _spoken(path: str) -> str:
    return shown_address(path) if is_address(path) else spoken_place(path)


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}" if count else ""


def _silent(trace_id: str) -> Note:
    return Note(code="no-agent", message=f"in the trace {trace_id} no agent speaks; it was passed over")
