"""What the Python SDK's console exporters print: spans and log records, indented, one after another.

Ids stand behind `0x`, times are ISO-8601, kinds are `SpanKind.CLIENT`; scopes are not printed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID, BadIdError
from critiqor_otel.decode.json_scalars import as_count
from critiqor_otel.formats.foreign_ids import optional_padded_id, padded_id
from critiqor_otel.formats.format import Found, RecordFormat
from critiqor_otel.formats.plain_values import plain_attributes, plain_text, plain_time, plain_value, value_as_text
from critiqor_otel.span import Link, LogRecord, Resource, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["SDK_CONSOLE_LOG", "SDK_CONSOLE_SPAN"]

_SOURCE = "https://opentelemetry-python.readthedocs.io/en/latest/sdk/trace.export.html"
_KINDS = {f"SpanKind.{kind.name}": kind for kind in SpanKind}
_CODES = {code.name: code for code in StatusCode}
_NO_STATES = ("", "[]", "{}")


def _is_span(document: Mapping[str, Any]) -> bool:
    context = document.get("context")
    if not is_object(context) or "trace_id" not in context:
        return False
    kind = document.get("kind")
    return isinstance(kind, str) and kind.startswith("SpanKind.")


def _is_log(document: Mapping[str, Any]) -> bool:
    return "severity_number" in document and "trace_id" in document and "body" in document


def _read_spans(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    found = Found()
    resources = _Resources(findings)
    for document in documents:
        try:
            found.spans.append(_span(document, resources.of(document.get("resource")), findings))
        except BadIdError as error:
            findings.add(Finding.INVALID_ID, str(error))
    return found


def _read_logs(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    resources = _Resources(findings)
    return Found(logs=[_log(document, resources.of(document.get("resource")), findings) for document in documents])


class _Resources:
    """Equal resources are shared."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._known: dict[str, Resource] = {}

    def of(self, told: Any) -> Resource:
        key = value_as_text(told)
        if key not in self._known:
            parts = told if is_object(told) else {}
            attributes = plain_attributes(parts.get("attributes"), self._findings)
            self._known[key] = Resource(attributes, plain_text(parts.get("schema_url")))
        return self._known[key]


def _span(raw: dict[str, Any], resource: Resource, findings: Findings) -> Span:
    context = raw["context"]
    trace_id, span_id = padded_id(context.get("trace_id"), TRACE_ID), padded_id(context.get("span_id"), SPAN_ID)
    told = raw.get("status")
    status = told if is_object(told) else {}
    state = plain_text(context.get("trace_state"))
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=_reference(raw.get("parent_id"), SPAN_ID, Finding.INVALID_PARENT, findings),
        name=plain_text(raw.get("name")),
        kind=_KINDS.get(plain_text(raw.get("kind")), SpanKind.UNSPECIFIED),
        start_ns=plain_time(raw.get("start_time"), findings),
        end_ns=plain_time(raw.get("end_time"), findings),
        attributes=plain_attributes(raw.get("attributes"), findings),
        status=_CODES.get(plain_text(status.get("status_code")), StatusCode.UNSET),
        status_message=plain_text(status.get("description")),
        events=tuple(_event(event, findings) for event in _objects(raw.get("events"))),
        links=tuple(link for told in _objects(raw.get("links")) if (link := _link(told, findings)) is not None),
        trace_state="" if state in _NO_STATES else state,
        resource=resource,
    )


def _log(raw: dict[str, Any], resource: Resource, findings: Findings) -> LogRecord:
    attributes = plain_attributes(raw.get("attributes"), findings)
    return LogRecord(
        time_ns=plain_time(raw.get("timestamp"), findings) or plain_time(raw.get("observed_timestamp"), findings),
        name=plain_text(raw.get("event_name") or attributes.get("event.name")),
        trace_id=_reference(raw.get("trace_id"), TRACE_ID, Finding.INVALID_LINK, findings),
        span_id=_reference(raw.get("span_id"), SPAN_ID, Finding.INVALID_LINK, findings),
        body=plain_value(raw.get("body")),
        attributes=attributes,
        severity_number=as_count(raw.get("severity_number"), findings),
        severity_text=plain_text(raw.get("severity_text")),
        resource=resource,
    )


def _event(raw: dict[str, Any], findings: Findings) -> SpanEvent:
    attributes = plain_attributes(raw.get("attributes"), findings)
    return SpanEvent(plain_time(raw.get("timestamp"), findings), plain_text(raw.get("name")), attributes)


def _link(raw: dict[str, Any], findings: Findings) -> Link | None:
    told = raw.get("context")
    context = told if is_object(told) else {}
    try:
        trace_id, span_id = padded_id(context.get("trace_id"), TRACE_ID), padded_id(context.get("span_id"), SPAN_ID)
    except BadIdError as error:
        findings.add(Finding.INVALID_LINK, str(error))
        return None
    return Link(trace_id, span_id, plain_attributes(raw.get("attributes"), findings))


def _reference(value: Any, size: int, finding: Finding, findings: Findings) -> str | None:
    try:
        return optional_padded_id(value, size)
    except BadIdError as error:
        findings.add(finding, str(error))
        return None


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if is_object(item)] if is_list(value) else []


SDK_CONSOLE_SPAN = RecordFormat(name="console output of the SDK", source=_SOURCE, recognise=_is_span, read=_read_spans)
SDK_CONSOLE_LOG = RecordFormat(
    name="console output of the SDK, logs", source=_SOURCE, recognise=_is_log, read=_read_logs
)
