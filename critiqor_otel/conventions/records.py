"""Log records that are agent events of their own, as zero-length spans: one road serves both."""

from critiqor_otel.conventions.facts import Facts
from critiqor_otel.span import LogRecord, Span

__all__ = ["record_facts", "span_of_record"]


def span_of_record(record: LogRecord) -> Span | None:
    """Return the record as a span, or None when it belongs to a span or is no agent's event."""
    del record
    return None


def record_facts(record: LogRecord) -> Facts | None:
    """Return the facts of a record that is an agent event of its own, else None."""
    del record
    return None
