"""All traces of a stretch of time, from a search that returns only so many at once."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from critiqor_otel.backends.address import Window

__all__ = ["MOST", "searched"]

MOST = 100
"""Traces asked for at once: few enough for a search to be quick and an answer to be held in memory."""

_LARGEST = 100_000  # asked for where a stretch cannot be halved any more

_Found = TypeVar("_Found")


def searched(
    window: Window, search: Callable[[Window, int], list[_Found]], *, finest_ns: int
) -> Iterator[tuple[list[_Found], bool]]:
    """Yield what is found in the window, the earliest stretches first, and whether that is all there was.

    `search` is told a stretch and how many to return. A search that returns as many as were asked for may have left
    some out: its stretch is halved, until the parts are no longer than `finest_ns`.
    """
    waiting = [window]
    while waiting:
        part = waiting.pop()
        found = search(part, MOST)
        if len(found) < MOST:
            yield found, True
        elif part.end_ns - part.start_ns > finest_ns:
            middle = (part.start_ns + part.end_ns) // 2
            waiting += (Window(middle, part.end_ns), Window(part.start_ns, middle))
        else:
            found = search(part, _LARGEST)
            yield found, len(found) < _LARGEST
