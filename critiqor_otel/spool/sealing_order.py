"""Which closed sessions are written together, and which of them wait.

One that could not be written is tried again. What came for its traces meanwhile has a session of its own, which is not
written before it: only then is known what of it is new.
"""

from collections.abc import Iterable, Iterator

from critiqor_otel.spool.open_sessions import Closed

__all__ = ["Unwritten", "in_groups"]

_GROUP = 1 << 23  # bytes of requests whose sessions are sealed together: their spans are in memory
_TRY_AGAIN_NS = 2_000_000_000  # until the next try


class Unwritten:
    """The sessions that wait, in the order in which they closed, until they are written."""

    def __init__(self) -> None:
        """Begin with none."""
        self._waiting: dict[int, tuple[int, Closed]] = {}  # when each is due, by its id()
        self._by_trace: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, trace_id: str) -> bool:
        return trace_id in self._by_trace

    def holds_back(self, closed: Closed) -> bool:
        """Tell whether an earlier one waits that has a trace of this one."""
        first = [self._by_trace[trace_id][0] for trace_id in closed.session.traces if trace_id in self._by_trace]
        return any(one != id(closed) for one in first)

    def put(self, closed: Closed, now_ns: int) -> None:
        """Let it wait for its next try, without what is decoded of it."""
        closed.session.forget()
        if id(closed) not in self._waiting:
            for trace_id in closed.session.traces:
                self._by_trace.setdefault(trace_id, []).append(id(closed))
        self._waiting[id(closed)] = now_ns + _TRY_AGAIN_NS, closed

    def done(self, closed: Closed) -> None:
        """Take note that it is written, whether it waited or not."""
        if self._waiting.pop(id(closed), None) is None:
            return
        for trace_id in closed.session.traces:
            waiting = self._by_trace[trace_id]
            waiting.remove(id(closed))
            if not waiting:
                del self._by_trace[trace_id]

    def hurry(self) -> None:
        """Let all be due at once."""
        self._waiting = {key: (0, closed) for key, (_, closed) in self._waiting.items()}

    def due(self, now_ns: int) -> list[Closed]:
        """Return those that are to be tried again."""
        return [closed for at, closed in self._waiting.values() if at <= now_ns]


def in_groups(closed: Iterable[Closed]) -> Iterator[list[Closed]]:
    """Yield the sessions in their order, as many together as may be in memory at once."""
    group: list[Closed] = []
    size = 0
    for one in closed:
        group.append(one)
        size += sum([piece.size for piece in one.session.pieces])
        if size >= _GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group
