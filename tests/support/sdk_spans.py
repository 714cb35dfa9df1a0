"""Ended spans of the SDK, as an exporter is given them."""

from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

__all__ = ["ended_spans"]


def ended_spans(count: int, size: int = 10) -> list[ReadableSpan]:
    """Return spans named by their number, each with a text of so many characters."""
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("test")
    made: list[ReadableSpan] = []
    for number in range(count):
        span: Any = tracer.start_span(f"span {number}", attributes={"text": "x" * size})
        span.end()
        made.append(span)
    return made
