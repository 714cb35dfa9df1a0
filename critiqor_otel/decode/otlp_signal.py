"""Which signal does a block of an OTLP protobuf request belong to: traces, logs or metrics?

The three requests differ only in what lies in the middle of a block, so the first record's fields are looked at. What
sets them apart: a span has fixed-width times in fields 7 and 8 and two ids of fixed length; a log record has
fixed-width times in fields 1 and 11; a metric begins with a name and holds its points in a message.
"""

from collections.abc import Iterator
from enum import StrEnum

from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID
from critiqor_otel.decode.wire import LENGTH_DELIMITED, WireError, read_field

__all__ = ["Signal", "signal_of_block"]

_FIXED64, _VARINT = 1, 0
_RECORDS = (2, 1000)  # field numbers of scope_spans, scope_logs, scope_metrics, and of their older names
_SPAN_TIMES = ((7, _FIXED64), (8, _FIXED64))
_LOG_MARKS = ((1, _FIXED64), (11, _FIXED64), (2, _VARINT))
_METRIC_POINTS = ((5, LENGTH_DELIMITED), (7, LENGTH_DELIMITED), (9, LENGTH_DELIMITED), (10, LENGTH_DELIMITED))
_LOOKED_AT = 64  # records of a block, until one tells


class Signal(StrEnum):
    """A signal of OpenTelemetry."""

    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


def signal_of_block(block: bytes) -> Signal | None:
    """Return the signal of a ResourceSpans, ResourceLogs or ResourceMetrics, or None when it holds no record."""
    for number, record in enumerate(_records(block)):
        signal = _signal_of_record(record)
        if signal is not None or number >= _LOOKED_AT:
            return signal
    return None


def _records(block: bytes) -> Iterator[bytes]:
    for number, wire_type, part in _fields(block):
        if number in _RECORDS and wire_type == LENGTH_DELIMITED:
            for inner, inner_type, record in _fields(part):
                if inner == _RECORDS[0] and inner_type == LENGTH_DELIMITED:
                    yield record


def _signal_of_record(record: bytes) -> Signal | None:
    fields = [(number, wire_type) for number, wire_type, _ in _fields(record)]
    lengths = {number: len(content) for number, wire_type, content in _fields(record) if wire_type == LENGTH_DELIMITED}
    if any(mark in fields for mark in _SPAN_TIMES) or (lengths.get(1), lengths.get(2)) == (TRACE_ID, SPAN_ID):
        return Signal.TRACES
    if any(mark in fields for mark in _LOG_MARKS):
        return Signal.LOGS
    if (1, LENGTH_DELIMITED) in fields:
        has_points = any(mark in fields for mark in _METRIC_POINTS)
        return Signal.METRICS if has_points else Signal.TRACES
    return Signal.LOGS if fields else None


def _fields(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the fields, the last one cut short where the data is."""
    at = 0
    while at < len(data):
        try:
            number, wire_type, start, end = read_field(data, at)
        except WireError:
            return
        yield number, wire_type, data[start:end]
        at = end
