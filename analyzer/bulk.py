"""How to make millions of small objects without the cycle collector walking them again and again."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["bulk_work"]


@contextmanager
def bulk_work() -> Generator[None]:
    """Keep the cycle collector off while the block runs, if it was on.

    Worth a factor of two and more where many objects are made and none forms a cycle. What was made is then taken for
    old, so that the next collection of young objects does not walk it either.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
        gc.enable()
