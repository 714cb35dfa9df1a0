"""Where the owner of open sessions runs: what a receiver asks of it, and the thread that does it."""

import threading
import traceback
from collections.abc import Callable
from time import monotonic
from typing import Protocol

import msgspec

from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.owner import Owner, OwnerSettings, Teller
from critiqor_otel.spool.sink import SealedRun
from critiqor_otel.spool.spool_folder import SpoolFolder
from critiqor_otel.spool.tally import Tally

__all__ = ["OwnerRunner", "OwnerThread", "Task"]

_PAUSE = 0.05  # seconds between looks at the journal when nothing is to be done
_AFTER_A_FAULT = 1.0


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What an owner is given."""

    folder: SpoolFolder
    settings: OwnerSettings
    finished: int
    """The newest segment that was written before this start."""


class OwnerRunner(Protocol):
    """Runs an owner until it is stopped."""

    @property
    def tally(self) -> Tally:
        """What it has done so far."""
        ...

    @property
    def alive(self) -> bool:
        """Whether it is at work."""
        ...

    def flush(self, seconds: float) -> bool:
        """Seal all that is in the journal now; tell whether that was done in time."""
        ...

    def stop(self, seconds: float) -> None:
        """Seal what there is time for, and end; the journal must be closed."""
        ...


class OwnerThread:
    """Runs an owner beside the receiver."""

    def __init__(
        self, task: Task, *, now_ns: Callable[[], int], tell: Teller, sealed: Callable[[SealedRun], None]
    ) -> None:
        """Begin at once; what is found and sealed is told from the owner's thread."""
        self._task = task
        self._now_ns = now_ns
        self._tell = tell
        self._sealed = sealed
        self._wake = threading.Event()
        self._stopping = False
        self._until: float | None = None
        self._flushes: list[threading.Event] = []
        self._owner = self._made()
        self._thread = threading.Thread(target=self._run, name="owner", daemon=True)
        self._thread.start()

    @property
    def tally(self) -> Tally:
        """What the owner has done so far."""
        return self._owner.tally

    @property
    def alive(self) -> bool:
        """Whether the thread is at work."""
        return self._thread.is_alive() and not self.tally.stands_still

    def flush(self, seconds: float) -> bool:
        """Seal all that is in the journal now; tell whether that was done in time."""
        done = threading.Event()
        self._flushes.append(done)
        self._wake.set()
        return done.wait(seconds)

    def stop(self, seconds: float) -> None:
        """Seal what there is time for, and end; the journal must be closed."""
        self._until = monotonic() + seconds
        self._stopping = True
        self._wake.set()
        self._thread.join()

    def _made(self) -> Owner:
        return Owner(
            self._task.folder,
            self._task.settings,
            started_ns=self._now_ns(),
            finished=self._task.finished,
            tell=self._tell,
            sealed=self._sealed,
        )

    def _run(self) -> None:
        while not self._stopping:
            try:
                busy = self._step()
            except Exception:  # noqa: BLE001  # the boundary: a new owner begins with the journal, as after a crash
                self._begin_anew(traceback.format_exc())
                continue
            if not busy:
                self._wake.wait(_PAUSE)
                self._wake.clear()
        if not self.tally.stands_still:
            self._owner.flush(self._now_ns(), reason=CloseReason.SHUTDOWN, expired=self._expired)
            self._owner.close(journal_is_closed=True)

    def _step(self) -> bool:
        if self._flushes:
            asked, self._flushes = self._flushes, []
            self._owner.flush(self._now_ns(), reason=CloseReason.FLUSH)
            for done in asked:
                done.set()
        return self._owner.step(self._now_ns())

    def _begin_anew(self, trace: str) -> None:
        """Put another owner in the place of one that failed, as soon as that can be; each reason is told once."""
        tally = self._owner.tally
        tally.stands_still = True
        self._tell("owner-failed", {"message": trace})
        self._owner.close(journal_is_closed=False)
        while tally.stands_still and not self._stopping:
            self._wake.wait(_AFTER_A_FAULT)
            self._wake.clear()
            try:
                self._owner = self._made()
            except Exception:  # noqa: BLE001  # the boundary, as above
                again = traceback.format_exc()
                if again != trace:
                    self._tell("owner-failed", {"message": again})
                trace = again
                continue
            tally.stands_still = False
            self._owner.tally = tally

    def _expired(self) -> bool:
        return self._until is not None and monotonic() > self._until
