"""What every request goes through, whatever road it came by: check, journal, acknowledge.

All of it runs in one event loop, so its counts need no lock.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager

from critiqor_otel.errors import JournalError
from critiqor_otel.receiver.access import RateLimit, authenticate
from critiqor_otel.receiver.checking import Checked, check
from critiqor_otel.receiver.config import ReceiverConfig
from critiqor_otel.receiver.counts import Counts
from critiqor_otel.receiver.refusal import Fault, Refusal
from critiqor_otel.spool.journal import Journal
from critiqor_otel.spool.record import Encoding, Record, Signal, Transport

__all__ = ["Intake"]


class Intake:
    """Takes requests into the journal."""

    def __init__(self, config: ReceiverConfig, journal: Journal, *, now_ns: Callable[[], int]) -> None:
        """Take the journal to write to, and the clock to stamp records with."""
        self.counts = Counts()
        self.closing = False
        self._config = config
        self._limits = config.limits
        self._journal = journal
        self._now_ns = now_ns
        self._rate = RateLimit(config.limits.requests_per_second)
        self._held = 0

    def admit(self, authorization: bytes | None) -> None:
        """Let a request in, before its body is read.

        Raises:
            Refusal: it has no token, or comes while we shut down, or too soon.
        """
        self.authenticate(authorization)
        if self.closing:
            raise Refusal(Fault.SHUTTING_DOWN, "the receiver is shutting down: send it again")
        self._rate.take(self._now_ns())

    def authenticate(self, authorization: bytes | None) -> None:
        """Let pass who bears the token.

        Raises:
            Refusal: the token is missing or wrong.
        """
        authenticate(authorization, self._config.token)

    @contextmanager
    def room(self) -> Generator[Callable[[int], None]]:
        """Yield a function that reserves memory for so many more bytes of one request; freed when the block ends.

        The function raises Refusal when the request is larger than one may be, or memory is short.
        """
        mine = 0

        def reserve(size: int) -> None:
            nonlocal mine
            if mine + size > self._limits.request_bytes:
                raise self.too_large(mine + size)
            if self._held + size > self._limits.held_bytes:
                raise Refusal(Fault.OVERLOADED, f"{self._held} bytes of requests are in memory: send it again")
            mine += size
            self._held += size

        try:
            yield reserve
        finally:
            self._held -= mine

    def too_large(self, size: int) -> Refusal:
        """Return the refusal of a request of at least so many bytes."""
        limit = self._limits.request_bytes
        return Refusal(
            Fault.TOO_LARGE,
            f"the request has {size} bytes or more, and at most {limit} are taken: send smaller batches",
        )

    async def keep(self, signal: Signal, encoding: Encoding, transport: Transport, body: bytes) -> Checked:
        """Check the request and keep it; when this returns, what was not refused is on the disk.

        Raises:
            Refusal: nothing of it was kept.
        """
        started_ns = self._now_ns()
        checked = check(signal, encoding, body)
        if checked.records > checked.refused and signal is not Signal.METRICS:
            await self._write(
                Record(
                    signal=signal,
                    encoding=encoding,
                    transport=transport,
                    payload=body,
                    received_ns=started_ns,
                    refused=checked.refused,
                    run_id=self._config.run_id,
                )
            )
        counts = self.counts
        counts.requests[transport, signal] += 1
        counts.received[signal] += checked.records - checked.refused
        counts.rejected[signal] += checked.refused
        counts.received_bytes += len(body)
        counts.acknowledged_ns += self._now_ns() - started_ns
        return checked

    def count(self, transport: Transport, refusal: Refusal) -> None:
        """Count a request that was refused."""
        self.counts.refusals[transport, refusal.fault] += 1

    async def _write(self, record: Record) -> None:
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()

        def settle(error: JournalError | None) -> None:
            if written.done():  # the client went away
                return
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)

        def told(error: JournalError | None) -> None:
            loop.call_soon_threadsafe(settle, error)

        try:
            self._journal.append(record, told)
            await written
        except JournalError as error:
            fault = Fault.SHUTTING_DOWN if self.closing else Fault.NOT_KEPT
            raise Refusal(fault, f"{error}: send it again") from error
