"""A whole receiver as a context manager: `with Receiver(config) as receiver:` listens, journals and seals."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from types import TracebackType
from typing import Self

import msgspec

from analyzer.profile import Profile
from critiqor_otel.receiver.browsing import PREFIX, Browsable
from critiqor_otel.receiver.config import ReceiverConfig, validated
from critiqor_otel.receiver.counts import Counts
from critiqor_otel.receiver.http_app import Page
from critiqor_otel.receiver.intake import Intake
from critiqor_otel.receiver.metrics_page import metrics_text
from critiqor_otel.receiver.owner_process import OwnerProcess
from critiqor_otel.receiver.owning import OwnerRunner, OwnerThread, Task
from critiqor_otel.receiver.serving import Serving
from critiqor_otel.spool.journal import Journal
from critiqor_otel.spool.left_behind import seal_beside, seal_journal
from critiqor_otel.spool.owner import Teller
from critiqor_otel.spool.segments import segments
from critiqor_otel.spool.sink import SealedRun
from critiqor_otel.spool.spool_folder import SpoolFolder, SpoolLock
from critiqor_otel.spool.tally import Tally
from critiqor_otel.spool.verdicts import Rules

__all__ = ["Receiver"]

_METRICS_TYPE = b"text/plain; version=0.0.4; charset=utf-8"


class Receiver:
    """Receives OTLP while the block runs; what was acknowledged is sealed at its end, or stands in the journal."""

    def __init__(
        self,
        config: ReceiverConfig | None = None,
        *,
        now_ns: Callable[[], int] = time.time_ns,
        tell: Teller = lambda _word, _facts: None,
        sealed: Callable[[SealedRun], None] = lambda _run: None,
    ) -> None:
        """Take the configuration; `tell` hears what is odd, `sealed` of each sealed run, both from other threads.

        Raises:
            ReceiverError: the configuration cannot be served.
        """
        self.config = validated(config if config is not None else ReceiverConfig())
        self._now_ns = now_ns
        self._tell = tell
        self._sealed = sealed
        self._stack = ExitStack()
        self._intake: Intake | None = None
        self._owner: OwnerRunner | None = None
        self._journal: Journal | None = None
        self._serving: Serving | None = None

    def __enter__(self) -> Self:
        """Listen.

        Raises:
            ReceiverError: an address is taken, or the folder is another receiver's.
            OutputError: the folder cannot be made.
        """
        with ExitStack() as stack:
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish requests in flight, seal what is open, and let go of the ports."""
        self._stack.close()

    @property
    def grpc_endpoint(self) -> str | None:
        """What OTEL_EXPORTER_OTLP_ENDPOINT is to hold for gRPC; None when it is not served."""
        return self._endpoint(None if self._serving is None else self._serving.grpc_port)

    @property
    def http_endpoint(self) -> str | None:
        """What OTEL_EXPORTER_OTLP_ENDPOINT is to hold for HTTP; None when it is not served."""
        return self._endpoint(None if self._serving is None else self._serving.http_port)

    @property
    def ui_address(self) -> str | None:
        """Where a browser finds the runs; None when they are not shown."""
        endpoint = self.http_endpoint
        return f"{endpoint}{PREFIX}/" if self.config.ui and endpoint is not None else None

    @property
    def counts(self) -> Counts:
        """What was answered so far."""
        return Counts() if self._intake is None else self._intake.counts

    @property
    def tally(self) -> Tally:
        """What became of it so far."""
        return Tally() if self._owner is None else self._owner.tally

    @property
    def ready(self) -> bool:
        """Whether requests are taken and sessions are made."""
        intake, owner = self._intake, self._owner
        return intake is not None and not intake.closing and owner is not None and owner.alive

    def refuse(self) -> None:
        """Take no more requests; clients are told to send them again later, to whoever listens then."""
        if self._intake is not None:
            self._intake.closing = True

    def flush(self, seconds: float = 30.0) -> bool:
        """Seal everything that was acknowledged so far; tell whether that was done in time."""
        return self._owner is not None and self._owner.flush(seconds)

    def _start(self, stack: ExitStack) -> None:
        config = self.config
        folder = SpoolFolder(config.runs)
        folder.make()
        lock = SpoolLock(folder, "receiver")
        stack.callback(lock.release)
        self._take_over(folder)
        if config.owner == "thread":  # the owner's process takes it itself; that of a receiver that was killed may live
            stack.callback(SpoolLock(folder, "owner", wait=True).release)
        task = Task(folder=folder, settings=config.sessions, finished=max(segments(folder.journal), default=0))
        owner = self._owner = self._started_owner(task)
        stack.callback(lambda: owner.stop(config.shutdown_seconds))
        journal = self._journal = Journal(folder.journal, limits=config.journal)
        stack.callback(journal.close)
        intake = self._intake = Intake(config, journal, now_ns=self._now_ns)
        ui = self._ui(stack)
        serving = self._serving = Serving(config, intake, self._pages(), fault=self._fault, ui=ui)
        stack.callback(lambda: serving.stop(config.shutdown_seconds))

    def _take_over(self, folder: SpoolFolder) -> None:
        """Seal what killed processes left; a journal that was written for no run in particular is read on instead."""
        sessions = self.config.sessions
        seal_beside(folder, sessions, now_ns=self._now_ns, tell=self._tell)
        if self.config.run_id is not None:
            owner = SpoolLock(folder, "owner", wait=True)
            try:
                seal_journal(folder, sessions, now_ns=self._now_ns, tell=self._tell)
            finally:
                owner.release()

    def _ui(self, stack: ExitStack) -> Browsable | None:
        config = self.config
        if not config.ui:
            return None
        rules = Rules(config.sessions.judged_by or Profile.STANDARD, config.sessions.options)
        known = config.tls is not None and config.tls.client_authority is not None
        pages = import_module("critiqor_otel.receiver.ui")  # with its templates, where it is asked for
        ui = pages.Ui(config.runs, rules=rules, guarded=known or config.token is not None)
        stack.callback(ui.close)
        found: Browsable = ui
        return found

    def _started_owner(self, task: Task) -> OwnerRunner:
        if self.config.owner == "process":
            return OwnerProcess(task, tell=self._tell, sealed=self._sealed)
        return OwnerThread(task, now_ns=self._now_ns, tell=self._tell, sealed=self._sealed)

    def _fault(self, trace: str) -> None:
        self._tell("request-failed", {"message": trace})

    def _pages(self) -> dict[str, Callable[[], Page]]:
        return {"/healthz": lambda: Page(200, "ok\n"), "/readyz": self._readiness, "/metrics": self._metrics}

    def _readiness(self) -> Page:
        return Page(200, "ready\n") if self.ready else Page(503, "not ready\n")

    def _metrics(self) -> Page:
        journal_bytes = 0 if self._journal is None else self._journal.total_bytes
        text = metrics_text(self.counts, self.tally, journal_bytes)
        return msgspec.structs.replace(Page(200, text, _METRICS_TYPE), guarded=True)

    def _endpoint(self, port: int | None) -> str | None:
        if port is None:
            return None
        host = self.config.host
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104  # where to reach it
        return f"{'https' if self.config.tls is not None else 'http'}://{shown}:{port}"
