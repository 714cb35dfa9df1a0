import gc
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from analyzer.bulk import bulk_work, tidy_work

Work = AbstractContextManager[None]


class Ring:
    """Held by nothing but itself."""

    def __init__(self) -> None:
        self.itself = self


def make_garbage() -> "weakref.ref[Ring]":
    return weakref.ref(Ring())


def test_rings_that_work_leaves_are_gone_when_it_ends() -> None:
    with tidy_work():
        left = make_garbage()
        during = left() is None

    assert (during, left() is None) == (False, True)


def test_what_was_there_before_the_work_is_not_walked() -> None:
    with bulk_work():
        before = make_garbage()

        with tidy_work():
            during = make_garbage()

        assert (before() is None, during() is None) == (False, True)


def test_what_somebody_has_set_aside_stays_aside() -> None:
    gc.freeze()
    try:
        with tidy_work():
            pass

        assert gc.get_freeze_count() > 0
        assert gc.isenabled()
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("work", [bulk_work, tidy_work])
def test_the_collector_is_off_during_the_work_and_on_again_after_it(work: Callable[[], Work]) -> None:
    with work():
        during = gc.isenabled()

    assert (during, gc.isenabled()) == (False, True)


@pytest.mark.parametrize("work", [bulk_work, tidy_work])
def test_the_collector_stays_off_where_it_was_off(work: Callable[[], Work]) -> None:
    with bulk_work():
        with work():
            pass
        after = gc.isenabled()

    assert not after
