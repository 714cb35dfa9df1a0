"""Tasks in processes of this machine: each worker is asked for one task after another over a pipe of its own.

A worker that dies is replaced, and its task is given out again. When the asking process dies, however suddenly, the
pipes end, and so do the workers.
"""

import gc
import signal
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Self

from critiqor_otel.engine.store import Store
from critiqor_otel.engine.tasks import Task, perform, perform_here
from critiqor_otel.errors import LostWorkerError

__all__ = ["ProcessEngine"]

_LITTLE = 1 << 20  # bytes: what holds no more of the inputs than this is done sooner than it is sent
_ATTEMPTS = 3  # a task on which so many workers died is at fault itself


class _Worker:
    """A process and the task it has."""

    def __init__(self, store: Store) -> None:
        context = get_context("spawn")
        pipes: tuple[Any, Any] = context.Pipe()
        self.pipe, theirs = pipes
        self._process = context.Process(target=_work, args=(theirs, store), daemon=True)
        self._process.start()
        theirs.close()
        self.task: Task | None = None

    def give(self, task: Task) -> None:
        self.task = task
        with suppress(BrokenPipeError):  # it died meanwhile, which is seen where its answer is waited for
            self.pipe.send(task)

    def end(self) -> None:
        self.pipe.close()
        self._process.terminate()
        self._process.join()


class ProcessEngine:
    """Runs tasks in so many processes; with one, in this very process."""

    def __init__(self, jobs: int) -> None:
        """Take the number of processes; they are started when there are tasks for them, and stay."""
        self._jobs = jobs
        self._workers: dict[object, _Worker] = {}
        self._waiting: deque[Task] = deque()
        self._lost: Counter[str] = Counter()

    def __enter__(self) -> Self:
        """Begin without workers."""
        return self

    def __exit__(self, *reason: object) -> None:
        """End all workers."""
        self._end_all()

    def run(self, tasks: Sequence[Task], store: Store) -> Iterator[tuple[Task, Any]]:
        """Yield each task with its result, in the order in which they end.

        Raises:
            LostWorkerError: worker after worker died on one task.
            CritiqorError: a task failed; the error is the task's own.
        """
        alone = any(task.alone for task in tasks)
        little = sum(task.weight for task in tasks) < _LITTLE if alone else len(tasks) <= 1 and not self._workers
        if little or self._jobs == 1:
            yield from perform_here(tasks, store)
        elif alone:
            self._end_all()  # what they keep in memory, and what this one will, need not be there at once
            yield from self._run(tasks, store)
            self._end_all()
        else:
            yield from self._run(tasks, store)

    def _run(self, tasks: Sequence[Task], store: Store) -> Iterator[tuple[Task, Any]]:
        self._waiting = deque(tasks)
        for worker in self._workers.values():
            self._give_next(worker)
        while len(self._workers) < min(self._jobs, len(tasks)):
            self._start(store)
        for _ in tasks:
            yield self._next_result(store)

    def _next_result(self, store: Store) -> tuple[Task, Any]:
        while True:
            for ready in wait([worker.pipe for worker in self._workers.values() if worker.task is not None]):
                worker = self._workers[ready]
                task = worker.task
                try:
                    result, error = worker.pipe.recv()
                except (EOFError, OSError):
                    self._replace(worker, store)
                    continue
                if error is not None:
                    raise error
                self._give_next(worker)
                if task is not None:
                    return task, result

    def _end_all(self) -> None:
        for worker in self._workers.values():
            worker.end()
        self._workers.clear()

    def _start(self, store: Store) -> None:
        worker = _Worker(store)
        self._workers[worker.pipe] = worker
        self._give_next(worker)

    def _give_next(self, worker: _Worker) -> None:
        worker.task = None
        if self._waiting:
            worker.give(self._waiting.popleft())

    def _replace(self, worker: _Worker, store: Store) -> None:
        """Give the task of a worker that died to a new one."""
        del self._workers[worker.pipe]
        worker.end()
        if worker.task is None:
            return
        name = worker.task.name
        self._lost[name] += 1
        if self._lost[name] >= _ATTEMPTS:
            raise LostWorkerError(f"{_ATTEMPTS} workers died on {name}; the last may have run out of memory")
        self._waiting.appendleft(worker.task)
        self._start(store)


def _work(pipe: Connection, store: Store) -> None:
    """Run what is asked for until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the asking process says when it is over
    gc.disable()
    while True:
        try:
            task = pipe.recv()
        except (EOFError, ConnectionResetError):
            return
        answer: tuple[Any, Exception | None]
        try:
            answer = perform(task, store), None
        except Exception as error:  # noqa: BLE001  # raised again where the task was given out
            answer = None, error
        try:
            pipe.send(answer)
        except OSError:
            return
