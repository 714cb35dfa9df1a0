"""Verdicts go to the back end while a receiver runs: each as its session is sealed, in a thread of its own.

A back end that is slow or away never holds up the receiver. What could not be sent is told; `annotate runs/` sends it.
"""

import queue
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from analyzer.diagnosis import diagnose
from analyzer.errors import SessionFileError
from analyzer.session.codec import read_session
from critiqor_otel.annotate.verdict_spans import verdict_spans
from critiqor_otel.span import Span
from critiqor_otel.spool.run_files import SESSION_FILE
from critiqor_otel.spool.sink import SealedRun
from critiqor_otel.spool.verdicts import Rules, whole_run

__all__ = ["Annotator"]

_WAITING = 10_000  # sealed runs whose verdict is not sent yet; beyond, they are told and left to `annotate`


class Annotator:
    """Sends the verdict on each run it is told of, while the block runs."""

    def __init__(
        self,
        runs: Path,
        send: Callable[[Sequence[Span]], bool],
        *,
        rules: Rules,
        tell: Callable[[str, dict[str, object]], None],
        last_seconds: float = 10.0,
    ) -> None:
        """Take the folder of runs, the way to the back end, who hears what was not sent, and the last patience."""
        self._runs = runs
        self._send = send
        self._rules = rules
        self._tell = tell
        self._last_seconds = last_seconds
        self._waiting: queue.Queue[SealedRun | None] = queue.Queue(_WAITING)  # None: there are no more
        self._thread = threading.Thread(target=self._work, name="annotator", daemon=True)
        self._is_ending = threading.Event()
        self.sent = 0
        """Verdicts that were taken."""

    def __enter__(self) -> Self:
        """Begin to work."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Send what waits, for so many seconds at most, and tell of the rest."""
        with suppress(queue.Full):
            self._waiting.put(None, timeout=self._last_seconds)
        self._thread.join(self._last_seconds)
        self._is_ending.set()
        left = self._left()
        if left:
            self._tell("not-annotated", {"runs": left, "message": "there was no time to send their verdicts"})

    def sealed(self, run: SealedRun) -> None:
        """Take a sealed run; nothing here waits."""
        try:
            self._waiting.put_nowait(run)
        except queue.Full:
            self._tell("not-annotated", {"run_id": run.run_id, "message": "too many verdicts wait to be sent"})

    def _left(self) -> int:
        """Take what still waits, and return how many runs it is."""
        left = 0
        with suppress(queue.Empty):
            while True:
                left += self._waiting.get_nowait() is not None
        return left

    def _work(self) -> None:
        while (run := self._waiting.get()) is not None and not self._is_ending.is_set():
            try:
                taken = self._annotate(run)
                why = "the endpoint did not take the verdict"
            except (OSError, SessionFileError) as error:
                taken, why = False, str(error)
            except Exception:  # noqa: BLE001  # a fault of ours must not end the annotating of other runs
                taken, why = False, traceback.format_exc()
            if taken:
                self.sent += 1
            else:
                self._tell("not-annotated", {"run_id": run.run_id, "message": why})

    def _annotate(self, run: SealedRun) -> bool:
        session = read_session((Path(run.folder) / SESSION_FILE).read_bytes())
        whole = whole_run(session, runs=self._runs)
        verdict = diagnose(whole, profile=self._rules.profile, options=self._rules.options)
        return self._send(verdict_spans(whole, verdict))
