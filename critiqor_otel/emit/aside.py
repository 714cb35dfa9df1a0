"""Events whose content may not stand on spans, kept for a session file that this same process writes.

Session files hold content where exported spans don't (design §6); both are fed by the same spans. The store is empty
unless somebody asked for it, and bounded: the oldest events give way and lose their content, not themselves.
"""

import threading
from collections import OrderedDict

from analyzer.session.model import Event

__all__ = ["ASIDE", "Aside"]

_MOST = 100_000  # events


class Aside:
    """Events by recorder and place, while somebody takes them."""

    def __init__(self, most: int = _MOST) -> None:
        """Begin with nobody asking."""
        self._most = most
        self._takers = 0
        self._events: OrderedDict[tuple[str, int], Event] = OrderedDict()
        self._lock = threading.Lock()

    def ask(self) -> None:
        """Ask that events be kept from now on."""
        with self._lock:
            self._takers += 1

    def release(self) -> None:
        """Ask no longer; with the last that asked, what was kept goes."""
        with self._lock:
            self._takers = max(self._takers - 1, 0)
            if not self._takers:
                self._events.clear()

    def put(self, stream: str, sequence: int, event: Event) -> None:
        """Keep an event, when anybody asked."""
        if not self._takers:
            return
        with self._lock:
            self._events[stream, sequence] = event
            while len(self._events) > self._most:
                self._events.popitem(last=False)

    def take(self, stream: str, sequence: int) -> Event | None:
        """Return the event, or None when it was not kept."""
        return self._events.get((stream, sequence))


ASIDE = Aside()
"""The process's own store: recorders put, the session exporter takes."""
