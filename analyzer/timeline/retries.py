"""Which call a retry belongs to: the one it names, else the one it stands next to, else none."""

from collections.abc import Sequence
from typing import NamedTuple

from analyzer.session.accessors import ABSENT, ARGUMENTS, call_id_of, first_given, payload_of, tool_of
from analyzer.session.model import Event
from analyzer.timeline.call import Call, Fingerprint, implied_fingerprint

__all__ = ["Retries", "TiedRetry"]


class TiedRetry(NamedTuple):
    """A retry event, and the index of the call it belongs to, or None."""

    event: Event
    call: int | None


class _Seen:
    """A retry event between its neighbours."""

    __slots__ = ("after", "before", "calls_before", "event")

    def __init__(self, event: Event, calls_before: int, before: int | None) -> None:
        self.event = event
        self.calls_before = calls_before
        self.before = before
        self.after: int | None = None


class Retries:
    """Retry events as they come, with the calls they stand next to: no model call in between."""

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._waiting: list[_Seen] = []
        self._near: int | None = None
        self._calls = 0

    def call(self, index: int) -> None:
        """Take note that the call of an index started."""
        self._calls = index + 1
        self._near = index
        for seen in self._waiting:
            seen.after = index
        self._waiting.clear()

    def retry(self, event: Event) -> None:
        """Take a retry event."""
        seen = _Seen(event, self._calls, self._near)
        self._seen.append(seen)
        self._waiting.append(seen)

    def model_call(self) -> None:
        """Take note that the model was asked: what follows stands next to no earlier call."""
        self._near = None
        self._waiting.clear()

    def tied(self, calls: Sequence[Call]) -> tuple[TiedRetry, ...]:
        """Return the retries in order, each tied to its call."""
        index = _Index(calls)
        return tuple(TiedRetry(seen.event, index.call_of(seen)) for seen in self._seen)


class _Index:
    """The last call of each id, tool and fingerprint, moved on from retry to retry."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._calls = calls
        self._known = 0
        self._by_id: dict[str, int] = {}
        self._by_tool: dict[str, int] = {}
        self._by_fingerprint: dict[Fingerprint, int] = {}

    def call_of(self, seen: _Seen) -> int | None:
        self._move_on(seen.calls_before)
        event = seen.event
        call_id = call_id_of(event)
        if call_id is not None and call_id in self._by_id:
            return self._by_id[call_id]
        tool = tool_of(event)
        if tool is None:
            return None if "model" in payload_of(event) else _neighbour(seen)
        arguments = first_given(event, ARGUMENTS)
        wanted = None if arguments is ABSENT else implied_fingerprint(tool, event, arguments)
        if wanted is not None:
            return self._by_fingerprint.get(wanted, self._next(seen, tool))
        return self._by_tool.get(tool, self._next(seen, tool))

    def _next(self, seen: _Seen, tool: str) -> int | None:
        return seen.after if seen.after is not None and self._calls[seen.after].tool == tool else None

    def _move_on(self, count: int) -> None:
        for position in range(self._known, count):
            call = self._calls[position]
            if call.call_id is not None:
                self._by_id[call.call_id] = position
            if call.tool is not None:
                self._by_tool[call.tool] = position
            if call.fingerprint is not None:
                self._by_fingerprint[call.fingerprint] = position
        self._known = max(self._known, count)


def _neighbour(seen: _Seen) -> int | None:
    return seen.after if seen.before is None else seen.before
