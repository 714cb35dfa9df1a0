"""A tool as it was, and recorded: functions, coroutines and generators of both kinds keep their kind and signature."""

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

__all__ = ["Begin", "ToolRun", "Unrecorded", "wrap"]

_MOST_ITEMS = 1000  # of a generator's output; some never end


class ToolRun(Protocol):
    """One call of a tool that is being recorded."""

    def current(self) -> AbstractContextManager[None]:
        """Make the call's span the current one inside the block."""
        ...

    def done(self, output: Any) -> None:
        """Record what the tool gave back."""
        ...

    def failed(self, error: BaseException) -> None:
        """Record what the tool raised."""
        ...


class Unrecorded:
    """A call that nobody records."""

    def current(self) -> AbstractContextManager[None]:
        """Leave the current span as it is."""
        return nullcontext()

    def done(self, output: Any) -> None:
        """Do nothing."""

    def failed(self, error: BaseException) -> None:
        """Do nothing."""


Begin = Callable[[tuple[Any, ...], dict[str, Any]], ToolRun]


def wrap(func: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    """Return a function that records each of its calls; what it raises is raised on.

    A generator's call ends when it is exhausted, closed or fails; its output is the list of what it yielded.
    """
    for is_kind, wrapper in _WRAPPERS:
        if is_kind(func):
            return wrapper(func, begin)
    return _function(func, begin)


def _function(func: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        run = begin(args, kwargs)
        try:
            with run.current():
                output = func(*args, **kwargs)
        except BaseException as error:
            run.failed(error)
            raise
        if inspect.isawaitable(output):  # a plain function that hands on a coroutine
            return _awaited(output, run)
        run.done(output)
        return output

    return wrapped


async def _awaited(output: Any, run: ToolRun) -> Any:
    try:
        with run.current():
            found = await output
    except BaseException as error:
        run.failed(error)
        raise
    run.done(found)
    return found


def _coroutine(func: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    @functools.wraps(func)
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        return await _awaited(func(*args, **kwargs), begin(args, kwargs))

    return wrapped


class _Yielded:
    """What a generator yielded: the first thousand items, and how many there were."""

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._count = 0

    def add(self, item: Any) -> None:
        self._count += 1
        if len(self._items) < _MOST_ITEMS:
            self._items.append(item)

    def output(self) -> list[Any]:
        more = self._count - len(self._items)
        return [*self._items, f"… and {more} more items"] if more else self._items


def _generator(func: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        run, yielded = begin(args, kwargs), _Yielded()
        try:
            steps = func(*args, **kwargs)
            step: Callable[[], Any] = functools.partial(next, steps)
            while True:
                # The span is current while the tool works, not while its caller does.
                with run.current():
                    item = step()
                yielded.add(item)
                try:
                    step = functools.partial(steps.send, (yield item))
                except GeneratorExit:
                    steps.close()
                    run.done(yielded.output())
                    raise
                except BaseException as thrown:  # noqa: BLE001  # handed to the tool, which may raise it on
                    step = functools.partial(steps.throw, thrown)
        except StopIteration as stop:
            run.done(yielded.output())
            return stop.value
        except GeneratorExit:
            raise
        except BaseException as error:
            run.failed(error)
            raise

    return wrapped


def _async_generator(func: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    @functools.wraps(func)
    async def wrapped(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        run, yielded = begin(args, kwargs), _Yielded()
        try:
            steps = func(*args, **kwargs)
            step: Callable[[], Any] = functools.partial(anext, steps)
            while True:
                with run.current():
                    item = await step()
                yielded.add(item)
                try:
                    step = functools.partial(steps.asend, (yield item))
                except GeneratorExit:
                    await steps.aclose()
                    run.done(yielded.output())
                    raise
                except BaseException as thrown:  # noqa: BLE001  # handed to the tool, which may raise it on
                    step = functools.partial(steps.athrow, thrown)
        except StopAsyncIteration:
            run.done(yielded.output())
        except GeneratorExit:
            raise
        except BaseException as error:
            run.failed(error)
            raise

    return wrapped


_WRAPPERS: tuple[tuple[Callable[[Any], bool], Callable[[Callable[..., Any], Begin], Callable[..., Any]]], ...] = (
    (inspect.iscoroutinefunction, _coroutine),
    (inspect.isasyncgenfunction, _async_generator),
    (inspect.isgeneratorfunction, _generator),
)
