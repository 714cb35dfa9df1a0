"""The history made again from the diagnosis files of the runs; what else a damaged store still holds is saved."""

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from analyzer.errors import HistoryDamagedError
from analyzer.evaluation.history.store import HISTORY_FILE, Diagnosed, History
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.roster import AgentProfile
from analyzer.lenient import as_text, is_mapping
from analyzer.session.jsontext import read_json
from analyzer.session.model import Note
from analyzer.session.shapes import is_list, is_object

__all__ = ["Rebuilt", "read_diagnoses", "rebuild"]

_DIAGNOSIS, _SESSION = "diagnosis.json", "session.json"
_SIDE_FILES = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What a rebuild found."""

    runs: int
    """Diagnosed runs that were read."""
    salvaged: int = 0
    """Evaluations carried over from a damaged store."""
    damaged: Path | None = None
    """Where the damaged store lies now."""
    notes: tuple[Note, ...] = ()
    """What could not be read."""


class _Head(msgspec.Struct):
    created_at: Any = None


def rebuild(runs_dir: str | Path, path: str | Path | None = None) -> Rebuilt:
    """Read the runs of a folder into its history store again (`history.sqlite` in the folder unless a path is given).

    Evaluations and agents that were saved on their own stay. A damaged store is moved aside, and what can be read of
    it is carried over. Other processes may go on using the store meanwhile.

    Raises:
        HistoryError: the store can't be opened or written.
    """
    folder = Path(runs_dir)
    store = folder / HISTORY_FILE if path is None else Path(path)
    notes: list[Note] = []
    damaged = None if _is_whole(store) else _move_aside(store)
    with History(store) as history:
        salvaged = 0 if damaged is None else _salvage(damaged, history, notes)
        runs = history.save_diagnoses(read_diagnoses(folder, notes), afresh=True)
    return Rebuilt(runs=runs, salvaged=salvaged, damaged=damaged, notes=tuple(notes))


def read_diagnoses(runs_dir: Path, notes: list[Note]) -> Iterator[Diagnosed]:
    """Yield the diagnosed runs of a folder in the order of their folders' names; what can't be read becomes a note."""
    for file in sorted(runs_dir.glob(f"*/{_DIAGNOSIS}")):
        try:
            document: Any = read_json(file.read_bytes())[0]
        except (OSError, ValueError) as error:
            notes.append(Note(code="unreadable-diagnosis", message=f"left out: {error}", place=str(file)))
            continue
        runs = _runs_of(document)
        if not runs:
            notes.append(Note(code="unreadable-diagnosis", message="left out: it names no run", place=str(file)))
        timestamp = _started(file.with_name(_SESSION))
        for run in runs:
            yield Diagnosed(run, timestamp, str(file))


def _runs_of(document: Any) -> list[Any]:
    if not is_object(document):
        return []
    listed = document.get("runs")
    found: list[Any] = listed if is_list(listed) else [document]
    return [run for run in found if is_object(run) and "run_id" in run]


def _started(session: Path) -> str:
    try:
        moment = msgspec.json.decode(session.read_bytes(), type=_Head).created_at
    except (OSError, msgspec.MsgspecError, RecursionError):
        return ""
    return "" if moment is None else as_text(moment)


def _is_whole(store: Path) -> bool:
    if not store.exists():
        return True
    try:
        with History(store) as history:
            history.check()
    except HistoryDamagedError:
        return False
    return True


def _move_aside(store: Path) -> Path:
    number = 1
    while (aside := store.with_name(f"{store.name}.damaged-{number}")).exists():
        number += 1
    for side in _SIDE_FILES:
        file = store.with_name(store.name + side)
        if file.exists():
            os.replace(file, aside.with_name(aside.name + side))  # noqa: PTH105  # a name that ends in "-wal" is no suffix
    return aside


def _salvage(damaged: Path, history: History, notes: list[Note]) -> int:
    """Copy what was saved on its own, row by row until the damage, and say where that was."""
    records = [
        EvaluationRecord.from_dict(body)
        for body in _readable(damaged, "SELECT body FROM records WHERE source = 'evaluation' ORDER BY seq", notes)
    ]
    history.save_all(records)
    for body in _readable(damaged, "SELECT body FROM agents ORDER BY seq", notes):
        history.register(AgentProfile.from_dict(body))
    return len(records)


def _readable(damaged: Path, query: str, notes: list[Note]) -> Iterator[Any]:
    connection = sqlite3.connect(damaged)
    try:
        for (body,) in connection.execute(query):
            value: Any = read_json(as_text(body).encode())[0]
            if is_mapping(value):
                yield value
    except (sqlite3.Error, ValueError) as error:
        notes.append(Note(code="damaged-history", message=f"reading stopped: {error}", place=str(damaged)))
    finally:
        connection.close()
