"""Every format that is read, in the order in which they are asked: the first that recognises the content reads it.

A new format is one module and one line here.
"""

from collections.abc import Mapping
from typing import Any

from critiqor_otel.formats.format import RecordFormat
from critiqor_otel.formats.jaeger import JAEGER
from critiqor_otel.formats.js_console import JS_CONSOLE
from critiqor_otel.formats.langfuse import LANGFUSE
from critiqor_otel.formats.otlp_records import OTLP_LOG, OTLP_REQUEST, OTLP_SPAN
from critiqor_otel.formats.phoenix import PHOENIX, PHOENIX_ROW
from critiqor_otel.formats.sdk_console import SDK_CONSOLE_LOG, SDK_CONSOLE_SPAN
from critiqor_otel.formats.zipkin import ZIPKIN

__all__ = ["RECORDS", "recognise"]

RECORDS = (
    OTLP_REQUEST,
    OTLP_SPAN,
    OTLP_LOG,
    JAEGER,
    SDK_CONSOLE_SPAN,
    SDK_CONSOLE_LOG,
    PHOENIX,
    PHOENIX_ROW,
    LANGFUSE,
    JS_CONSOLE,
    ZIPKIN,
)
"""What JSON objects may mean. Zipkin comes last: any object with `traceId` and `id` could be its span."""


def recognise(document: Mapping[str, Any]) -> RecordFormat | None:
    """Return the format of an object, or None."""
    return next((candidate for candidate in RECORDS if candidate.recognise(document)), None)
