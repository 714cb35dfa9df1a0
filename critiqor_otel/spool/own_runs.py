"""Where does `run` observe its command when another receiver writes to the folder of runs? Beside it, and moves in.

One process alone may own a spool. A second one has a spool of its own in the first one's hidden folder, and hands over
the sealed folders when its command has ended: by one rename each, so that nobody sees half of one. Whoever finds what
it left when it was killed hands it over in the same way (`left_behind`).
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from analyzer.session.codec import read_session
from analyzer.session.model import Session
from critiqor_otel.spool.run_files import SESSION_FILE
from critiqor_otel.spool.run_folder import folder_of
from critiqor_otel.spool.sealed_runs import Arrival, seal
from critiqor_otel.spool.segments import segments
from critiqor_otel.spool.spool_folder import SpoolFolder

__all__ = ["move_in", "own_runs", "sealed_folders"]


def own_runs(runs: Path, run_id: str) -> Path:
    """Return a folder of runs that no other process writes to, inside the hidden one of another."""
    return SpoolFolder(runs).beside / f"{folder_of(run_id)}.{os.getpid()}"


def sealed_folders(runs: Path) -> Iterator[Path]:
    """Yield the folders of sealed runs, each run's before those of what came later for it."""
    found = [file.parent for file in runs.glob(f"*/{SESSION_FILE}")]
    yield from sorted(found, key=lambda folder: (len(folder.name), folder.name))


def move_in(own: Path, runs: Path) -> dict[Path, Path]:
    """Move what was sealed in a folder of one's own to the runs, and return where each run's folder lies now.

    A run whose folder is taken there becomes the continuation of that one. The folder of one's own goes, unless it
    holds evidence that stands in no session. Interrupted and begun again, it moves nothing twice.

    Raises:
        OutputError: it can't be written there.
        SessionFileError: a session that was sealed is none any more.
    """
    moved = {folder: _moved(folder, runs) for folder in sealed_folders(own)}
    spool = SpoolFolder(own)
    if not segments(spool.journal) and not any(spool.aside.glob("*")):
        shutil.rmtree(own, ignore_errors=True)
    return moved


def _moved(source: Path, runs: Path) -> Path:
    target = runs / source.name
    try:
        source.rename(target)
    except OSError:  # there is a run of this name, or another disk below the folder
        session = read_session((source / SESSION_FILE).read_bytes())
        target = seal(_whole_name(session), Arrival(), runs=runs).folder
        shutil.rmtree(source, ignore_errors=True)
    return target


def _whole_name(session: Session) -> Session:
    """Return the session under the name of its run: which number it bears as a continuation is found there."""
    if session.continues is None:
        return session
    return msgspec.structs.replace(session, run_id=session.continues, continues=None)
