import gc
import sys

from analyzer.bulk import LettingGo, bulk_work


def make_garbage(count: int) -> None:
    with bulk_work():
        for _ in range(count):
            ring: list[object] = []
            ring.append(ring)


def test_rings_that_bulk_work_leaves_are_let_go_before_they_fill_memory() -> None:
    gc.collect()
    garbage = LettingGo()
    before = sys.getallocatedblocks()

    for _ in range(16):
        make_garbage(500_000)
        garbage.look()

    assert sys.getallocatedblocks() - before < 4_000_000
    gc.collect()


def test_the_collector_is_on_again_after_bulk_work() -> None:
    with bulk_work():
        during = gc.isenabled()

    assert (during, gc.isenabled()) == (False, True)
