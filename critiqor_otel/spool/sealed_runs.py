"""Sealed sessions: `runs/<run>/session.json` is written once, read-only; what comes later for it is a continuation."""

import hashlib
from itertools import count
from pathlib import Path
from typing import Literal

import msgspec

from analyzer.session.codec import write_session
from analyzer.session.jsontext import strict_json
from analyzer.session.model import Session
from critiqor_otel.errors import OutputError
from critiqor_otel.spool.run_folder import continuation_folder, folder_of
from critiqor_otel.spool.whole_file import create_once, make_folder

__all__ = ["DIAGNOSIS_FILE", "RECEIPT_FILE", "SESSION_FILE", "Arrival", "Sealed", "complete_receipt", "seal"]

SESSION_FILE = "session.json"
RECEIPT_FILE = "receipt.json"
DIAGNOSIS_FILE = "diagnosis.json"

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
    make_folder(runs)
    for number in count(1):
        version = session if number == 1 else _continuation(session, number)
        folder = runs / _folder(session.run_id, number)
        content = write_session(version)
        make_folder(folder)
        if create_once(folder / SESSION_FILE, content):
            create_once(folder / RECEIPT_FILE, _receipt(version, content, arrival))
            return Sealed(run_id=version.run_id, folder=folder, outcome="written" if number == 1 else "continued")
        if _holds(folder / SESSION_FILE, content):
            return Sealed(run_id=version.run_id, folder=folder, outcome="unchanged")
    raise AssertionError("count() does not end")


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
