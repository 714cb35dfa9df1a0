"""Paths given on the command line become runs, and what could not be read is told."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from pathlib import Path

import click
import msgspec

from analyzer.report.remarks import some
from analyzer.session.model import Note, Session
from critiqor_otel.backends.address import is_address, shown_address
from critiqor_otel.cli.product import STANDARD_OUTPUT
from critiqor_otel.cli.side import Side, spoken_place
from critiqor_otel.engine.local import Evidence, gather, runs_of
from critiqor_otel.engine.sources import files_of
from critiqor_otel.formats.input_files import SKIPPED_FILE, UNREADABLE_INPUT
from critiqor_otel.formats.reading import EMPTY_INPUT, EXPECTED, is_of_no_format, read_paths
from critiqor_otel.reconstruct.grouping import GroupBy

__all__ = ["Found", "Silent", "read_runs"]

_NAMED_PATHS = 5
_UNREAD = frozenset((SKIPPED_FILE, UNREADABLE_INPUT))


class Silent(Enum):
    """What becomes of a trace in which no agent speaks."""

    PASSED_OVER = auto()
    KEPT_IF_ALONE = auto()
    """It is a run where the input holds no other."""
    KEPT = auto()


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What the paths held."""

    evidence: Evidence
    sessions: list[Session]
    """In order of run id."""
    skipped: tuple[Note, ...]
    """Inputs that could not be read, and traces in which no agent speaks."""
    notes: tuple[Note, ...]
    """What else was found odd in the input."""

    @property
    def places(self) -> Mapping[str, Sequence[str]]:
        """The session files by run id."""
        return self.evidence.places

    @property
    def files(self) -> Mapping[str, Sequence[str]]:
        """The files by run id, where more than one gave evidence."""
        evidence = self.evidence
        return files_of(self.sessions, evidence.sources, evidence.spans, evidence.logs)

    def emptiness(self, paths: Sequence[str]) -> str:
        """Say why there is no run, to the user who expected one."""
        evidence = self.evidence
        if evidence.spans or evidence.logs:
            held = (_counted(len(evidence.spans), "span"), _counted(len(evidence.logs), "log record"))
            found = f"in {' and '.join(filter(None, held))} no agent speaks"
        elif any(note.code == EMPTY_INPUT for note in self.notes):
            found = "no spans, no log records and no session are in it"
        elif evidence.passed_over:
            found = f"{_counted(evidence.passed_over, 'record')} read, and no spans found"
        else:
            found = "nothing could be read"
        return f"No run was found in {some([_spoken(path) for path in paths], _NAMED_PATHS)}: {found}."


def read_runs(
    paths: Sequence[str],
    *,
    side: Side,
    group_by: str | None = None,
    silent: Silent = Silent.PASSED_OVER,
    output: str = STANDARD_OUTPUT,
) -> Found:
    """Read files, folders and `-`, and return their runs.

    Raises:
        click.UsageError: the output would overwrite a file that is read.
    """
    _spare(paths, output)
    evidence = gather(side.follow(read_paths(paths), label="reading"))
    _spare([source.place for source in evidence.sources], output)
    grouping = None if group_by is None else GroupBy(group_by)
    runs = runs_of(evidence, group_by=grouping, keep_silent=silent is Silent.KEPT)
    if not runs.sessions and runs.silent_traces and silent is Silent.KEPT_IF_ALONE:
        runs = runs_of(evidence, group_by=grouping, keep_silent=True)
    told = sorted(runs.notes, key=lambda note: (note.place or "", note.code, note.message))
    found = Found(
        evidence=evidence,
        sessions=runs.sessions,
        skipped=(*(note for note in told if note.code in _UNREAD), *map(_silent, runs.silent_traces)),
        notes=tuple(note for note in told if note.code not in _UNREAD),
    )
    named = [note for note in found.skipped if note.code == UNREADABLE_INPUT]
    side.tell(note for note in (*found.skipped, *found.notes) if note.code != UNREADABLE_INPUT)
    side.fail_on(named)
    if any(map(is_of_no_format, named if found.sessions else found.skipped)):
        side.say(f"What is read: {EXPECTED}.")
    return found


def _spoken(path: str) -> str:
    return shown_address(path) if is_address(path) else spoken_place(path)


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}" if count else ""


def _spare(places: Iterable[str], output: str) -> None:
    """Refuse to write the product over a file that is read."""
    target = Path(output)
    if output == STANDARD_OUTPUT or not target.is_file():
        return
    for place in places:
        source = Path(place)
        if source.is_file() and source.samefile(target):
            raise click.UsageError(f"--output {output} would overwrite {place}, which is read")


def _silent(trace_id: str) -> Note:
    return Note(code="no-agent", message=f"in the trace {trace_id} no agent speaks; it was passed over")
