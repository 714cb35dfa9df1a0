"""What the translation from OTLP to Jaeger and Zipkin put into tags, taken out again.

Source: https://opentelemetry.io/docs/specs/otel/trace/sdk_exporters/zipkin/ and …/jaeger/; the names with `library` are
those of earlier versions.
"""

from typing import Any

from msgspec import Struct

from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.json_scalars import BadScalarError, as_double, as_integer
from critiqor_otel.span import Attributes, Scope, SpanKind, StatusCode

__all__ = ["Marks", "microseconds", "take_marks"]

_KINDS = {kind.name.lower(): kind for kind in SpanKind}
_CODES = {code.name: code for code in StatusCode}
_SCOPE_NAMES = ("otel.scope.name", "otel.library.name")
_SCOPE_VERSIONS = ("otel.scope.version", "otel.library.version")
_STATES = ("w3c.tracestate",)
_LATEST = 1 << 63  # start and duration together stay within 64 bits
_TRUE = (True, "true", "True", "1", "")


class Marks(Struct, frozen=True, kw_only=True):
    """What the tags said about the span itself."""

    kind: SpanKind | None
    status: StatusCode
    status_message: str
    scope: Scope | None
    trace_state: str


def take_marks(attributes: Attributes) -> Marks:
    """Return what the tags say about the span itself, and remove those tags."""
    name, version = _take(attributes, _SCOPE_NAMES), _take(attributes, _SCOPE_VERSIONS)
    status, message = _take_status(attributes)
    return Marks(
        kind=_take_kind(attributes),
        status=status,
        status_message=message,
        scope=Scope(name, version) if name or version else None,
        trace_state=_take(attributes, _STATES),
    )


def microseconds(value: Any, findings: Findings) -> int:
    """Return nanoseconds for a number of microseconds, 0 where there is none that can be read (told)."""
    if value is None:
        return 0
    try:
        number = as_double(value) if isinstance(value, float) else as_integer(value)
        time_ns = round(number * 1_000) if isinstance(number, int | float) else -1
    except (BadScalarError, OverflowError, ValueError):
        time_ns = -1
    if not 0 <= time_ns < _LATEST:
        findings.add(Finding.BAD_VALUE, "a time that is no number of microseconds")
        return 0
    return time_ns


def _take(attributes: Attributes, keys: tuple[str, ...]) -> str:
    found = ""
    for key in keys:
        value = attributes.get(key)
        if isinstance(value, str):
            found = found or value
            del attributes[key]
    return found


def _take_kind(attributes: Attributes) -> SpanKind | None:
    value = attributes.get("span.kind")
    kind = _KINDS.get(value.lower()) if isinstance(value, str) else None
    if kind is not None:
        del attributes["span.kind"]
    return kind


def _take_status(attributes: Attributes) -> tuple[StatusCode, str]:
    """Return the status; `error` is true, or the message itself, or says nothing that the status does not."""
    code = attributes.get("otel.status_code")
    status = _CODES.get(code.upper()) if isinstance(code, str) else None
    message = _take(attributes, ("otel.status_description",))
    if status is not None:
        del attributes["otel.status_code"]
    error = attributes.get("error")
    if error is None or error is False or error == "false":
        return status or StatusCode.UNSET, message
    if error in _TRUE:
        del attributes["error"]
    elif isinstance(error, str) and not message:
        message = str(attributes.pop("error"))
    return StatusCode.ERROR if status is None else status, message
