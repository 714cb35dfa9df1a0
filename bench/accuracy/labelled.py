"""What is a labelled run, whatever data set it comes from?"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from analyzer.session.model import Event, Session

__all__ = ["FAILED", "Labelled", "Step", "event_of", "session_of"]

FAILED = {"status": "FAILED"}
"""What the log's owner knows of every run of these sets: that it did not do what it was asked for."""


class Step(NamedTuple):
    """One entry of the log."""

    speaker: str
    code: bool
    """It holds a block of code, or asks for a tool."""


class Labelled(NamedTuple):
    """A run, and the step at which people say that it was lost."""

    name: str
    group: str
    session: Session
    steps: Sequence[Step]
    first: int
    """The number of the first step: 0 or 1, as the data set counts."""
    step: int
    """The labelled root step, as the data set counts."""
    agent: str


def event_of(number: int, place: int, **fields: Any) -> Event:
    """Return an event of a step; its number travels in the payload."""
    payload = {"step": number, **fields.pop("payload", {})}
    return Event(event_id=f"step_{number}_{place}", payload=payload, **fields)


def session_of(name: str, events: Sequence[Event]) -> Session:
    """Return the run; such logs carry no times, so the order is theirs."""
    return Session(run_id=name, events=tuple(events), extra=dict(FAILED))
