"""How to make millions of small objects without the cycle collector walking them again and again."""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["LettingGo", "bulk_work"]

_LEAST = 1_500_000  # blocks of memory, some 150 MB: below that, no garbage is worth looking for


@contextmanager
def bulk_work() -> Generator[None]:
    """Keep the cycle collector off while the block runs, if it was on.

    Worth a factor of two and more where many objects are made and few form cycles. What was made is then taken for
    old, so that the next collection of young objects does not walk it either. The collector does not count such
    objects: a process that does bulk work for days lets go of it now and then (`LettingGo`).
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


class LettingGo:
    """Collects the garbage of bulk work whenever memory has doubled since it last did."""

    def __init__(self) -> None:
        """Begin with nothing collected."""
        self._kept = 0

    def look(self) -> None:
        """Collect if there may be much; to look takes half a millisecond where a million objects are."""
        now = sys.getallocatedblocks()
        self._kept = min(self._kept, now)
        if now > max(_LEAST, 2 * self._kept):
            gc.collect()
            self._kept = sys.getallocatedblocks()
