"""Log records join the spans they belong to; those that are agent events of their own become spans.

Messages written as log records carry the ids of their span (OTel GenAI conventions up to 1.36, and the event mode of
the later ones); Claude Code and Codex report tool calls and usage as records that name a session only.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.span import LogRecord, Span, SpanEvent

__all__ = ["JoinedLogs", "join_logs"]


class JoinedLogs(msgspec.Struct, frozen=True):
    """The spans with their records as events, the spans made from records, and what found no place, by name."""

    spans: dict[tuple[str, str], Span]
    from_records: dict[tuple[str, str], Span]
    homeless: Counter[str]


def join_logs(spans: dict[tuple[str, str], Span], records: Iterable[LogRecord]) -> JoinedLogs:
    """Give each record to its span, make a span of it, or say that it has no place."""
    events: dict[tuple[str, str], dict[str, SpanEvent]] = {}
    made: dict[tuple[str, str], Span] = {}
    homeless: Counter[str] = Counter()
    for record in records:
        own = span_of_record(record)
        if own is not None:
            other = made.setdefault((own.trace_id, own.span_id), own)
            if other is not own and repr(own) > repr(other):  # told by two resources: the same one, in any order
                made[own.trace_id, own.span_id] = own
            continue
        address = (record.trace_id or "", record.span_id or "")
        if address in spans:
            event = _event_of(record)
            events.setdefault(address, {})[_identity(event)] = event
        else:
            homeless[record.name] += 1
    joined = dict(spans)
    for address, found in events.items():
        span = spans[address]
        ordered = sorted(found.items(), key=lambda item: (item[1].time_ns, item[0]))
        joined[address] = msgspec.structs.replace(span, events=(*span.events, *(event for _, event in ordered)))
    return JoinedLogs(joined, made, homeless)


def _event_of(record: LogRecord) -> SpanEvent:
    attributes: dict[str, Any] = dict(record.attributes)
    if record.body is not None:
        attributes["body"] = record.body
    return SpanEvent(record.time_ns, record.name, attributes)


def _identity(event: SpanEvent) -> str:
    """Tell deliveries of one record apart from two records: records carry no id."""
    return repr(event)
