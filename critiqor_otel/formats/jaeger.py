"""Jaeger's JSON: the traces that its page downloads and its API returns, and the spans in its Elasticsearch.

Times are microseconds, ids lose leading zeros, tags name their type. What the OTLP translation put into tags goes back
where it came from: span kind, status, scope, trace state.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID, BadIdError
from critiqor_otel.decode.json_scalars import BadScalarError, as_bytes, as_double, as_integer
from critiqor_otel.formats.foreign_ids import optional_padded_id, padded_id
from critiqor_otel.formats.format import Found, RecordFormat
from critiqor_otel.formats.plain_values import plain_text, plain_value
from critiqor_otel.formats.tags import microseconds, take_marks
from critiqor_otel.span import Attributes, AttributeValue, Link, Resource, Scope, Span, SpanEvent, SpanKind

__all__ = ["JAEGER"]

_NO_RESOURCE = Resource()
_CHILD_OF = "CHILD_OF"


def _truth(value: Any) -> bool:
    # Elasticsearch storage hands every value over as text.
    truth = {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else value
    if not isinstance(truth, bool):
        raise BadScalarError("a truth value that is none")
    return truth


_TYPES: Mapping[str, Callable[[Any], AttributeValue]] = {
    "bool": _truth,
    "int64": as_integer,
    "float64": as_double,
    "binary": as_bytes,
}


def _recognise(document: Mapping[str, Any]) -> bool:
    return "traceID" in document and ("spans" in document or "spanID" in document)


def _read(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    found = Found()
    for document in documents:
        if "spans" not in document:
            found.spans += _spans([document], {}, findings)
            continue
        processes = document.get("processes")
        table = processes if is_object(processes) else {}
        resources = {key: _resource(process, findings) for key, process in table.items()}
        found.spans += _spans(document["spans"], resources, findings)
        _warn(document.get("warnings"), findings)
    return found


def _spans(spans: Any, resources: Mapping[str, Resource], findings: Findings) -> Iterable[Span]:
    if not is_list(spans):
        findings.add(Finding.BAD_VALUE, "spans that are no list")
        return
    for raw in spans:
        if not is_object(raw):
            findings.add(Finding.DAMAGED_RECORD, "a span that is no object")
            continue
        try:
            yield _span(raw, resources, findings)
        except BadIdError as error:
            findings.add(Finding.INVALID_ID, str(error))


def _span(raw: dict[str, Any], resources: Mapping[str, Resource], findings: Findings) -> Span:
    trace_id = padded_id(raw.get("traceID"), TRACE_ID)
    span_id = padded_id(raw.get("spanID"), SPAN_ID)
    attributes = _tags(raw.get("tags"), findings)
    marks = take_marks(attributes)
    parent, links = _references(raw, trace_id, findings)
    start_ns = microseconds(raw.get("startTime"), findings)
    _warn(raw.get("warnings"), findings)
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent,
        name=plain_text(raw.get("operationName")),
        kind=marks.kind or SpanKind.UNSPECIFIED,
        start_ns=start_ns,
        end_ns=start_ns + microseconds(raw.get("duration"), findings),
        attributes=attributes,
        status=marks.status,
        status_message=marks.status_message,
        events=tuple(_events(raw.get("logs"), findings)),
        links=links,
        trace_state=marks.trace_state,
        resource=_resource_of(raw, resources, findings),
        scope=marks.scope or Scope(),
    )


def _resource_of(raw: dict[str, Any], resources: Mapping[str, Resource], findings: Findings) -> Resource:
    if "process" in raw and raw["process"] is not None:
        return _resource(raw["process"], findings)
    key = raw.get("processID")
    return resources.get(key, _NO_RESOURCE) if isinstance(key, str) else _NO_RESOURCE


def _resource(process: Any, findings: Findings) -> Resource:
    if not is_object(process):
        findings.add(Finding.BAD_VALUE, "a process that is no object")
        return _NO_RESOURCE
    attributes = _tags(process.get("tags"), findings)
    name = process.get("serviceName")
    return Resource({"service.name": name, **attributes} if isinstance(name, str) and name else attributes)


def _references(raw: dict[str, Any], trace_id: str, findings: Findings) -> tuple[str | None, tuple[Link, ...]]:
    """Return the parent and the links: the parent is the first CHILD_OF of this trace, else its first reference."""
    told = raw.get("references")
    references = [
        (reference.get("refType"), link)
        for reference in (told if is_list(told) else ())
        if is_object(reference) and (link := _link(reference, findings)) is not None
    ]
    inside = [(kind, link) for kind, link in references if link.trace_id == trace_id]
    parent = next((link for kind, link in inside if kind == _CHILD_OF), inside[0][1] if inside else None)
    links = tuple(link for _, link in references if link is not parent)
    if parent is not None:
        return parent.span_id, links
    try:
        return optional_padded_id(raw.get("parentSpanID"), SPAN_ID), links
    except BadIdError as error:
        findings.add(Finding.INVALID_PARENT, str(error))
        return None, links


def _link(reference: dict[str, Any], findings: Findings) -> Link | None:
    try:
        trace_id = padded_id(reference.get("traceID"), TRACE_ID)
        return Link(trace_id, padded_id(reference.get("spanID"), SPAN_ID))
    except BadIdError as error:
        findings.add(Finding.INVALID_LINK, str(error))
        return None


def _events(logs: Any, findings: Findings) -> Iterable[SpanEvent]:
    for log in logs if is_list(logs) else ():
        if not is_object(log):
            findings.add(Finding.BAD_VALUE, "a log entry that is no object")
            continue
        fields = _tags(log.get("fields"), findings)
        key = "event" if "event" in fields else "message"
        yield SpanEvent(microseconds(log.get("timestamp"), findings), plain_text(fields.pop(key, None)), fields)


def _tags(tags: Any, findings: Findings) -> Attributes:
    if is_object(tags):  # Elasticsearch storage may keep them as an object
        return {key: plain_value(value) for key, value in tags.items()}
    attributes: Attributes = {}
    for tag in tags if is_list(tags) else ():
        if not is_object(tag) or not isinstance(tag.get("key"), str):
            findings.add(Finding.BAD_VALUE, "a tag without a key")
            continue
        attributes[tag["key"]] = _tag_value(tag, findings)
    return attributes


def _tag_value(tag: dict[str, Any], findings: Findings) -> AttributeValue:
    value = tag.get("value")
    read = _TYPES.get(tag["type"]) if isinstance(tag.get("type"), str) else None
    if read is None or value is None:
        return plain_value(value)
    try:
        return read(value)
    except BadScalarError as error:
        findings.add(Finding.BAD_VALUE, f"{error}, kept as it came")
        return plain_value(value)


def _warn(warnings: Any, findings: Findings) -> None:
    for warning in warnings if is_list(warnings) else ():
        findings.add(Finding.SOURCE_WARNING, plain_text(warning)[:100])


JAEGER = RecordFormat(
    name="Jaeger JSON",
    source="https://github.com/jaegertracing/jaeger/tree/main/internal/uimodel",
    recognise=_recognise,
    read=_read,
)
