"""Spans of the SDK as tests look at them: kept in memory, read as neutral spans."""

from collections.abc import Callable, Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from critiqor_otel.decode.sdk import SdkReader
from critiqor_otel.span import Span

ReadSpans = Callable[[], list[Span]]


@pytest.fixture
def memory() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(memory: InMemorySpanExporter) -> Iterator[TracerProvider]:
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(SimpleSpanProcessor(memory))
    yield made
    made.shutdown()


@pytest.fixture
def read_spans(memory: InMemorySpanExporter) -> ReadSpans:
    """Return what reads the spans that have ended so far."""

    def read() -> list[Span]:
        reader = SdkReader()
        return [reader.span(span) for span in memory.get_finished_spans()]

    return read
