"""Log records and span events that are agent events of their own, as zero-length spans: one road serves all.

Claude Code and Codex report as records what others report as spans; an evaluation comes as either. Ids are made from
what the record says, so that a record delivered twice is one span.
"""

import hashlib
import json
import re
from typing import Any

from analyzer.pattern import pattern
from critiqor_otel.conventions.convention import BadValueError
from critiqor_otel.conventions.shapes import integer, number
from critiqor_otel.span import LogRecord, Span, SpanEvent

__all__ = ["RETRY", "span_of_record", "spans_of_events"]

_OWN = ("claude_code.", "codex.", "openclaw.")
"""How the names of events begin that stand for themselves."""

_EVALUATION = "gen_ai.evaluation.result"
_ATTEMPT = "gen_ai.request.attempt"
RETRY = "gen_ai.retry"
"""What each event is called that tells of another attempt in its name: `retry`, `llm.retry`, `retry_attempt`."""
_IS_RETRY = pattern(r"(?:^|[._ -])retry(?:ing|[._ -]attempt)?$", re.IGNORECASE)
_LONGEST_NAME = 64
_CLAUDE_SCOPE = "com.anthropic.claude_code.events"
_SESSION_KEYS = ("session.id", "conversation.id", "gen_ai.conversation.id")
_NS_PER_MS = 1_000_000
_LONGEST_NS = 86_400 * 1_000_000_000  # a day: a duration beyond it is no duration


def span_of_record(record: LogRecord) -> Span | None:
    """Return the record as a span, or None when it belongs to a span or is no agent's event.

    A record that tells how long its event took becomes a span of that length, which ends when the record was made.
    """
    name = _own_name(record)
    if name is None:
        return None
    trace_id = record.trace_id or _digest("trace", _owner(record), length=32)
    return Span(
        trace_id=trace_id,
        span_id=_digest(name, record.time_ns, trace_id, record.span_id, record.attributes, record.body, length=16),
        parent_span_id=record.span_id if record.trace_id else None,
        name=name,
        start_ns=record.time_ns - _duration_ns(record),
        end_ns=record.time_ns,
        attributes=record.attributes,
        resource=record.resource,
        scope=record.scope,
    )


def _own_name(record: LogRecord) -> str | None:
    """Return the name of a record's event where it stands for itself.

    Codex names its records after lines of its source and says the event in an attribute; Claude Code leaves its own
    name out of the event's.
    """
    for name in (record.name, record.attributes.get("event.name")):
        if isinstance(name, str) and (name == _EVALUATION or name.startswith(_OWN)):
            return name
    body = record.body if isinstance(record.body, str) else ""
    if record.name and (body.startswith("claude_code.") or record.scope.name == _CLAUDE_SCOPE):
        return f"claude_code.{record.name}"
    return None


def _owner(record: LogRecord) -> Any:
    """Return what tells a record's session: its id, or else where it came from."""
    named = next((record.attributes[key] for key in _SESSION_KEYS if record.attributes.get(key)), None)
    return record.resource.attributes if named is None else named


def _duration_ns(record: LogRecord) -> int:
    try:
        milliseconds = number(record.attributes.get("duration_ms", ""))
    except BadValueError:
        return 0
    length = round((milliseconds or 0) * _NS_PER_MS)
    return length if 0 <= length < min(record.time_ns, _LONGEST_NS) else 0


def spans_of_events(span: Span) -> tuple[Span, ...]:
    """Return the events of a span that are agent events of their own, as zero-length spans inside it."""
    if not span.events:
        return ()
    return tuple(
        Span(
            trace_id=span.trace_id,
            span_id=_digest(span.span_id, index, event.name, event.time_ns, length=16),
            parent_span_id=span.span_id,
            name=name,
            start_ns=event.time_ns,
            end_ns=event.time_ns,
            attributes=event.attributes,
            resource=span.resource,
            scope=span.scope,
        )
        for index, event in enumerate(span.events)
        if (name := _name_alone(event)) is not None
    )


def _name_alone(event: SpanEvent) -> str | None:
    """Return the name under which an event stands for itself: an evaluation, or another attempt at something."""
    if event.name == _ATTEMPT:
        return _ATTEMPT if _is_another(event.attributes.get("attempt", "")) else None
    if len(event.name) <= _LONGEST_NAME and _IS_RETRY.search(event.name):
        return RETRY
    return _EVALUATION if event.name == _EVALUATION else None


def _is_another(attempt: Any) -> bool:
    try:
        return (integer(attempt) or 0) > 1
    except BadValueError:
        return False


def _digest(*parts: Any, length: int) -> str:
    """Return the first hex digits of a digest that is the same for the same parts in any process."""
    try:
        spelled = json.dumps(parts, sort_keys=True, default=repr)
    except RecursionError:  # nested deeper than anything an agent reports
        spelled = json.dumps([part for part in parts if isinstance(part, str | int)])
    return hashlib.sha256(spelled.encode("utf-8", "surrogatepass")).hexdigest()[:length]
