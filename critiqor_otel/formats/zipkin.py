"""Zipkin's JSON, version 2: a list of spans, or of traces that are lists of spans.

Times are microseconds and every tag is text (numbers stay text here: what a number is, the convention tables know). A
span without a kind is a local one. Events came through OTel's exporters as `"name": {attributes}` or
`name|{attributes}|n`, links as tags `otlp.link.N`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from analyzer.pattern import pattern
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID, BadIdError
from critiqor_otel.formats.foreign_ids import optional_padded_id, padded_id
from critiqor_otel.formats.format import Found, RecordFormat
from critiqor_otel.formats.plain_values import plain_attributes, plain_text, plain_value, value_as_text
from critiqor_otel.formats.tags import microseconds, take_marks
from critiqor_otel.span import Attributes, Link, Resource, Scope, Span, SpanEvent, SpanKind

__all__ = ["ZIPKIN"]

_KINDS = {kind.name: kind for kind in SpanKind if kind is not SpanKind.UNSPECIFIED}
_NO_RESOURCE = Resource()
_LINK_PREFIX = "otlp.link."
_LINK_PARTS = 4  # trace id, span id, trace state, attributes
_EVENT = pattern(r'"(?P<quoted>[^"]*)"\s*:\s*(?P<json>\{.*\})|(?P<bare>[^|]*)\|(?P<bare_json>\{.*\})\|\d+', re.DOTALL)
_LOCAL = {"serviceName": "service.name", "ipv4": "net.host.ip", "ipv6": "net.host.ip", "port": "net.host.port"}
_REMOTE = {"serviceName": "peer.service", "ipv4": "net.peer.ip", "ipv6": "net.peer.ip", "port": "net.peer.port"}


def _recognise(document: Mapping[str, Any]) -> bool:
    return "traceId" in document and "id" in document


def _read(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    found = Found()
    resources: dict[str, Resource] = {}
    for document in documents:
        endpoint = document.get("localEndpoint")
        key = value_as_text(endpoint)
        if key not in resources:
            resources[key] = Resource(_endpoint(endpoint, _LOCAL)) if is_object(endpoint) else _NO_RESOURCE
        try:
            found.spans.append(_span(document, resources[key], findings))
        except BadIdError as error:
            findings.add(Finding.INVALID_ID, str(error))
    return found


def _span(raw: dict[str, Any], resource: Resource, findings: Findings) -> Span:
    trace_id, span_id = padded_id(raw.get("traceId"), TRACE_ID), padded_id(raw.get("id"), SPAN_ID)
    attributes = plain_attributes(raw.get("tags"), findings)
    marks = take_marks(attributes)
    links = _take_links(attributes)
    remote = raw.get("remoteEndpoint")
    if is_object(remote):
        attributes |= _endpoint(remote, _REMOTE)
    start_ns = microseconds(raw.get("timestamp"), findings)
    kind = raw.get("kind")
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=_parent(raw.get("parentId"), findings),
        name=plain_text(raw.get("name")),
        kind=marks.kind or (_KINDS.get(kind) if isinstance(kind, str) else None) or SpanKind.INTERNAL,
        start_ns=start_ns,
        end_ns=start_ns + microseconds(raw.get("duration"), findings) if "duration" in raw else 0,
        attributes=attributes,
        status=marks.status,
        status_message=marks.status_message,
        events=_events(raw.get("annotations"), findings),
        links=links,
        trace_state=marks.trace_state,
        resource=resource,
        scope=marks.scope or Scope(),
    )


def _parent(value: Any, findings: Findings) -> str | None:
    try:
        return optional_padded_id(value, SPAN_ID)
    except BadIdError as error:
        findings.add(Finding.INVALID_PARENT, str(error))
        return None


def _endpoint(endpoint: Mapping[str, Any], names: Mapping[str, str]) -> Attributes:
    told = {names[key]: value for key, value in endpoint.items() if key in names}
    return {name: plain_value(value) for name, value in told.items() if isinstance(value, str | int) and value != ""}


def _events(annotations: Any, findings: Findings) -> tuple[SpanEvent, ...]:
    events: list[SpanEvent] = []
    for annotation in annotations if is_list(annotations) else ():
        if not is_object(annotation):
            findings.add(Finding.BAD_VALUE, "an annotation that is no object")
            continue
        name, attributes = _event_parts(plain_text(annotation.get("value")), findings)
        events.append(SpanEvent(microseconds(annotation.get("timestamp"), findings), name, attributes))
    return tuple(events)


def _event_parts(text: str, findings: Findings) -> tuple[str, Attributes]:
    match = _EVENT.fullmatch(text)
    if match is None:
        return text, {}
    attributes = _json_object(match["json"] or match["bare_json"])
    if attributes is None:
        return text, {}
    return match["quoted"] if match["quoted"] is not None else match["bare"], plain_attributes(attributes, findings)


def _take_links(attributes: Attributes) -> tuple[Link, ...]:
    links: list[Link] = []
    for key in [key for key in attributes if key.startswith(_LINK_PREFIX)]:
        link = _link(attributes[key])
        if link is not None:
            links.append(link)
            del attributes[key]
    return tuple(links)


def _link(value: Any) -> Link | None:
    """Return the link that a tag spells, or None for a tag that is something else (which stays a tag)."""
    parts = value.split("|", _LINK_PARTS - 1) if isinstance(value, str) else []
    if len(parts) < _LINK_PARTS:
        return None
    attributes = _json_object(parts[3].rpartition("|")[0])
    try:
        held = {key: plain_value(item) for key, item in (attributes or {}).items()}
        return Link(padded_id(parts[0], TRACE_ID), padded_id(parts[1], SPAN_ID), held)
    except BadIdError:
        return None


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return value if is_object(value) else None


ZIPKIN = RecordFormat(
    name="Zipkin JSON v2", source="https://zipkin.io/zipkin-api/zipkin2-api.yaml", recognise=_recognise, read=_read
)
