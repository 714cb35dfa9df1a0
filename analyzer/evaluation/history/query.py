"""Which of the diagnosed runs are asked for, and in which order."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from analyzer.evaluation.history.rows import bounded_text

__all__ = ["RunOrder", "RunQuery"]

RunOrder = Literal[
    "at",
    "run_id",
    "agent_id",
    "status",
    "trust_score",
    "readiness",
    "primary_failure",
    "exit_code",
    "latency",
    "tokens",
]
"""What a list of runs can be sorted by; `at` is when the run started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuery:
    """What a list of runs is to hold: all that is given must fit."""

    agent_id: str | None = None
    status: str | None = None
    readiness: str | None = None
    primary_failure: str | None = None
    order: RunOrder = "at"
    descending: bool = False
    """Runs that lack what they are sorted by come last either way."""
    limit: int | None = None

    def where(self) -> tuple[str, list[str]]:
        """Return the condition and its values."""
        given: Iterable[tuple[str, str | None]] = (
            ("agent_id", self.agent_id),
            ("status", self.status),
            ("readiness", self.readiness),
            ("primary_failure", self.primary_failure),
        )
        asked = [(name, bounded_text(value)) for name, value in given if value is not None]
        condition = " AND ".join(f"{name} = ?" for name, _ in asked)
        return f"WHERE {condition}" if condition else "", [value for _, value in asked]

    def statement(self) -> tuple[str, list[Any]]:
        """Return the SELECT for the bodies of the runs, and its values."""
        condition, values = self.where()
        order = self.order if self.order in get_args(RunOrder) else "at"
        direction = "DESC" if self.descending else "ASC"
        limit = self.limit if self.limit is not None and self.limit > 0 else -1
        select = f"SELECT body FROM runs {condition} ORDER BY {order} {direction} NULLS LAST"  # noqa: S608  # our own names
        return f"{select}, run_id LIMIT ?", [*values, limit]
