"""The owner in a process of its own, which leaves the receiver's to receiving: lines of JSON go to and fro.

When the receiver dies, the owner's input ends, and it ends too: what is open stands in the journal. When the owner
dies, the receiver starts another, which reads the journal from its beginning.
"""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Literal

import msgspec

from critiqor_otel.receiver.owning import OwnerThread, Task
from critiqor_otel.spool.owner import OwnerSettings, Teller
from critiqor_otel.spool.sink import SealedRun
from critiqor_otel.spool.spool_folder import SpoolFolder, SpoolLock
from critiqor_otel.spool.tally import Tally

__all__ = ["OwnerProcess", "main"]

_TALLY_PAUSE = 0.5  # seconds between two reports of numbers
_START_SECONDS = 60.0
_AFTER_DEATH = 1.0
_LAST_SECONDS = 15.0  # beyond the bound, for the session that is being sealed; what is not done is at the next start
_DESERTED = 1  # exit code: the receiver is gone, and sealing on would keep the next one's owner waiting


class _Order(msgspec.Struct):
    """What the receiver asks; `begin` comes first."""

    word: Literal["begin", "flush", "stop"]
    runs: str = ""
    settings: OwnerSettings | None = None
    finished: int = 0
    seconds: float = 0.0


class _Report(msgspec.Struct, omit_defaults=True):
    """What the owner says."""

    word: Literal["ready", "told", "sealed", "tally", "flushed"]
    name: str = ""
    facts: dict[str, object] | None = None
    run: SealedRun | None = None
    tally: Tally | None = None


class OwnerProcess:
    """Runs an owner in a process of its own, and another one when that ends."""

    def __init__(self, task: Task, *, tell: Teller, sealed: Callable[[SealedRun], None]) -> None:
        """Return when the owner is at work.

        Raises:
            TimeoutError: it is not, after a minute.
        """
        self._task = task
        self._tell = tell
        self._sealed = sealed
        self._tally = Tally()
        self._flushed = threading.Event()
        self._ready = threading.Event()
        self._stopping = threading.Event()
        self._starting = threading.Lock()  # what is stopped is not started again behind it
        self._child = self._started()
        self._listener = threading.Thread(target=self._listen, name="owner", daemon=True)
        self._listener.start()
        if not self._ready.wait(_START_SECONDS):
            self._end(0)
            raise TimeoutError("the process that makes sessions did not start")

    @property
    def tally(self) -> Tally:
        """What the owner reported last."""
        return self._tally

    @property
    def alive(self) -> bool:
        """Whether the process is at work."""
        return self._child.poll() is None and not self._tally.stands_still

    def flush(self, seconds: float) -> bool:
        """Seal all that is in the journal now; tell whether that was done in time."""
        self._flushed.clear()
        self._order(_Order("flush"))
        return self._flushed.wait(seconds)

    def stop(self, seconds: float) -> None:
        """Seal what there is time for, and end; the journal must be closed."""
        self._end(seconds + _LAST_SECONDS, _Order("stop", seconds=seconds))

    def _end(self, seconds: float, order: _Order | None = None) -> None:
        with self._starting:
            self._stopping.set()
        if order is not None:
            self._order(order)
        try:
            self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._listener.join()

    def _started(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "critiqor_otel.receiver.owner_process"]
        # A session of its own: Ctrl-C on the terminal is the receiver's to handle.
        child = subprocess.Popen(  # noqa: S603  # our own module
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self._child = child
        task = self._task
        runs = str(task.folder.runs.absolute())
        self._order(_Order("begin", runs=runs, settings=task.settings, finished=task.finished))
        return child

    def _order(self, order: _Order) -> None:
        assert self._child.stdin is not None  # noqa: S101  # it was asked for
        with contextlib.suppress(OSError, ValueError):  # it has ended; the listener sees to it
            self._child.stdin.write(msgspec.json.encode(order) + b"\n")
            self._child.stdin.flush()

    def _listen(self) -> None:
        while True:
            assert self._child.stdout is not None  # noqa: S101  # it was asked for
            for line in self._child.stdout:
                self._hear(msgspec.json.decode(line, type=_Report))
            _close_pipes(self._child)
            if self._stopping.is_set():
                return
            self._tell("owner-died", {"code": self._child.wait()})
            self._stopping.wait(_AFTER_DEATH)
            with self._starting:
                if self._stopping.is_set():
                    return
                self._child = self._started()

    def _hear(self, report: _Report) -> None:
        if report.tally is not None:
            self._tally = report.tally
        if report.run is not None:
            self._sealed(report.run)
        if report.word == "told":
            self._tell(report.name, report.facts or {})
        elif report.word == "flushed":
            self._flushed.set()
        elif report.word == "ready":
            self._ready.set()


def _close_pipes(child: "subprocess.Popen[bytes]") -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # what was still to be said, nobody hears
                pipe.close()


def main() -> None:
    """Own the sessions of the spool that the first line of input names, until told to stop or the input ends."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what a library prints is no report
        _own(sys.stdin.buffer, _Voice(out))


class _Voice:
    """Standard output, a line a report, from any thread."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._lock = threading.Lock()

    def say(self, report: _Report) -> None:
        with self._lock:
            try:
                self._out.write(msgspec.json.encode(report) + b"\n")
                self._out.flush()
            except OSError:
                os._exit(_DESERTED)


def _own(orders: IO[bytes], voice: _Voice) -> None:
    order = msgspec.json.decode(orders.readline(), type=_Order)
    if order.settings is None:
        raise ValueError("the first order begins the work")
    folder = SpoolFolder(Path(order.runs))
    lock = SpoolLock(folder, "owner", wait=True)  # an owner whose receiver was killed may still be ending
    owner = OwnerThread(
        Task(folder=folder, settings=order.settings, finished=order.finished),
        now_ns=time.time_ns,
        tell=lambda name, facts: voice.say(_Report("told", name=name, facts=facts)),
        sealed=lambda run: voice.say(_Report("sealed", run=run)),
    )
    voice.say(_Report("ready"))
    ended = threading.Event()
    reporter = threading.Thread(target=_report, args=(owner, voice, ended), daemon=True)
    reporter.start()
    seconds = _obey(orders, owner, voice)
    ended.set()
    reporter.join()
    if seconds is None:
        os._exit(_DESERTED)
    owner.stop(seconds)
    voice.say(_Report("tally", tally=owner.tally))
    lock.release()


def _obey(orders: IO[bytes], owner: OwnerThread, voice: _Voice) -> float | None:
    """Carry out orders; return the seconds that are left for stopping, or None when the receiver is gone."""
    for line in orders:
        order = msgspec.json.decode(line, type=_Order)
        if order.word == "stop":
            return order.seconds
        owner.flush(_START_SECONDS)
        voice.say(_Report("tally", tally=owner.tally))
        voice.say(_Report("flushed"))
    return None


def _report(owner: OwnerThread, voice: _Voice, ended: threading.Event) -> None:
    while not ended.wait(_TALLY_PAUSE):
        voice.say(_Report("tally", tally=owner.tally))


if __name__ == "__main__":
    main()
