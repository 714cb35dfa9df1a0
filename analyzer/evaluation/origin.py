"""Where the times and ids of new records come from: the one place in the evaluation that asks clock and chance."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

__all__ = ["SYSTEM", "Origin"]


def _now() -> str:
    return datetime.now(UTC).isoformat()  # noqa: TID251  # the rim: everybody else is handed an Origin


def _new_id() -> str:
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True)
class Origin:
    """What stamps a new record; tests and replays hand in their own."""

    now: Callable[[], str] = _now
    """The time as ISO 8601 text in UTC."""
    new_id: Callable[[], str] = _new_id
    """A run id never given before."""


SYSTEM = Origin()
"""The machine's clock and random UUIDs."""
