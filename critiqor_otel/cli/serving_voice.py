"""What `serve` says while it runs: structured lines, a verdict a line, and on a terminal a table that lives."""

import json
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table

from analyzer.report.plain import one_line
from analyzer.session.instants import format_instant
from critiqor_otel.cli.side import spoken_facts
from critiqor_otel.receiver.receiver import Receiver
from critiqor_otel.spool.record import Signal
from critiqor_otel.spool.sink import SealedRun

__all__ = ["Voice", "live_table"]

_LEVELS = {"listening": "info", "stopping": "info", "stopped": "info", "sealed": "info"}


class Voice:
    """Says what happens, a line at a time and from any thread: facts on standard error, sealed runs on output."""

    def __init__(self, *, as_json: bool, quiet: bool, now_ns: Callable[[], int] = time.time_ns) -> None:
        """Speak in lines of JSON, or as people do; when quiet, of what is wrong alone."""
        self._as_json = as_json
        self._quiet = quiet
        self._now_ns = now_ns
        self._lock = threading.Lock()

    def tell(self, word: str, facts: dict[str, object]) -> None:
        """Say what happened."""
        level = _LEVELS.get(word, "warning")
        if self._quiet and level == "info":
            return
        if self._as_json:
            line = json.dumps(
                {"time": format_instant(self._now_ns()), "level": level, "event": word, **facts}, default=str
            )
        else:
            line = spoken_facts(word, facts)
        self._print(line, sys.stderr)

    def sealed(self, run: SealedRun) -> None:
        """Say that a run was sealed: its verdict where there is one, else where it lies."""
        if self._quiet:
            return
        line = run.verdict or f"{run.folder}  {run.spans} spans  {run.close_reason}"
        self._print(one_line(line), sys.stdout)

    def _print(self, line: str, where: TextIO) -> None:
        with self._lock:
            try:
                print(line, file=where, flush=True)
            except OSError:
                self._quiet = True  # nobody listens; receiving goes on


@contextmanager
def live_table(receiver: Receiver) -> Generator[None]:
    """Show the receiver's numbers on the terminal while the block runs."""
    console = Console(stderr=True)
    with Live(get_renderable=lambda: _table(receiver), console=console, refresh_per_second=2, transient=True):
        yield


def _table(receiver: Receiver) -> Table:
    counts, tally = receiver.counts, receiver.tally
    table = Table(title=f"gRPC {receiver.grpc_endpoint or 'off'}   HTTP {receiver.http_endpoint or 'off'}")
    for name in ("spans", "refused", "open sessions", "sealed", "duplicates", "behind"):
        table.add_column(name, justify="right")
    table.add_row(
        f"{counts.received[Signal.TRACES]:,}",
        f"{sum(counts.refusals.values()) + sum(counts.rejected.values()):,}",
        f"{tally.open_sessions:,}",
        f"{sum(tally.sealed.values()):,}",
        f"{tally.duplicates:,}",
        f"{tally.lag_bytes:,} bytes",
    )
    return table
