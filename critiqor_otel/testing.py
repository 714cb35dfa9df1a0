"""What a test of an agent needs: a receiver on free ports, what it sealed, and a clock that is told the time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analyzer.session.codec import read_session
from analyzer.session.model import Session
from critiqor_otel.receiver.config import ReceiverConfig
from critiqor_otel.receiver.receiver import Receiver
from critiqor_otel.spool.sealed_runs import SESSION_FILE

__all__ = ["ToldClock", "embedded_receiver", "sealed_sessions"]

_SECOND = 1_000_000_000


class ToldClock:
    """A clock that stands still until it is told otherwise; nanoseconds since the epoch."""

    def __init__(self, now_ns: int = 1_760_000_000 * _SECOND) -> None:
        """Begin at a moment."""
        self.now_ns = now_ns

    def __call__(self) -> int:
        """Return the time."""
        return self.now_ns

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now_ns += int(seconds * _SECOND)


@contextmanager
def embedded_receiver(runs: Path) -> Iterator[Receiver]:
    """Yield a receiver on free ports of this machine; `http_endpoint` takes OTLP over HTTP and gRPC alike.

    Raises:
        OutputError: the folder cannot be made.
        ReceiverError: another receiver writes to it.
    """
    with Receiver(ReceiverConfig(runs=runs, grpc_port=0, http_port=0, one_port=True)) as receiver:
        yield receiver


def sealed_sessions(receiver: Receiver) -> list[Session]:
    """Seal what was acknowledged so far, and return all sessions in order of their folders.

    Raises:
        TimeoutError: it was not sealed within half a minute.
        SessionFileError: a session file cannot be read.
    """
    if not receiver.flush():
        raise TimeoutError("what was acknowledged is not sealed yet")
    return [read_session(file.read_bytes()) for file in sorted(receiver.config.runs.glob(f"*/{SESSION_FILE}"))]
