"""What the tables say of a log record that is an agent event of its own."""

from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.span import LogRecord

__all__ = ["record_facts"]


def record_facts(record: LogRecord) -> Facts | None:
    """Return its facts, or None when it belongs to a span or is no agent's event."""
    span = span_of_record(record)
    return None if span is None else facts_of(span)
