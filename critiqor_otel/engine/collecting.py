"""Letting go of what a task has made: nodes of a tree point at each other, and only the cycle collector sees it."""

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager

__all__ = ["collecting"]

_EVERY = 4_000  # spans, some ten kilobytes each


@contextmanager
def collecting() -> Generator[Callable[[int], None]]:
    """Yield what is told how many spans are done with; cycles are collected now and then, and at the end.

    The collector is off meanwhile, and looks at nothing that was there before.
    """
    was_on = gc.isenabled()
    gc.disable()
    gc.freeze()
    since = 0

    def collect(spans: int) -> None:
        nonlocal since
        since += spans
        if since >= _EVERY:
            since = 0
            gc.collect()

    try:
        yield collect
    finally:
        gc.collect()  # what is left now would be taken for old by the next task, and stay
        gc.unfreeze()
        if was_on:
            gc.enable()
