"""Getting encoded spans to a receiver: split what is too large, send again what may be, count what is lost.

A request is too large by its bytes, so it is split by bytes. A single span that is too large is cut to what a receiver
takes, and says so on its texts: it must not cost its neighbours, nor be sent over and over.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from critiqor_otel.emit.otlp_wire import Encoded, request_of
from critiqor_otel.emit.reply import Reply, Transport, Verdict

__all__ = ["Delivery", "Outcome", "Patience", "Shrink"]

Shrink = Callable[[int, int], Encoded]
"""Encodes the span at a place of the batch again, its texts no longer than so many characters."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to go on."""

    timeout: float = 10.0
    """Seconds for one request."""
    retry_for: float = 60.0
    """Seconds for one batch, all its requests together."""
    first_delay: float = 1.0
    """Seconds before the first repetition; it doubles from then on."""
    longest_delay: float = 30.0
    max_request: int = 4_000_000
    """Bytes of a request, before compression; gRPC servers refuse more than 4 MiB unless told otherwise."""


@dataclass(slots=True)
class Outcome:
    """What became of a batch."""

    taken: int = 0
    rejected: int = 0
    """Spans that the receiver took the request without."""
    lost: int = 0
    """Spans given up."""


class Delivery:
    """Sends batches one after the other; what it learns of a receiver's limit it keeps."""

    def __init__(self, transport: Transport, patience: Patience) -> None:
        """Take the way and the patience."""
        self._transport = transport
        self._patience = patience
        self._limit = patience.max_request
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Wait for nothing any more: what is under way gets one try."""
        self._stopped.set()

    def renew(self) -> None:
        """Begin anew in a forked child."""
        self._stopped = threading.Event()

    def deliver(self, encoded: Sequence[Encoded], shrink: Shrink) -> Outcome:
        """Send a batch and return what became of it."""
        outcome = Outcome()
        deadline = time.monotonic() + self._patience.retry_for
        waiting = self._within_limit(list(enumerate(encoded)))
        while waiting:
            batch = waiting.pop(0)
            reply = self._send(batch, deadline)
            if reply.verdict is Verdict.TAKEN:
                outcome.taken += len(batch) - reply.rejected
                outcome.rejected += reply.rejected
                _tell_of_rejected(reply, len(batch))
            elif reply.verdict is Verdict.TOO_LARGE and len(batch) > 1:
                waiting[:0] = self._pieces(batch)
            elif reply.verdict is Verdict.TOO_LARGE and self._cut(batch, shrink):
                waiting.insert(0, batch)
            else:
                outcome.lost += len(batch)
                _logger.error("%d spans are lost: %s", len(batch), reply.message)
        return outcome

    def _send(self, batch: "_Batch", deadline: float) -> Reply:
        """Send one request, again and again where that is allowed and there is time."""
        body = request_of([one for _, one in batch])
        delay = self._patience.first_delay
        while True:
            reply = self._transport.send(body, self._patience.timeout)
            if reply.verdict is not Verdict.LATER:
                return reply
            # Spread out, since many senders were refused at the same moment.
            wait = reply.delay if reply.delay is not None else delay * random.uniform(0.75, 1.25)  # noqa: S311
            if time.monotonic() + wait > deadline or self._stopped.wait(wait):
                return reply
            delay = min(delay * 2, self._patience.longest_delay)

    def _within_limit(self, batch: "_Batch") -> list["_Batch"]:
        """Return the batch in pieces that are within the limit; a span beyond it is a piece of its own."""
        pieces: list[_Batch] = []
        room = 0
        for item in batch:
            size = item[1].size
            room -= size
            if room < 0 or not pieces:
                pieces.append([])
                room = self._limit - size
            pieces[-1].append(item)
        return pieces

    def _pieces(self, batch: "_Batch") -> list["_Batch"]:
        """Return what to try after a refusal: the largest span apart where it is most of the batch, else two halves."""
        sizes = [one.size for _, one in batch]
        total, largest = sum(sizes), max(sizes)
        self._limit = min(self._limit, max(total - 1, 1))
        if largest * 2 > total:
            place = sizes.index(largest)
            return [[*batch[:place], *batch[place + 1 :]], [batch[place]]]
        self._limit = min(self._limit, max(total // 2 + largest, 1))
        return self._within_limit(batch)

    def _cut(self, batch: "_Batch", shrink: Shrink) -> bool:
        """Put a span in the place of its longer self; return False when it is short already."""
        place, long = batch[0]
        for most in _CUTS:
            short = shrink(place, most)
            if short.size * 2 <= long.size:
                batch[0] = (place, short)
                _logger.warning("A span of %d bytes is too large for the receiver; its texts were cut", long.size)
                return True
        return False


def _tell_of_rejected(reply: Reply, count: int) -> None:
    if reply.rejected or reply.message:
        _logger.warning("The receiver rejected %d of %d spans: %s", reply.rejected, count, reply.message)


_Batch = list[tuple[int, Encoded]]
_CUTS = (30_000, 3_000, 300)  # characters of a text
