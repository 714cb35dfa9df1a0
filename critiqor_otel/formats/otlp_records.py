"""OTLP/JSON: whole requests, what the APIs of Tempo and Jaeger wrap, and single spans or log records a line.

A request in the specification's spelling never gets here: it is parsed faster (`decode.otlp_json.decode_request`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.ids import BadIdError
from critiqor_otel.decode.otlp_json import fill_request, holds_other_signals
from critiqor_otel.decode.otlp_json_forms import LogForm, ResourceForm, ScopeForm, SpanForm
from critiqor_otel.decode.otlp_json_lenient import FormFiller
from critiqor_otel.decode.otlp_json_reader import FormReader
from critiqor_otel.formats.format import Found, RecordFormat
from critiqor_otel.formats.plain_values import value_as_text
from critiqor_otel.span import Resource, Scope

__all__ = ["OTLP_LOG", "OTLP_REQUEST", "OTLP_SPAN"]

_REQUEST_KEYS = frozenset(
    (
        "resourceSpans",
        "resource_spans",
        "batches",
        "resourceLogs",
        "resource_logs",
        "resourceMetrics",
        "resource_metrics",
        "resourceProfiles",
        "resource_profiles",
    )
)
_BLOCK_KEYS = {
    "scopeSpans": "resourceSpans",
    "scope_spans": "resourceSpans",
    "instrumentationLibrarySpans": "resourceSpans",
    "scopeLogs": "resourceLogs",
    "scope_logs": "resourceLogs",
}
_TRACE_ID = ("traceId", "trace_id")
_SPAN_ID = ("spanId", "span_id")
_SPAN_MARKS = ("startTimeUnixNano", "start_time_unix_nano", "endTimeUnixNano", "end_time_unix_nano")
_LOG_MARKS = ("timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano")
_SOURCE = "https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding"


def _has(document: Mapping[str, Any], names: Sequence[str]) -> bool:
    return any(name in document for name in names)


def _is_request(document: Mapping[str, Any]) -> bool:
    return any(key in _REQUEST_KEYS or key in _BLOCK_KEYS for key in document)


def _is_span(document: Mapping[str, Any]) -> bool:
    return _has(document, _TRACE_ID) and _has(document, _SPAN_ID) and _has(document, _SPAN_MARKS)


def _is_log(document: Mapping[str, Any]) -> bool:
    return _has(document, _LOG_MARKS) and ("body" in document or "attributes" in document)


def _read_requests(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    found = Found()
    for document in documents:
        block = next((_BLOCK_KEYS[key] for key in document if key in _BLOCK_KEYS), None)
        request = fill_request(document if block is None else {block: [document]}, findings)
        reader = FormReader(findings)
        found.spans += reader.spans(request)
        found.logs += reader.logs(request)
        found.skipped += holds_other_signals(request)
    return found


def _read_spans(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    found = Found()
    filler, reader, origins = FormFiller(findings), FormReader(findings), _Origins(findings)
    for document in documents:
        try:
            found.spans.append(reader.span(filler.fill(SpanForm, document), *origins.of(document)))
        except BadIdError as error:
            findings.add(Finding.INVALID_ID, str(error))
    return found


def _read_logs(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    filler, reader, origins = FormFiller(findings), FormReader(findings), _Origins(findings)
    return Found(logs=[reader.log(filler.fill(LogForm, document), *origins.of(document)) for document in documents])


class _Origins:
    """The resources and scopes of single records, equal ones shared."""

    def __init__(self, findings: Findings) -> None:
        self._filler, self._reader = FormFiller(findings), FormReader(findings)
        self._known: dict[str, Any] = {}

    def of(self, document: Mapping[str, Any]) -> tuple[Resource, Scope]:
        scope = document.get("scope") or document.get("instrumentationScope") or document.get("instrumentation_scope")
        return self._resource(document.get("resource")), self._scope(scope)

    def _resource(self, told: Any) -> Resource:
        key = f"resource {value_as_text(told)}"
        if key not in self._known:
            self._known[key] = self._reader.resource(self._filler.fill(ResourceForm, told))
        found: Resource = self._known[key]
        return found

    def _scope(self, told: Any) -> Scope:
        key = f"scope {value_as_text(told)}"
        if key not in self._known:
            self._known[key] = self._reader.scope(self._filler.fill(ScopeForm, told))
        found: Scope = self._known[key]
        return found


OTLP_REQUEST = RecordFormat(name="OTLP JSON", source=_SOURCE, recognise=_is_request, read=_read_requests)
OTLP_SPAN = RecordFormat(name="one OTLP span", source=_SOURCE, recognise=_is_span, read=_read_spans)
OTLP_LOG = RecordFormat(name="one OTLP log record", source=_SOURCE, recognise=_is_log, read=_read_logs)
