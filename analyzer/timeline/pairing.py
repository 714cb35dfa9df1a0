"""Which output answers which call: by call id, else by tool in order, first come first served.

Two hooks may report one call: `tool_call` and `tool_execution_start` under one id are one call, and so are the two
names of an output. An output without a call is kept apart.
"""

from collections.abc import Hashable, Sequence
from typing import TypeVar

from analyzer.session.accessors import call_id_of, name_of, tool_of
from analyzer.session.model import Event
from analyzer.timeline.queues import Queues

__all__ = ["Pair", "Pairing"]

_Key = TypeVar("_Key", bound=Hashable)


class Pair:
    """A call's starting events and its outputs, each hook's one."""

    __slots__ = ("output_position", "outputs", "position", "starts", "user_turn")

    def __init__(self, start: Event, position: int, user_turn: int) -> None:
        self.starts = [start]
        self.outputs: list[Event] = []
        self.position = position
        self.output_position = -1
        self.user_turn = user_turn

    def answer(self, output: Event, position: int) -> None:
        """Take one hook's report of the output."""
        if not self.outputs:
            self.output_position = position
        self.outputs.append(output)

    @property
    def start(self) -> Event:
        """The first report of the start."""
        return self.starts[0]

    @property
    def output(self) -> Event | None:
        """The first report of the output, None as long as there is none."""
        return self.outputs[0] if self.outputs else None


class Pairing:
    """Calls and outputs as they come, in order."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self.orphans: list[tuple[Event, int]] = []
        """Outputs of no call, with their positions."""
        self._latest: dict[str, Pair] = {}
        self._open_by_id: Queues[str, Pair] = Queues()
        self._open_by_tool: Queues[str | None, Pair] = Queues()

    def start(self, event: Event, position: int, user_turn: int) -> Pair:
        """Take a call's start; return its pair, an old one when another hook reported it before."""
        call_id = call_id_of(event)
        if call_id is None:
            pair = self._new(event, position, user_turn)
        else:
            known = self._latest.get(call_id)
            if known is not None and not known.outputs and _is_news(event, known.starts):
                known.starts.append(event)
                return known
            pair = self._latest[call_id] = self._new(event, position, user_turn)
            self._open_by_id.put(call_id, pair)
        self._open_by_tool.put(tool_of(event), pair)
        return pair

    def output(self, event: Event, position: int) -> Pair | None:
        """Take an output; return its call's pair, or None when it answers no call so far."""
        call_id = call_id_of(event)
        pair = self._by_id(event, call_id) if call_id is not None else _first_open(self._open_by_tool, tool_of(event))
        if pair is None:
            self.orphans.append((event, position))
            return None
        pair.answer(event, position)
        return pair

    def settle(self) -> None:
        """Give outputs that came before their call, by a clock that was off, to the call of their id."""
        left: list[tuple[Event, int]] = []
        for event, position in self.orphans:
            call_id = call_id_of(event)
            pair = _first_open(self._open_by_id, call_id) if call_id is not None else None
            if pair is None:
                left.append((event, position))
            else:
                pair.answer(event, position)
        self.orphans = left

    def _new(self, event: Event, position: int, user_turn: int) -> Pair:
        pair = Pair(event, position, user_turn)
        self.pairs.append(pair)
        return pair

    def _by_id(self, event: Event, call_id: str) -> Pair | None:
        found = _first_open(self._open_by_id, call_id)
        if found is not None:
            return found
        latest = self._latest.get(call_id)
        if latest is not None:
            return latest if _is_news(event, latest.outputs) else None
        # The call's own report may lack the id that its output has.
        pair = _first_open(self._open_by_tool, tool_of(event))
        return None if pair is not None and call_id_of(pair.start) is not None else pair


def _first_open(waiting: Queues[_Key, Pair], key: _Key) -> Pair | None:
    while (pair := waiting.peek(key)) is not None:
        if not pair.outputs:
            return pair
        waiting.take(key)
    return None


_HOOKS = 16  # no agent has more that report one call; without a bound, made-up names would cost their square


def _is_news(event: Event, reports: Sequence[Event]) -> bool:
    """Return whether another hook than those before reports: the same hook twice means another call."""
    return len(reports) < _HOOKS and name_of(event) not in {name_of(report) for report in reports}
