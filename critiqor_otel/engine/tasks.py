"""What an engine is asked to run: named calls, whose results are kept, so that none is run twice."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self

import msgspec

from critiqor_otel.engine.store import Store

__all__ = ["Engine", "Task", "done_name", "kept_result", "perform", "perform_here"]


class Task(msgspec.Struct, frozen=True):
    """A call of a function at the top of a module, which takes the store by keyword."""

    name: str
    """Its own in the whole job: `map-000007`."""
    call: Callable[..., Any]
    arguments: tuple[Any, ...]
    weight: int = 1
    """How much there is to do, in bytes."""
    alone: bool = False
    """It holds something of all inputs: where memory is counted, no other process holds anything meanwhile."""


class Engine(Protocol):
    """What runs tasks: here, in other processes, or on other machines. It holds them while its block runs."""

    def __enter__(self) -> Self:
        """Be ready to run tasks."""
        ...

    def __exit__(self, *reason: object) -> None:
        """Let go of all processes."""
        ...

    def run(self, tasks: Sequence[Task], store: Store) -> Iterator[tuple[Task, Any]]:
        """Yield each task with its result, in whatever order they end."""
        ...


def perform(task: Task, store: Store) -> Any:
    """Run a task, keep its result in the store, and return it."""
    result = task.call(*task.arguments, store=store)
    store.write(done_name(task.name), pickle.dumps(result))
    return result


def perform_here(tasks: Sequence[Task], store: Store) -> Iterator[tuple[Task, Any]]:
    """Run tasks in this process, one after another."""
    return ((task, perform(task, store)) for task in tasks)


def done_name(name: str) -> str:
    """Return the name under which the result of a task is kept."""
    return f"{name}.done"


def kept_result(name: str, store: Store) -> Any:
    """Return the result of a task that was done before; None when it was not, or is cut: a power failure does that."""
    data = store.read(done_name(name))
    try:
        return None if data is None else pickle.loads(data)  # noqa: S301  # written by `perform`, in a folder of our own
    except (pickle.UnpicklingError, EOFError):
        return None
