"""Evaluations are kept where a path says: JSON lines, or a history store when it ends in .sqlite."""

import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from analyzer.evaluation.diagnosed import DEFAULT_AGENT
from analyzer.evaluation.history.store import History
from analyzer.evaluation.lines import HistoryWarning, append_lines, read_lines
from analyzer.evaluation.origin import SYSTEM, Origin
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.runs import as_record
from analyzer.lenient import is_mapping
from analyzer.session.model import Note

__all__ = ["DEFAULT_FILE", "load_evaluations", "save_evaluation"]

DEFAULT_FILE = "critiqor_evaluations.jsonl"
"""Where evaluations go unless told otherwise (specification §6)."""

_STORES = frozenset((".sqlite", ".sqlite3", ".db"))


def save_evaluation(
    evaluation: Any,
    path: str | Path = DEFAULT_FILE,
    agent_id: str | None = None,
    run_id: str | None = None,
    *,
    origin: Origin = SYSTEM,
) -> EvaluationRecord:
    """Keep an evaluation and return it as its record, which stays as it is when one is given.

    A result, a diagnosis, or the dict of any run gets the ids given here, else its own, else `default` and a new id,
    and the present time unless it has one.

    Raises:
        TypeError: it is nothing that can be evaluated.
        OSError: the file can't be written.
        HistoryError: the store can't be opened or written.
    """
    record = _stamped(evaluation, agent_id, run_id, origin)
    target = Path(path)
    if _is_store(target):
        with History.visit(target) as history:
            history.save(record)
    else:
        append_lines(target, (record,))
    return record


def load_evaluations(
    path: str | Path = DEFAULT_FILE, agent_id: str | None = None, limit: int | None = None
) -> list[EvaluationRecord]:
    """Return what was kept, of one agent or all, the last `limit` or all (None, 0); nothing when there is no file.

    JSON lines come in the order of the file, a store's evaluations by time. A line that can't be read costs that line:
    it is left out with a HistoryWarning.

    Raises:
        OSError: the file can't be read.
        HistoryError: the store can't be opened or read.
    """
    source = Path(path)
    if not source.exists():
        return []
    if _is_store(source):
        with History.visit(source) as history:
            return history.records(agent_id, limit)
    found = (record for record in _told(source) if agent_id is None or record.agent_id == agent_id)
    return list(deque(found, maxlen=limit if limit is not None and limit > 0 else None))


def _is_store(path: Path) -> bool:
    return path.suffix.lower() in _STORES


def _told(path: Path) -> Iterator[EvaluationRecord]:
    for found in read_lines(path):
        if isinstance(found, Note):
            warnings.warn(f"{found.place}: {found.message}", HistoryWarning, stacklevel=4)
        else:
            yield found


def _stamped(evaluation: Any, agent_id: str | None, run_id: str | None, origin: Origin) -> EvaluationRecord:
    if isinstance(evaluation, EvaluationRecord):
        return evaluation
    if not is_mapping(evaluation) and not callable(getattr(evaluation, "to_dict", None)):
        raise TypeError(f"an evaluation is a record, a result or a dict; found {type(evaluation).__name__}")
    run = (
        {key: value for key, value in evaluation.items() if value is not None} if is_mapping(evaluation) else evaluation
    )
    record = as_record(run)
    return replace(
        record,
        run_id=run_id or record.run_id or origin.new_id(),
        agent_id=agent_id or record.agent_id or DEFAULT_AGENT,
        timestamp=record.timestamp or origin.now(),
    )
