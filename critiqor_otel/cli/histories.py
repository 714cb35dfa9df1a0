"""The history that a verb reads: a store, the folder of runs it belongs to, or evaluations as JSON lines."""

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from analyzer.errors import HistoryError
from analyzer.evaluation.history.rebuild import Rebuilt, rebuild
from analyzer.evaluation.history.store import HISTORY_FILE, History
from analyzer.evaluation.lines import HistoryWarning
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.saving import load_evaluations
from critiqor_otel.cli.side import Side
from critiqor_otel.errors import UnreadableInputError

__all__ = ["is_store", "open_history", "read_records", "rebuilt", "store_of", "telling"]

_MAGIC = b"SQLite format 3\0"


def store_of(given: str) -> Path:
    """Return the store that a path names: itself, or the one in a folder of runs."""
    path = Path(given)
    return path / HISTORY_FILE if path.is_dir() else path


def is_store(path: Path) -> bool:
    """Return whether a file is an SQLite file."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


@contextmanager
def open_history(given: str, *, side: Side) -> Generator[History]:
    """Yield the history that a path names; a folder of diagnosed runs that has none gets one.

    Raises:
        UnreadableInputError: there is none, and no diagnosed run to make one of.
        HistoryError: it can't be read.
    """
    store = store_of(given)
    if not store.exists():
        _make(given, side)
    with telling(side), History.visit(store) as history:
        yield history


def read_records(given: str, *, side: Side) -> list[EvaluationRecord]:
    """Return the evaluations that a path names, the oldest first.

    Raises:
        UnreadableInputError: there are none.
        HistoryError: the history can't be read.
    """
    path = Path(given)
    if path.is_dir() or not path.exists() or is_store(path):
        with open_history(given, side=side) as history:
            return history.records()
    with telling(side):
        return load_evaluations(path)


def rebuilt(given: str, *, side: Side) -> Rebuilt:
    """Make the history of a folder of runs again, and tell what was found.

    Raises:
        UnreadableInputError: it is no folder.
        HistoryError: the store can't be written.
    """
    folder = Path(given)
    if not folder.is_dir():
        raise UnreadableInputError(f"{given} is no folder of runs: a history is made from the runs of its folder")
    found = rebuild(folder)
    side.tell(found.notes)
    if found.damaged is not None:
        side.say(f"the damaged history lies in {found.damaged}; {found.salvaged} evaluations were carried over")
    side.say(f"the history of {given} was made from {found.runs} diagnosed runs")
    return found


@contextmanager
def telling(side: Side) -> Generator[None]:
    """Tell on standard error of entries that could not be read."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HistoryWarning)
        yield
    for warning in caught:
        side.say(str(warning.message))


def _make(given: str, side: Side) -> None:
    folder = Path(given)
    if not folder.exists():
        raise UnreadableInputError(
            f"there is no folder {given}; `serve`, `run` and `sessions` make one,"
            f" `critiqor-otel diagnose {given}` its history"
        )
    if next(folder.glob("*/diagnosis.json"), None) is None:
        raise UnreadableInputError(
            f"{given} holds no diagnosed run; `critiqor-otel diagnose {given}` keeps what it finds"
        )
    try:
        rebuilt(given, side=side)
    except HistoryError as error:
        raise UnreadableInputError(f"{given} has no history, and none can be made: {error}") from error
