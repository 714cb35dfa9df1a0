"""What a test of an agent needs: a receiver on free ports, what it sealed, a clock that is told, a sink in memory.

Without a receiver: `provider = traced(sink := MemorySink())`, run the agent, look at `sink.spans` or `sink.sessions()`.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from typing_extensions import override

from analyzer.session.codec import read_session
from analyzer.session.model import Session
from critiqor_otel.decode.sdk import SdkReader
from critiqor_otel.receiver.config import ReceiverConfig
from critiqor_otel.receiver.receiver import Receiver
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span
from critiqor_otel.spool.run_files import SESSION_FILE

__all__ = ["CountedIds", "MemorySink", "ToldClock", "embedded_receiver", "sealed_sessions", "traced"]

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
def embedded_receiver(runs: Path) -> Generator[Receiver]:
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


class CountedIds(IdGenerator):
    """Counts trace ids and span ids, each from 1."""

    def __init__(self) -> None:
        """Begin to count at one."""
        self._traces = self._spans = 0

    @override
    def generate_trace_id(self) -> int:
        self._traces += 1
        return self._traces

    @override
    def generate_span_id(self) -> int:
        self._spans += 1
        return self._spans


class MemorySink(SpanExporter):
    """Keeps what is exported."""

    def __init__(self) -> None:
        """Begin with nothing kept."""
        self.exported: list[ReadableSpan] = []

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.exported += spans
        return SpanExportResult.SUCCESS

    @override
    def shutdown(self) -> None:
        """Keep what was kept."""

    @property
    def spans(self) -> list[Span]:
        """The spans so far, as neutral ones, in the order of their ends."""
        reader = SdkReader()
        return [reader.span(span) for span in self.exported]

    def sessions(self) -> tuple[Session, ...]:
        """Return the sessions that the spans so far tell of."""
        return reconstruct(self.spans).sessions


def traced(sink: SpanExporter, *processors: SpanProcessor) -> TracerProvider:
    """Return a provider with counted ids and a bare resource that exports each span to the sink as it ends.

    The processors come before the sink.
    """
    provider = TracerProvider(id_generator=CountedIds(), resource=Resource({}), shutdown_on_exit=False)
    for processor in (*processors, SimpleSpanProcessor(sink)):
        provider.add_span_processor(processor)
    return provider
