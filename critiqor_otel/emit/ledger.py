"""What a recorder has seen so far, whatever threads it comes from: records in order, calls, outputs, errors, tokens."""

import threading
from typing import Any

from analyzer.evaluation.evidence import ToolCall, ToolOutput
from analyzer.lenient import as_text, is_mapping
from critiqor_otel.emit.records import Record

__all__ = ["Ledger", "error_text", "is_told", "mark_told"]

_MARK = "__critiqor_told__"


class Ledger:
    """The lists grow only; read them under the lock, or when the run is over."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.lock = threading.RLock()
        self.records: list[Record] = []
        self.tool_calls: list[ToolCall] = []
        self.tool_outputs: list[ToolOutput] = []
        self.errors: list[str] = []
        self.token_usage: dict[str, Any] = {}
        self.retries = 0

    def add(self, record: Record) -> int:
        """Append a record and return its place."""
        with self.lock:
            self.records.append(record)
            return len(self.records) - 1

    def add_usage(self, usage: Any) -> None:
        """Add up what another model call reports; what is no number is the latest."""
        if is_mapping(usage):
            with self.lock:
                _add_up(self.token_usage, usage)


def _add_up(sums: dict[str, Any], usage: Any) -> None:
    for name, value in usage.items():
        key = as_text(name)
        before = sums.get(key)
        if is_mapping(value):
            inner = dict(before) if is_mapping(before) else {}
            _add_up(inner, value)
            sums[key] = inner
        elif _is_number(value) and _is_number(before):
            sums[key] = before + value
        elif value is not None or before is None:
            sums[key] = value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def error_text(error: BaseException) -> str:
    """Return what an exception says, or its name where it says nothing."""
    return as_text(error) or type(error).__name__


def mark_told(error: BaseException, ledger: Ledger) -> None:
    """Remember that a ledger holds this exception: on its way out it passes more than one block."""
    try:
        told = getattr(error, _MARK, ())
        setattr(error, _MARK, (*told, id(ledger)))
    except AttributeError:  # an exception with slots: it may be told twice
        return


def is_told(error: BaseException, ledger: Ledger | None = None) -> bool:
    """Return whether this ledger, or any, holds the exception or the one that it was raised from."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        told = getattr(current, _MARK, ())
        if told if ledger is None else id(ledger) in told:
            return True
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return False
