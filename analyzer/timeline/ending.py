"""When was an agent at work, and how did the run end? One that never ended is told apart from one that succeeded."""

from collections.abc import Callable, Hashable, Mapping
from enum import StrEnum
from typing import Any, ClassVar

from analyzer.session.accessors import EXIT_CODE, first_given, payload_of
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_number

__all__ = ["Ending", "RunStatus"]


class RunStatus(StrEnum):
    """How a run ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    UNFINISHED = "unfinished"
    UNKNOWN = "unknown"


# The states of a run record (critiqor.session.v1).
_RECORDED: Mapping[str, RunStatus] = {
    "COMPLETED": RunStatus.COMPLETED,
    "FAILED": RunStatus.FAILED,
    "ABORTED": RunStatus.FAILED,
    "MONITORING": RunStatus.UNFINISHED,
    "FINALIZING": RunStatus.UNFINISHED,
}


class Ending:
    """What the events say of the run's end, as they come."""

    def __init__(self) -> None:
        self._sub_agents: set[Hashable] = set()
        self._open_agents = 0
        self._began: int | None = None
        self.spells: list[tuple[int, int]] = []
        """From when to when an agent was at work, in nanoseconds, spell by spell."""
        self._agent_failed: bool | None = None
        self._process_failed: bool | None = None
        self._process_open = False
        self._session_ended = False

    def take(self, name: str, event: Event) -> None:
        """Take an event of that name, if it says something of the end."""
        taker = self._takers.get(name)
        if taker is not None:
            taker(self, event)

    @property
    def agent_at_work(self) -> bool:
        """Whether an agent has started and not ended yet."""
        return self._open_agents > 0

    def status(self, recorded: Json) -> RunStatus:
        """Return how the run ended; `recorded` is the status of a run record, if there is one.

        An exit code outweighs what the agent says of itself, and that outweighs the run record.
        """
        verdicts = (
            (self._process_failed is True or self._agent_failed is True, RunStatus.FAILED),
            (self._process_failed is False, RunStatus.COMPLETED),
            (self._open_agents > 0, RunStatus.UNFINISHED),
            (self._agent_failed is False or self._session_ended, RunStatus.COMPLETED),
        )
        for holds, status in verdicts:
            if holds:
                return status
        if isinstance(recorded, str) and recorded in _RECORDED:
            return _RECORDED[recorded]
        return RunStatus.UNFINISHED if self._process_open else RunStatus.UNKNOWN

    def _agent_start(self, event: Event) -> None:
        payload = payload_of(event)
        if payload.get("sub_agent") is True:
            self._sub_agents.add(event.span)
            return
        if not self.agent_at_work:
            self._began = event.time_ns
        self._open_agents += 1

    def _agent_end(self, event: Event) -> None:
        payload = payload_of(event)
        if payload.get("sub_agent") is True or (event.span is not None and event.span in self._sub_agents):
            return
        if payload.get("unfinished") is True:
            return
        self._open_agents = max(0, self._open_agents - 1)
        if not self.agent_at_work and self._began is not None and event.time_ns is not None:
            self.spells.append((self._began, event.time_ns))
        self._agent_failed = event.status == "error" or bool(event.error)

    def _session_end(self, _: Event) -> None:
        self._session_ended = True

    def _process_start(self, event: Event) -> None:
        if not _ran_in_call(event):
            self._process_open = True

    def _process_end(self, event: Event) -> None:
        if _ran_in_call(event):
            return
        code = first_given(event, EXIT_CODE)
        self._process_open = False
        # No exit code at the end of a process: it was stopped for its time (critiqor.session.v1).
        self._process_failed = not (is_number(code) and code == 0)

    _takers: ClassVar[Mapping[str, Callable[[Any, Event], None]]] = {
        "agent_start": _agent_start,
        "agent_end": _agent_end,
        "agent_finish": _agent_end,
        "session_end": _session_end,
        "process_start": _process_start,
        "process_end": _process_end,
    }


def _ran_in_call(event: Event) -> bool:
    """Return whether a tool ran the process: its output tells how that ended, and the run may go on."""
    return payload_of(event).get("in_call") is True
