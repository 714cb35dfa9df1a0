"""How to make millions of small objects without the cycle collector walking them again and again."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["bulk_work", "tidy_work"]

_OF_THE_START = 1_000  # CPython 3.12 begins with 375 objects set aside; who sets any aside sets thousands


@contextmanager
def bulk_work() -> Generator[None]:
    """Keep the cycle collector off while the block runs, if it was on.

    Worth a factor of two and more where many objects are made and few form cycles. What was made is then taken for
    old, so that the next collection of young objects does not walk it either. The collector does not count such
    objects: a process that does bulk work for days collects what each piece of it left (`tidy_work`).
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not _is_set_aside():
            gc.freeze()
            gc.unfreeze()
        gc.enable()


@contextmanager
def tidy_work() -> Generator[None]:
    """Keep the cycle collector off while the block runs, then collect the cycles that the block has left.

    What was there before is not walked: it costs what the block left, however much else is in memory. For processes
    that do bulk work for days; the block is to be a call, so that nothing it made is held by a name when it ends.
    """
    if _is_set_aside():
        with bulk_work():
            yield
        return
    was_on = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()
        if was_on:
            gc.enable()


def _is_set_aside() -> bool:
    """Tell whether somebody else has set objects aside, and wants them to stay so."""
    return gc.get_freeze_count() > _OF_THE_START
