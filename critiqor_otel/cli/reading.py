"""Paths given on the command line become runs, and what could not be read is told."""

from collections.abc import Mapping, Sequence
from enum import Enum, auto

import msgspec

from analyzer.session.model import Note, Session
from critiqor_otel.cli.side import Side
from critiqor_otel.engine.local import Evidence, gather, runs_of
from critiqor_otel.formats.input_files import SKIPPED_FILE, UNREADABLE_INPUT
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.reconstruct.grouping import GroupBy

__all__ = ["Found", "Silent", "read_runs"]

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

    def emptiness(self, paths: Sequence[str]) -> str:
        """Say why there is no run, to the user who expected one."""
        evidence = self.evidence
        if evidence.spans or evidence.logs:
            found = f"in {len(evidence.spans)} spans and {len(evidence.logs)} log records no agent speaks"
        elif evidence.passed_over:
            found = f"{evidence.passed_over} records were read, and none of them holds spans"
        else:
            found = "nothing could be read"
        return f"No run was found in {', '.join(paths)}: {found}."


def read_runs(
    paths: Sequence[str], *, side: Side, group_by: str | None = None, silent: Silent = Silent.PASSED_OVER
) -> Found:
    """Read files, folders and `-`, and return their runs."""
    evidence = gather(side.follow(read_paths(paths), label="reading"))
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
    side.tell((*found.skipped, *found.notes))
    return found


def _silent(trace_id: str) -> Note:
    return Note(code="no-agent", message=f"in the trace {trace_id} no agent speaks; it was passed over")
