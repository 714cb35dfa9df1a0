"""How to make millions of small objects without the cycle collector walking them again and again."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["bulk_work"]


@contextmanager
def bulk_work() -> Generator[None]:
    """Keep the cycle collector off while the block runs, if it was on.

    Worth a factor of two and more where many objects are made and none forms a cycle.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
