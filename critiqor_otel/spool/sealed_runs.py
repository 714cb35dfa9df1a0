"""Sealed sessions: `runs/<run>/session.json` is written once, read-only; what comes later for it is a continuation."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from analyzer.session.codec import write_session
from analyzer.session.jsontext import strict_json
from analyzer.session.model import Session
from critiqor_otel.errors import OutputError
from critiqor_otel.spool.file_group import NewFile, Outcome, create_group
from critiqor_otel.spool.run_files import RECEIPT_FILE, SESSION_FILE
from critiqor_otel.spool.run_folder import continuation_folder, folder_of
from critiqor_otel.spool.whole_file import create_once, make_folder

__all__ = ["Arrival", "Sealed", "complete_receipt", "seal", "seal_all"]

_WRITABLE = 0o222
_RECEIPT_SCHEMA = "critiqor.receipt.v1"


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """How the evidence of a run came: what the receipt says beside the session's digest."""

    transport: str = "file"
    close_reason: str = "end_of_input"
    duplicates: int | None = None
    """Deliveries of spans beyond the first; None when they were not counted."""


_LOST_ARRIVAL = Arrival(transport="unknown", close_reason="unknown")
"""Of a session whose receipt a crash took: how it came is not known any more."""


class Sealed(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run's evidence lies, and whether it was put there now."""

    run_id: str
    folder: Path
    outcome: Literal["written", "unchanged", "continued"]


def seal(session: Session, arrival: Arrival, *, runs: Path) -> Sealed:
    """Write the session and its receipt under `runs`, unless the same bytes are sealed there.

    A run that is sealed with other bytes is left alone: this evidence becomes its next continuation.

    Raises:
        OutputError: the folder cannot be made, or a file in it not written.
    """
    (sealed,) = seal_all([(session, arrival)], runs=runs)
    if isinstance(sealed, OutputError):
        raise sealed
    return sealed


def seal_all(sessions: Sequence[tuple[Session, Arrival]], *, runs: Path) -> list[Sealed | OutputError]:
    """Seal sessions as `seal` does, their files together; return for each where it lies, or why it is not written.

    Raises:
        OutputError: the folder `runs` cannot be made.
    """
    make_folder(runs)
    all_of_them = [_Version(session, arrival, runs) for session, arrival in sessions]
    waiting = all_of_them
    while waiting:
        ready: dict[Path, _Version] = {}
        for version in waiting:
            if version.is_ready():
                ready.setdefault(version.folder, version)
        outcomes = create_group([version.files() for version in ready.values()])
        for version, outcome in zip(ready.values(), outcomes, strict=True):
            version.learn(outcome)
        waiting = [version for version in waiting if version.sealed is None]
    return [version.sealed for version in all_of_them if version.sealed is not None]


class _Version:
    """A session on its way to its folder: the run's own or, where another session lies there, a continuation's."""

    def __init__(self, session: Session, arrival: Arrival, runs: Path) -> None:
        self.sealed: Sealed | OutputError | None = None
        self._original = session
        self._arrival = arrival
        self._runs = runs
        self._be(1)

    def _be(self, number: int) -> None:
        self._number = number
        self._session = self._original if number == 1 else _continuation(self._original, number)
        self.folder = self._runs / _folder(self._original.run_id, number)
        self._content = write_session(self._session)

    def is_ready(self) -> bool:
        """Go on to the first folder that is free; False when there is nothing left to write."""
        try:
            while (self.folder / SESSION_FILE).exists():
                if _holds(self.folder / SESSION_FILE, self._content):
                    self._done("unchanged")
                    return False
                self._be(self._number + 1)
            make_folder(self.folder)
        except OutputError as error:
            self.sealed = error
        except OSError as error:
            self.sealed = OutputError(f"{self.folder} cannot be read: {error.strerror or error}")
        return self.sealed is None

    def files(self) -> tuple[NewFile, NewFile]:
        """Return the session and its receipt."""
        receipt = _receipt(self._session, self._content, self._arrival)
        return NewFile(self.folder / SESSION_FILE, self._content), NewFile(self.folder / RECEIPT_FILE, receipt)

    def learn(self, outcome: Outcome) -> None:
        """Take what became of the files; where another process was faster, the folder is looked at again."""
        if isinstance(outcome, OutputError):
            self.sealed = outcome
        elif outcome:
            self._done("written" if self._number == 1 else "continued")

    def _done(self, outcome: Literal["written", "unchanged", "continued"]) -> None:
        self.sealed = Sealed(run_id=self._session.run_id, folder=self.folder, outcome=outcome)


def complete_receipt(folder: Path, session: Session, content: bytes) -> bool:
    """Write the receipt of a sealed session that has none, a crash having come between; tell whether it was written.

    A session that is not read-only was not sealed: it is its writer's, and gets none.

    Raises:
        OutputError: it cannot be written.
    """
    if (folder / SESSION_FILE).stat().st_mode & _WRITABLE:
        return False
    return create_once(folder / RECEIPT_FILE, _receipt(session, content, _LOST_ARRIVAL))


def _folder(run_id: str, number: int) -> str:
    return folder_of(run_id) if number == 1 else continuation_folder(run_id, number)


def _continuation(session: Session, number: int) -> Session:
    return msgspec.structs.replace(session, run_id=f"{session.run_id}~{number}", continues=session.run_id)


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError as error:
        raise OutputError(f"{path} is there and cannot be read: {error.strerror or error}") from error


def _receipt(session: Session, content: bytes, arrival: Arrival) -> bytes:
    receipt = {
        "schema_version": _RECEIPT_SCHEMA,
        "run_id": session.run_id,
        **({} if session.continues is None else {"continues": session.continues}),
        **msgspec.to_builtins(arrival),
        "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
    }
    return strict_json(receipt) + b"\n"
