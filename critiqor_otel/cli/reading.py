"""Paths given on the command line become runs, and what could not be read is told."""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import BinaryIO

import msgspec

from analyzer.session.model import Note, Session
from critiqor_otel.cli.input_remarks import Held, emptiness, remarks_on, spare, tell_remarks
from critiqor_otel.cli.product import STANDARD_OUTPUT
from critiqor_otel.cli.side import Side
from critiqor_otel.engine.local import Evidence, gather, runs_of
from critiqor_otel.engine.sources import files_of
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.reconstruct.grouping import GroupBy

__all__ = ["Found", "Silent", "read_runs"]


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
        """The files of each run, sorted, by run id."""
        evidence = self.evidence
        return files_of(self.sessions, evidence.sources, evidence.spans, evidence.logs)

    def emptiness(self, paths: Sequence[str]) -> str:
        """Say why there is no run, to the user who expected one."""
        evidence = self.evidence
        return emptiness(Held(len(evidence.spans), len(evidence.logs), evidence.passed_over), self.notes, paths)


def read_runs(
    paths: Sequence[str],
    *,
    side: Side,
    group_by: str | None = None,
    silent: Silent = Silent.PASSED_OVER,
    output: str = STANDARD_OUTPUT,
    standard_input: BinaryIO | None = None,
) -> Found:
    """Read files, folders and `-`, and return their runs.

    Raises:
        click.UsageError: the output would overwrite a file that is read.
    """
    spare(paths, output)
    evidence = gather(side.follow(read_paths(paths, standard_input=standard_input), label="reading"))
    spare([source.place for source in evidence.sources], output)
    grouping = None if group_by is None else GroupBy(group_by)
    runs = runs_of(evidence, group_by=grouping, keep_silent=silent is Silent.KEPT)
    if not runs.sessions and runs.silent_traces and silent is Silent.KEPT_IF_ALONE:
        runs = runs_of(evidence, group_by=grouping, keep_silent=True)
    remarks = remarks_on(runs.notes, runs.silent_traces)
    tell_remarks(remarks, side=side, any_run=bool(runs.sessions))
    return Found(evidence=evidence, sessions=runs.sessions, skipped=remarks.skipped, notes=remarks.notes)
