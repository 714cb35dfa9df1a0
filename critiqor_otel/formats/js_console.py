"""Spans as the JavaScript SDK's console exporter lays them out.

It prints objects of JavaScript rather than JSON; `js_literal` turns one into the other. Times are microseconds with a
fraction, kinds are numbered from 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID, BadIdError
from critiqor_otel.decode.json_scalars import STATUS_CODES, as_enum, as_time
from critiqor_otel.formats.foreign_ids import optional_padded_id, padded_id
from critiqor_otel.formats.format import Found, RecordFormat
from critiqor_otel.formats.plain_values import plain_attributes, plain_text
from critiqor_otel.formats.tags import microseconds
from critiqor_otel.span import Link, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["JS_CONSOLE"]

_KINDS = {number: SpanKind(number + 1) for number in range(5)}  # the JavaScript API starts at INTERNAL = 0


def _recognise(document: Mapping[str, Any]) -> bool:
    return "traceId" in document and "id" in document and is_object(document.get("attributes")) and "status" in document


def _read(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    found = Found()
    for document in documents:
        try:
            found.spans.append(_span(document, findings))
        except BadIdError as error:
            findings.add(Finding.INVALID_ID, str(error))
    return found


def _span(raw: dict[str, Any], findings: Findings) -> Span:
    start_ns = microseconds(raw.get("timestamp"), findings)
    resource, scope, status = (_object(raw.get(key)) for key in ("resource", "instrumentationScope", "status"))
    return Span(
        trace_id=padded_id(raw.get("traceId"), TRACE_ID),
        span_id=padded_id(raw.get("id"), SPAN_ID),
        parent_span_id=_parent(raw, findings),
        name=plain_text(raw.get("name")),
        kind=as_enum(raw.get("kind"), _KINDS, findings, absent=SpanKind.UNSPECIFIED),
        start_ns=start_ns,
        end_ns=start_ns + microseconds(raw.get("duration"), findings),
        attributes=plain_attributes(raw.get("attributes"), findings),
        status=as_enum(status.get("code"), STATUS_CODES, findings, absent=StatusCode.UNSET),
        status_message=plain_text(status.get("message")),
        events=tuple(_event(event, findings) for event in _objects(raw.get("events"))),
        links=tuple(link for told in _objects(raw.get("links")) if (link := _link(told, findings)) is not None),
        trace_state=plain_text(raw.get("traceState")),
        resource=Resource(plain_attributes(resource.get("attributes"), findings)),
        scope=Scope(plain_text(scope.get("name")), plain_text(scope.get("version"))),
    )


def _parent(raw: Mapping[str, Any], findings: Findings) -> str | None:
    told = raw.get("parentId") or _object(raw.get("parentSpanContext")).get("spanId")
    try:
        return optional_padded_id(told, SPAN_ID)
    except BadIdError as error:
        findings.add(Finding.INVALID_PARENT, str(error))
        return None


def _event(raw: Mapping[str, Any], findings: Findings) -> SpanEvent:
    attributes = plain_attributes(raw.get("attributes"), findings)
    return SpanEvent(as_time(raw.get("time"), findings), plain_text(raw.get("name")), attributes)


def _link(raw: Mapping[str, Any], findings: Findings) -> Link | None:
    context = _object(raw.get("context"))
    try:
        trace_id, span_id = padded_id(context.get("traceId"), TRACE_ID), padded_id(context.get("spanId"), SPAN_ID)
    except BadIdError as error:
        findings.add(Finding.INVALID_LINK, str(error))
        return None
    return Link(trace_id, span_id, plain_attributes(raw.get("attributes"), findings))


def _object(value: Any) -> dict[str, Any]:
    return value if is_object(value) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if is_object(item)] if is_list(value) else []


JS_CONSOLE = RecordFormat(
    name="console output of the JavaScript SDK",
    source="https://github.com/open-telemetry/opentelemetry-js/tree/main/packages/opentelemetry-sdk-trace-base",
    recognise=_recognise,
    read=_read,
)
