"""Tasks on a Dask cluster: the same functions, given to workers that need nothing but this package and the store.

The store must be a folder that all workers reach: one of this machine for workers of this machine, a shared file
system, or an address of fsspec (`s3://…`). A task whose worker is lost is run again by the scheduler.
"""

import logging
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, Self

from critiqor_otel.engine.store import Store
from critiqor_otel.engine.tasks import Task, perform

__all__ = ["DaskEngine"]

_RETRIES = 3
_dask: Any = import_module("distributed")  # which has no types of its own


class DaskEngine:
    """Runs tasks on the cluster of a scheduler, or on one that is started on this machine."""

    def __init__(self, scheduler: str | None, *, jobs: int = 1) -> None:
        """Take the scheduler's address, or how many workers to start."""
        self._scheduler = scheduler
        self._jobs = jobs
        self._cluster: Any = None
        self._client: Any = None

    def __enter__(self) -> Self:
        """Connect.

        Raises:
            OSError: no scheduler answers.
        """
        if self._scheduler is None:
            self._cluster = _dask.LocalCluster(
                n_workers=self._jobs,
                threads_per_worker=1,
                dashboard_address=None,
                memory_limit=0,  # one large run must not end a worker that the machine has room for
                silence_logs=logging.CRITICAL,  # workers complain while they are ended
            )
        self._client = _dask.Client(self._cluster or self._scheduler)
        return self

    def __exit__(self, *reason: object) -> None:
        """Let go of the cluster; one that was started here ends."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def run(self, tasks: Sequence[Task], store: Store) -> Iterator[tuple[Task, Any]]:
        """Yield each task with its result, in the order in which they end.

        Raises:
            CritiqorError: a task failed; the error is the task's own.
        """
        futures = {
            self._client.submit(
                perform, task, store, key=f"critiqor-{store.address}-{task.name}", retries=_RETRIES
            ): task
            for task in tasks
        }
        for future, result in _dask.as_completed(futures, with_results=True):
            yield futures[future], result
            future.release()
