"""Processes that run tasks: how many there are at once, and what they keep."""

import os
from pathlib import Path

from critiqor_otel.engine.store import Store
from critiqor_otel.engine.tasks import Task
from critiqor_otel.engine.workers import ProcessEngine

MUCH = 1 << 30


def own_number(*, store: Store) -> int:  # noqa: ARG001  # tasks take a store
    return os.getpid()


def those_alive(numbers: list[int], *, store: Store) -> list[int]:  # noqa: ARG001  # tasks take a store
    return [number for number in numbers if Path(f"/proc/{number}").exists()]


def many(name: str) -> list[Task]:
    return [Task(f"{name}-{number}", own_number, ()) for number in range(8)]


def test_what_holds_much_of_all_inputs_is_run_when_no_other_worker_holds_anything(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with ProcessEngine(2) as engine:
        before = {number for _, number in engine.run(many("before"), store)}
        alone = Task("alone", those_alive, (sorted(before),), weight=MUCH, alone=True)
        ((_, alive),) = engine.run([alone], store)
        after = {number for _, number in engine.run(many("after"), store)}

    assert before
    assert alive == []
    assert os.getpid() not in before | after
    assert before.isdisjoint(after)


def test_what_holds_little_is_done_at_once(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with ProcessEngine(2) as engine:
        before = {number for _, number in engine.run(many("before"), store)}
        ((_, here),) = engine.run([Task("alone", own_number, (), alone=True)], store)
        after = {number for _, number in engine.run(many("after"), store)}

    assert here == os.getpid()
    assert after <= before


def test_one_process_is_this_one(tmp_path: Path) -> None:
    with ProcessEngine(1) as engine:
        found = {number for _, number in engine.run(many("one"), Store(str(tmp_path)))}

    assert found == {os.getpid()}
