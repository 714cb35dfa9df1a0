"""What a killed `run` left is sealed by whoever comes next to its folder of runs.

Its evidence lies in a journal that nobody owns any more: beside the runs where another receiver had their own
(`own_runs`), else in theirs. A lock tells whether its owner lives; the system lets go of it however that ends.
"""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from analyzer.errors import SessionFileError
from analyzer.session.codec import read_session
from critiqor_otel.errors import CritiqorError, SpoolTakenError
from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.own_runs import move_in, sealed_folders
from critiqor_otel.spool.owner import Owner, OwnerSettings, Teller
from critiqor_otel.spool.run_files import SESSION_FILE
from critiqor_otel.spool.segments import segments
from critiqor_otel.spool.sink import SealedRun
from critiqor_otel.spool.spool_folder import SpoolFolder, SpoolLock
from critiqor_otel.spool.verdicts import Rules, judge

__all__ = ["seal_beside", "seal_journal", "seal_left_behind"]

_LOCKS = ("run", "receiver", "owner")
"""Held by those who write to a spool: a `run` until its runs are moved in, a receiver, and who makes sessions."""


def seal_left_behind(runs: Path, settings: OwnerSettings, *, now_ns: Callable[[], int], tell: Teller) -> None:
    """Seal what killed processes left beside the runs and, where no receiver lives there, in their own journal.

    Each run is told. What can't be sealed stays where it is, and is told as well.
    """
    folder = SpoolFolder(runs)
    seal_beside(folder, settings, now_ns=now_ns, tell=tell)
    with ExitStack() as stack:
        try:
            _hold(folder, stack)
        except (SpoolTakenError, OSError):  # its owner lives, or it may only be read
            return
        seal_journal(folder, settings, now_ns=now_ns, tell=tell)


def seal_journal(folder: SpoolFolder, settings: OwnerSettings, *, now_ns: Callable[[], int], tell: Teller) -> None:
    """Seal what stands in the journal of a spool whose locks are held, and tell of each run."""

    def told(run: SealedRun) -> None:
        tell("left-behind", {"message": "what a killed process had received is sealed now", "folder": run.folder})

    try:
        if segments(folder.journal):
            _seal(folder, settings, now_ns=now_ns, tell=tell, sealed=told)
    except (CritiqorError, OSError) as error:
        tell("not-taken-over", {"message": str(error), "folder": str(folder.journal)})


def seal_beside(folder: SpoolFolder, settings: OwnerSettings, *, now_ns: Callable[[], int], tell: Teller) -> None:
    """Seal what killed processes left beside the runs, move it in, and tell of each run."""
    for own in sorted(path for path in folder.beside.glob("*") if path.is_dir()):
        try:
            with ExitStack() as stack:
                _take_in(own, folder, settings, stack, now_ns=now_ns, tell=tell)
        except SpoolTakenError:
            continue  # its `run` lives
        except (CritiqorError, SessionFileError, OSError) as error:
            tell("not-taken-over", {"message": str(error), "folder": str(own)})


def _take_in(
    own: Path,
    folder: SpoolFolder,
    settings: OwnerSettings,
    stack: ExitStack,
    *,
    now_ns: Callable[[], int],
    tell: Teller,
) -> None:
    spool = SpoolFolder(own)
    if not _holds_evidence(spool):
        return  # of a `run` that has received nothing yet, or of one whose rest is kept for people to look at
    _hold(spool, stack)
    if not _holds_evidence(spool):
        return  # another process was faster
    _seal(spool, msgspec.structs.replace(settings, judged_by=None), now_ns=now_ns, tell=tell)
    for place in move_in(own, folder.runs).values():
        tell("left-behind", {"message": "the run of a killed process is sealed now", "folder": str(place)})
        if settings.judged_by is not None:
            session = read_session((place / SESSION_FILE).read_bytes())
            judge(session, runs=folder.runs, rules=Rules(settings.judged_by, settings.options))


def _holds_evidence(spool: SpoolFolder) -> bool:
    if not spool.journal.is_dir():
        return False
    return bool(segments(spool.journal)) or next(sealed_folders(spool.runs), None) is not None


def _hold(folder: SpoolFolder, stack: ExitStack) -> None:
    for name in _LOCKS:
        # An owner whose receiver was killed may still be ending; all the others live.
        stack.callback(SpoolLock(folder, name, wait=name == "owner").release)


def _seal(
    folder: SpoolFolder,
    settings: OwnerSettings,
    *,
    now_ns: Callable[[], int],
    tell: Teller,
    sealed: Callable[[SealedRun], None] = lambda _run: None,
) -> None:
    finished = max(segments(folder.journal), default=0)
    owner = Owner(folder, settings, started_ns=now_ns(), finished=finished, tell=tell, sealed=sealed)
    try:
        owner.flush(now_ns(), reason=CloseReason.FLUSH)
    finally:
        owner.close(journal_is_closed=True)
