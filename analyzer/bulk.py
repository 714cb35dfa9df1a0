"""How to make millions of small objects without the cycle collector walking them again and again."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["bulk_work", "tidy_work"]


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
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
        gc.enable()


@contextmanager
def tidy_work() -> Generator[None]:
    """Keep the cycle collector off while the block runs, then collect the cycles that the block has left.

    What was there before is not walked: it costs what the block left, however much else is in memory. For processes
    that do bulk work for days; the block is to be a call, so that nothing it made is held by a name when it ends.
    """
    if gc.get_freeze_count():  # somebody else has set objects aside, and wants them to stay so
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
