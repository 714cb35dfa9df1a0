"""Tasks in processes of this machine: each worker is asked for one task after another over a pipe of its own.

A worker that dies is replaced, and its task is given out again. When the asking process dies, however suddenly, the
pipes end, and so do the workers.
"""

import gc
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from critiqor_otel.engine.store import Store
from critiqor_otel.engine.tasks import Task, perform, perform_here
from critiqor_otel.errors import LostWorkerError

__all__ = ["ProcessEngine"]

_ATTEMPTS = 3  # a task on which so many workers died is at fault itself


class ProcessEngine:
    """Runs tasks in so many processes; with one, in this very process."""

    def __init__(self, jobs: int) -> None:
        """Take the number of processes."""
        self._jobs = jobs

    def run(self, tasks: Sequence[Task], store: Store) -> Iterator[tuple[Task, Any]]:
        """Yield each task with its result, in the order in which they end.

        Raises:
            LostWorkerError: worker after worker died on one task.
            CritiqorError: a task failed; the error is the task's own.
        """
        if self._jobs == 1 or len(tasks) <= 1:
            yield from perform_here(tasks, store)
            return
        pool = _Pool(min(self._jobs, len(tasks)), tasks, store)
        try:
            yield from pool.results()
        finally:
            pool.close()


class _Worker:
    """A process and the task it has."""

    def __init__(self, store: Store) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, store), daemon=True)
        self._process.start()
        theirs.close()
        self.task: Task | None = None

    def give(self, task: Task) -> None:
        self.task = task
        self.pipe.send(task)

    def end(self) -> None:
        self.pipe.close()
        self._process.terminate()
        self._process.join()


class _Pool:
    def __init__(self, jobs: int, tasks: Sequence[Task], store: Store) -> None:
        self._store = store
        self._waiting = deque(tasks)
        self._attempts: dict[str, int] = {}
        self._workers: dict[Connection, _Worker] = {}
        for _ in range(jobs):
            self._start()

    def results(self) -> Iterator[tuple[Task, Any]]:
        while self._workers:
            for pipe in wait(list(self._workers)):
                worker = self._workers[pipe]  # type: ignore[index]  # what was waited for are the pipes
                try:
                    task, (result, error) = worker.task, worker.pipe.recv()
                except (EOFError, ConnectionResetError):
                    self._replace(worker)
                    continue
                if error is not None:
                    raise error
                self._give_next(worker)
                if task is not None:
                    yield task, result

    def close(self) -> None:
        for worker in self._workers.values():
            worker.end()
        self._workers.clear()

    def _start(self) -> None:
        worker = _Worker(self._store)
        self._workers[worker.pipe] = worker
        self._give_next(worker)

    def _give_next(self, worker: _Worker) -> None:
        if self._waiting:
            worker.give(self._waiting.popleft())
        else:
            del self._workers[worker.pipe]
            worker.end()

    def _replace(self, worker: _Worker) -> None:
        """Give the task of a worker that died to a new one."""
        del self._workers[worker.pipe]
        worker.end()
        task = worker.task
        if task is None:
            return
        lost = self._attempts[task.name] = self._attempts.get(task.name, 0) + 1
        if lost >= _ATTEMPTS:
            raise LostWorkerError(f"{lost} workers died on {task.name}; the last may have run out of memory")
        self._waiting.appendleft(task)
        self._start()


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
