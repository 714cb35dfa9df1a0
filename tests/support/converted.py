"""The same spans written in other formats, as the exporters of those formats write them.

Jaeger and Zipkin: https://opentelemetry.io/docs/specs/otel/trace/sdk_exporters/ and the Collector's translators. Both
keep microseconds, know no status and no scope but as tags, and Zipkin knows text alone.
"""

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from written_otlp import standard_json, trace_request

from critiqor_otel.span import Link, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["CONVERTERS", "in_microseconds"]


def otlp_protobuf(spans: Sequence[Span]) -> bytes:
    return trace_request(spans).SerializeToString()


def otlp_json(spans: Sequence[Span]) -> bytes:
    return standard_json(trace_request(spans))


def jaeger(spans: Sequence[Span]) -> bytes:
    """Return what Jaeger's page downloads: one object a trace, resources as processes."""
    processes: dict[str, dict[str, Any]] = {}
    traces: dict[str, list[dict[str, Any]]] = {}
    for span in spans:
        process = _process(span)
        name = next((key for key, known in processes.items() if known == process), f"p{len(processes) + 1}")
        processes[name] = process
        traces.setdefault(span.trace_id, []).append(_jaeger_span(span, name))
    data = [{"traceID": trace, "spans": told, "processes": processes} for trace, told in traces.items()]
    return json.dumps({"data": data, "total": 0, "limit": 0, "offset": 0, "errors": None}).encode()


def _process(span: Span) -> dict[str, Any]:
    attributes = dict(span.resource.attributes)
    return {"serviceName": attributes.pop("service.name", ""), "tags": _typed(attributes)}


def _jaeger_span(span: Span, process: str) -> dict[str, Any]:
    references = [("CHILD_OF", span.trace_id, span.parent_span_id)] if span.parent_span_id is not None else []
    references += [("FOLLOWS_FROM", link.trace_id, link.span_id) for link in span.links]
    return {
        "traceID": span.trace_id,
        "spanID": span.span_id,
        "operationName": span.name,
        "references": [dict(zip(("refType", "traceID", "spanID"), each, strict=True)) for each in references],
        "startTime": span.start_ns // 1000,
        "duration": _duration(span),
        "tags": _typed({**_marks(span), "span.kind": span.kind.name.lower(), **span.attributes}),
        "logs": [
            {"timestamp": event.time_ns // 1000, "fields": _typed({"event": event.name, **event.attributes})}
            for event in span.events
        ],
        "processID": process,
        "warnings": None,
    }


def _duration(span: Span) -> int:
    return span.end_ns // 1000 - span.start_ns // 1000


def _typed(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, **_typed_value(value)} for key, value in attributes.items()]


def _typed_value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"type": "bool", "value": value}
        case int():
            return {"type": "int64", "value": value}
        case float():
            return {"type": "float64", "value": value}
        case bytes():
            return {"type": "binary", "value": base64.b64encode(value).decode()}
        case _:
            return {"type": "string", "value": _text(value)}


def zipkin(spans: Sequence[Span]) -> bytes:
    """Return what Zipkin's collector is sent: a list of spans whose tags are text."""
    return json.dumps([_zipkin_span(span) for span in spans]).encode()


def _zipkin_span(span: Span) -> dict[str, Any]:
    links = {f"otlp.link.{number}": _link(link) for number, link in enumerate(span.links)}
    told: dict[str, Any] = {
        "traceId": span.trace_id,
        "id": span.span_id,
        "parentId": span.parent_span_id,
        "name": span.name,
        "kind": None if span.kind <= SpanKind.INTERNAL else span.kind.name,
        "timestamp": span.start_ns // 1000,
        "duration": _duration(span),
        "localEndpoint": {"serviceName": span.resource.attributes.get("service.name", "")},
        "tags": {key: _text(value) for key, value in {**_marks(span), **span.attributes, **links}.items()},
        "annotations": [
            {"timestamp": event.time_ns // 1000, "value": f'"{event.name}": {json.dumps(_plain(event))}'}
            for event in span.events
        ],
    }
    return {key: value for key, value in told.items() if value is not None}


def _link(link: Link) -> str:
    return f"{link.trace_id}|{link.span_id}||{{}}|0"


def _plain(event: SpanEvent) -> dict[str, Any]:
    return {
        key: base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for key, value in event.attributes.items()
    }


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return json.dumps(value)


def _marks(span: Span) -> dict[str, Any]:
    """Return what OpenTelemetry spells as tags because the format has no place for it."""
    marks: dict[str, Any] = {"otel.scope.name": span.scope.name, "otel.scope.version": span.scope.version}
    if span.status is not StatusCode.UNSET:
        marks |= {"otel.status_code": span.status.name, "otel.status_description": span.status_message}
    if span.status is StatusCode.ERROR:
        marks["error"] = True
    marks["w3c.tracestate"] = span.trace_state
    return {key: value for key, value in marks.items() if value != ""}


CONVERTERS: Mapping[str, Callable[[Sequence[Span]], bytes]] = {
    "otlp.pb": otlp_protobuf,
    "otlp.json": otlp_json,
    "jaeger.json": jaeger,
    "zipkin.json": zipkin,
}


def in_microseconds(spans: Iterable[Span]) -> list[Span]:
    """Return the spans with as much of their times as Jaeger and Zipkin keep."""
    return [
        msgspec.structs.replace(
            span,
            start_ns=_floor(span.start_ns),
            end_ns=_floor(span.end_ns),
            events=tuple(msgspec.structs.replace(event, time_ns=_floor(event.time_ns)) for event in span.events),
        )
        for span in spans
    ]


def _floor(time_ns: int) -> int:
    return time_ns - time_ns % 1000
