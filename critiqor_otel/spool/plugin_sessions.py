"""A session that a plugin wrote is sealed as it stands: made read-only, its digest kept, its run record written."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from analyzer.errors import SessionFileError
from analyzer.session.codec import read_session
from analyzer.session.instants import format_instant
from analyzer.session.jsontext import strict_json
from analyzer.session.model import Session
from analyzer.verdict import Diagnosis
from critiqor_otel.errors import OutputError, UnreadableInputError
from critiqor_otel.spool.run_files import RECEIPT_FILE, beside
from critiqor_otel.spool.whole_file import SEALED, create_once

__all__ = ["finalize_session", "write_run_record"]

_RECEIPT_SCHEMA = "critiqor.receipt.v1"


def finalize_session(file: Path) -> tuple[Session, bool]:
    """Seal the file untouched and return its session, and whether it was open until now.

    Raises:
        UnreadableInputError: it is no session file, or it was changed since it was sealed.
        OutputError: it cannot be made read-only, or its receipt not be written.
    """
    try:
        content = file.read_bytes()
        session = read_session(content)
    except (OSError, SessionFileError) as error:
        raise UnreadableInputError(f"{file} cannot be finalized: {error}") from error
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    receipt = file.with_name(beside(file.name, RECEIPT_FILE))
    is_new = create_once(receipt, _receipt(session, digest))
    if not is_new and _sealed_digest(receipt) != digest:
        raise UnreadableInputError(f"{file} was changed since it was sealed: its receipt names another digest")
    try:
        file.chmod(SEALED)
    except OSError as error:
        raise OutputError(f"{file} cannot be made read-only: {error.strerror or error}") from error
    return session, is_new


def write_run_record(session: Session, verdict: Diagnosis, file: Path) -> bool:
    """Write the run's record beside its folder, unless there is one; tell whether it was written.

    Raises:
        OutputError: it cannot be written.
    """
    times = [event.time_ns for event in session.events if event.time_ns is not None]
    began, ended = (format_instant(min(times)), format_instant(max(times))) if times else (None, None)
    record: dict[str, Any] = {
        "run_id": session.run_id,
        "status": "COMPLETED",
        "lifecycle": [{"state": "MONITORING", "timestamp": began}, {"state": "COMPLETED", "timestamp": ended}],
        "timestamps": {"created_at": began, "started_at": began, "finalized_at": ended},
        "metadata": {"agent_id": session.agent.name, "framework": session.agent.framework},
        "outcome": verdict.status.value,
        "trust_score": verdict.trust_score,
    }
    return create_once(file, strict_json(record) + b"\n")


def _receipt(session: Session, digest: str) -> bytes:
    receipt = {
        "schema_version": _RECEIPT_SCHEMA,
        "run_id": session.run_id,
        "transport": "plugin",
        "close_reason": "finalized",
        "duplicates": None,
        "digest": digest,
    }
    return strict_json(receipt) + b"\n"


def _sealed_digest(receipt: Path) -> str | None:
    try:
        return msgspec.json.decode(receipt.read_bytes(), type=_Receipt).digest
    except (OSError, msgspec.MsgspecError) as error:
        raise UnreadableInputError(f"{receipt} is no receipt: {error}") from error


class _Receipt(msgspec.Struct):
    digest: str | None = None
