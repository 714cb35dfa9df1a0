"""Span events that tell of another attempt: nobody's convention, but many write them, under much the same names."""

from critiqor_otel.conventions.convention import At, Convention, Field, SpanRole
from critiqor_otel.conventions.records import RETRY
from critiqor_otel.conventions.shapes import integer, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_NUMBERS = ("retry.attempt", "attempt", "retry.attempt_number", "attempt_number", "retry.count", "retry_count")
_REASONS = ("retry.reason", "reason", "error.message", "exception.message", "error", "error.type", "retry.error.type")


def _named_retry(span: Span) -> SpanRole | None:
    return SpanRole.RETRY if span.name == RETRY else None


CONVENTION = Convention(
    name="retry-events",
    source="https://github.com/openlit/openlit/blob/main/sdk/python/src/openlit/instrumentation/langchain",
    known_by="an event named `retry`, `….retry`, `retrying` or `retry_attempt`",
    recognise=_named_retry,
    signs=Signs(names=(RETRY,)),
    fields={
        Field.ATTEMPT: tuple(At(key, integer) for key in _NUMBERS),
        Field.REASON: tuple(At(key, text) for key in _REASONS),
        Field.MODEL: (At("gen_ai.request.model", text),),
        Field.TOOL_NAME: (At("gen_ai.tool.name", text), At("tool.name", text), At("tool_name", text)),
    },
)
