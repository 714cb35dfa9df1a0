"""Observations as Langfuse's API hands them out, alone or inside their trace.

Columns become the attributes that Langfuse's own SDK sends (`langfuse.observation.…`), so that one table reads both.
What an observation got from OpenTelemetry stands under its metadata, and goes back where it came from.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID, BadIdError
from critiqor_otel.formats.foreign_ids import hashed_id
from critiqor_otel.formats.format import Found, RecordFormat
from critiqor_otel.formats.plain_values import plain_attributes, plain_text, plain_time, plain_value, value_as_text
from critiqor_otel.span import Attributes, Resource, Scope, Span, StatusCode

__all__ = ["LANGFUSE"]

_TYPES = frozenset(
    ("SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL")
)
# Column → attribute; a value that is no text is written as JSON, as the SDK does.
_COLUMNS = {
    "level": "langfuse.observation.level",
    "statusMessage": "langfuse.observation.status_message",
    "input": "langfuse.observation.input",
    "output": "langfuse.observation.output",
    "model": "langfuse.observation.model.name",
    "modelParameters": "langfuse.observation.model.parameters",
    "costDetails": "langfuse.observation.cost_details",
    "completionStartTime": "langfuse.observation.completion_start_time",
    "promptName": "langfuse.observation.prompt.name",
    "promptVersion": "langfuse.observation.prompt.version",
    "version": "langfuse.version",
    "environment": "langfuse.environment",
    "sessionId": "session.id",
    "userId": "user.id",
    "traceName": "langfuse.trace.name",
}
_TRACE_COLUMNS = {
    "name": "langfuse.trace.name",
    "sessionId": "session.id",
    "userId": "user.id",
    "environment": "langfuse.environment",
    "release": "langfuse.release",
    "tags": "langfuse.trace.tags",
}
_ROOT_COLUMNS = {"input": "langfuse.trace.input", "output": "langfuse.trace.output"}
_USAGE = "langfuse.observation.usage_details"
_OLD_USAGE = {"promptTokens": "input", "completionTokens": "output", "totalTokens": "total"}
_METADATA = "langfuse.observation.metadata"
_FROM_OTEL = ("attributes", "resourceAttributes", "scope")


def _recognise(document: Mapping[str, Any]) -> bool:
    if _is_trace(document):
        return True
    return "traceId" in document and "id" in document and str(document.get("type")).upper() in _TYPES


def _is_trace(document: Mapping[str, Any]) -> bool:
    observations = document.get("observations")
    return is_list(observations) and "id" in document and any(is_object(item) for item in observations)


def _read(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    found = Found()
    for document in documents:
        if not _is_trace(document):
            found.spans += _spans([document], {}, findings)
            continue
        observations = [item for item in document["observations"] if is_object(item)]
        found.spans += _spans(observations, document, findings)
    return found


def _spans(observations: Sequence[dict[str, Any]], trace: Mapping[str, Any], findings: Findings) -> Iterator[Span]:
    for observation in observations:
        try:
            yield _span(observation, trace, findings)
        except BadIdError as error:
            findings.add(Finding.INVALID_ID, str(error))


def _span(raw: dict[str, Any], trace: Mapping[str, Any], findings: Findings) -> Span:
    trace_id = hashed_id(raw.get("traceId") or trace.get("id"), TRACE_ID)
    span_id, parent = hashed_id(raw.get("id"), SPAN_ID), raw.get("parentObservationId")
    told = raw.get("metadata")
    metadata = told if is_object(told) else {}
    attributes = plain_attributes(metadata.get("attributes"), findings)
    attributes |= _columns(trace, _TRACE_COLUMNS)
    attributes |= {} if parent else _columns(trace, _ROOT_COLUMNS)
    attributes |= _columns(raw, _COLUMNS) | _usage(raw) | _rest_of(told)
    attributes["langfuse.observation.type"] = plain_text(raw.get("type")).lower()
    start_ns = plain_time(raw.get("startTime"), findings)
    failed = raw.get("level") == "ERROR"
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=hashed_id(parent, SPAN_ID) if isinstance(parent, str) and parent else None,
        name=plain_text(raw.get("name")),
        start_ns=start_ns,
        end_ns=_end(raw, start_ns, findings),
        attributes=attributes,
        status=StatusCode.ERROR if failed else StatusCode.UNSET,
        status_message=plain_text(raw.get("statusMessage")),
        resource=Resource(plain_attributes(metadata.get("resourceAttributes"), findings)),
        scope=_scope(metadata.get("scope")),
    )


def _end(raw: Mapping[str, Any], start_ns: int, findings: Findings) -> int:
    """Return the end; an EVENT is a moment and has none of its own."""
    return plain_time(raw.get("endTime"), findings) or (start_ns if raw.get("type") == "EVENT" else 0)


def _columns(raw: Mapping[str, Any], names: Mapping[str, str]) -> Attributes:
    return {name: value_as_text(raw[key]) for key, name in names.items() if raw.get(key) not in (None, "", {}, [])}


def _usage(raw: Mapping[str, Any]) -> Attributes:
    """Return the token counts; a row of zeros is how the API says that there are none."""
    old = {name: raw.get(key) for key, name in _OLD_USAGE.items()}
    for told in (raw.get("usageDetails"), raw.get("usage"), old):
        if is_object(told) and any(isinstance(count, int | float) and count for count in told.values()):
            counts = {name: count for name, count in told.items() if isinstance(count, int | float)}
            return {_USAGE: value_as_text(counts)}
    return {}


def _rest_of(metadata: Any) -> Attributes:
    """Return the metadata without what came from OpenTelemetry."""
    if not is_object(metadata):
        return {} if metadata in (None, "", []) else {_METADATA: plain_value(metadata)}
    return {f"{_METADATA}.{key}": value_as_text(item) for key, item in metadata.items() if key not in _FROM_OTEL}


def _scope(told: Any) -> Scope:
    if not is_object(told):
        return Scope()
    return Scope(plain_text(told.get("name")), plain_text(told.get("version")))


LANGFUSE = RecordFormat(
    name="Langfuse observations",
    source="https://api.reference.langfuse.com/#tag/observations",
    recognise=_recognise,
    read=_read,
)
