"""What did frameworks, agents and models complain of? The errors that stand outside of tool calls, in order."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from analyzer.session.accessors import payload_of
from analyzer.session.model import Event, EventKind
from analyzer.timeline.outcome import message_text

__all__ = ["Complaint", "complaints_of"]

_SILENT = frozenset((EventKind.TOOL_CALL, EventKind.TOOL_OUTPUT, EventKind.MEMORY_EVENT))
_SAID = ("error_type", "message", "reason")


class Complaint(Struct, frozen=True):
    """One error that is no tool's."""

    position: int
    text: str
    """The error's type and message, shortened."""


def complaints_of(events: Iterable[Event]) -> tuple[Complaint, ...]:
    """Return the complaints of a run; linear in the events."""
    return tuple(_complaints(events))


def _complaints(events: Iterable[Event]) -> Iterator[Complaint]:
    for position, event in enumerate(events):
        if event.event in _SILENT:
            continue
        if event.event == EventKind.ERROR_EVENT:
            payload = payload_of(event)
            parts = [message_text(payload.get(name)) for name in _SAID] + [message_text(event.error)]
        elif event.error or event.status == "error":
            parts = [message_text(event.error)]
        else:
            continue
        text = ": ".join(dict.fromkeys(part for part in parts if part))
        yield Complaint(position, text)
