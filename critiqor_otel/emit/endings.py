"""What is still to be done when the process ends: run once, in order, at the interpreter's exit or at SIGTERM.

SIGTERM is taken only where nobody else has taken it, and in the main thread; afterwards the process dies of it, as its
parent expects. A child of `multiprocessing` ends without the interpreter's exit, and is asked in its own way. Nothing
can run at `os._exit` and SIGKILL.
"""

import atexit
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

__all__ = ["before_end", "in_forked_child"]

_PATIENCE = 5.0  # seconds for all of it at SIGTERM; a lock that the main thread holds is waited for no longer
_PRIORITY = 10  # of multiprocessing's finalizers: before it ends its own helpers
_logger = logging.getLogger(__name__)


class _Endings:
    """The callbacks, latest first: what came later stands on what came before."""

    def __init__(self) -> None:
        self._callbacks: dict[Callable[[], Any], Callable[[], None] | None] = {}
        self._is_watching = False

    def add(self, callback: Callable[[], Any], *, at_exit: bool) -> None:
        former = self._callbacks.pop(callback, None)
        if former is not None:
            atexit.unregister(former)
        self._callbacks[callback] = atexit.register(partial(self._run_one, callback)) if at_exit else None
        if not self._is_watching:
            self._is_watching = True
            _take_sigterm(self.run)
            _ask_multiprocessing(self.run)

    def run(self) -> None:
        """Run each callback that has not run."""
        while self._callbacks:
            self._run_one(next(reversed(self._callbacks)))

    def _run_one(self, callback: Callable[[], Any]) -> None:
        if callback not in self._callbacks:
            return
        del self._callbacks[callback]
        try:
            callback()
        except Exception:
            _logger.exception("What was to be done at the end of the process failed")


_ENDINGS = _Endings()


def before_end(callback: Callable[[], Any], *, at_exit: bool = True) -> None:
    """Have a callback run when the process ends, before those that were there earlier; again moves it to the front.

    `at_exit=False`: at SIGTERM only, for what a tracer provider does at the interpreter's exit.
    """
    _ENDINGS.add(callback, at_exit=at_exit)


def in_forked_child(callback: Callable[[], Any]) -> None:
    """Have a callback run first in each child that is forked; where there is no fork, nothing is to be done."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=callback)


def _take_sigterm(run: Callable[[], None]) -> None:
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return

    def end(number: int, _frame: object) -> None:
        # In a thread of its own: the main thread may hold a lock of the SDK just now.
        worker = threading.Thread(target=run, name="critiqor-ending", daemon=True)
        worker.start()
        worker.join(_PATIENCE)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)


def _ask_multiprocessing(run: Callable[[], None]) -> None:
    """Have what a forked worker still has to do done when it ends; only where multiprocessing is used at all."""
    if "multiprocessing.util" not in sys.modules:
        return
    util: Any = import_module("multiprocessing.util")

    def in_child(_: object) -> None:
        util.Finalize(None, run, exitpriority=_PRIORITY)

    util.register_after_fork(_ENDINGS, in_child)
