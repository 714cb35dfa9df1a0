"""Where does `run` observe its command when another receiver writes to the folder of runs? Beside it, and moves in.

One process alone may own a spool. A second one has a spool of its own in the first one's hidden folder, and hands over
the sealed folders when its command has ended: by one rename each, so that nobody sees half of one.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from analyzer.session.codec import read_session
from critiqor_otel.spool.run_files import SESSION_FILE
from critiqor_otel.spool.run_folder import folder_of
from critiqor_otel.spool.sealed_runs import Arrival, seal
from critiqor_otel.spool.segments import segments
from critiqor_otel.spool.sink import SealedRun
from critiqor_otel.spool.spool_folder import SpoolFolder

__all__ = ["moved_in", "own_runs"]


def own_runs(runs: Path, run_id: str) -> Path:
    """Return a folder of runs that no other process writes to, inside the hidden one of another."""
    return SpoolFolder(runs).home / "beside" / f"{folder_of(run_id)}.{os.getpid()}"


def moved_in(sealed: Sequence[SealedRun], own: Path, runs: Path) -> list[SealedRun]:
    """Move what was sealed in a folder of one's own to the runs, and return where it lies now.

    A run whose folder is taken there becomes the continuation of that one. The folder of one's own goes, unless it
    holds evidence that stands in no session.

    Raises:
        OutputError: it can't be written there.
    """
    moved = [_moved(one, runs) for one in sealed]
    spool = SpoolFolder(own)
    if not segments(spool.journal) and not any(spool.aside.glob("*")):
        shutil.rmtree(own, ignore_errors=True)
    return moved


def _moved(one: SealedRun, runs: Path) -> SealedRun:
    source = Path(one.folder)
    target = runs / source.name
    try:
        source.rename(target)
    except OSError:  # there is a run of this name, or another disk below the folder
        session = read_session((source / SESSION_FILE).read_bytes())
        target = seal(session, Arrival(), runs=runs).folder
    return structs.replace(one, folder=str(target))
