"""OTLP/JSON in, spans and log records out. Ids are hex here, and base64 is understood.

The specification's own spelling is parsed into types; whatever else means the same takes the longer, lenient way.
"""

from typing import Any

import msgspec

from critiqor_otel.decode.findings import Findings
from critiqor_otel.decode.json_document import read_document
from critiqor_otel.decode.otlp_json_forms import RequestForm, read_request
from critiqor_otel.decode.otlp_json_lenient import FormFiller
from critiqor_otel.decode.otlp_json_reader import FormReader
from critiqor_otel.errors import DecodeError
from critiqor_otel.span import Batch

__all__ = ["decode_logs", "decode_request", "decode_traces", "fill_request", "holds_other_signals"]


def decode_traces(data: bytes, *, place: str = "") -> Batch:
    """Return the spans of an ExportTraceServiceRequest; those of one block share their resource and scope.

    The notes name what was left out or mended, at the place given.

    Raises:
        DecodeError: the bytes are no JSON object.
    """
    findings = Findings()
    request = _request(data, findings)
    spans = FormReader(findings).spans(request)
    return Batch(spans=tuple(spans), notes=findings.notes(place), rejected=findings.rejected)


def decode_logs(data: bytes, *, place: str = "") -> Batch:
    """Return the log records of an ExportLogsServiceRequest; as `decode_traces`.

    Raises:
        DecodeError: the bytes are no JSON object.
    """
    findings = Findings()
    request = _request(data, findings)
    logs = FormReader(findings).logs(request)
    return Batch(logs=tuple(logs), notes=findings.notes(place), rejected=findings.rejected)


def decode_request(data: bytes, *, place: str = "") -> Batch | None:
    """Return what a request of any signal holds, or None where it is not in the specification's spelling.

    A request of metrics or profiles counts as skipped.
    """
    try:
        request = read_request(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return _batch(request, Findings(), place)


def fill_request(document: Any, findings: Findings) -> RequestForm:
    """Return the request that a JSON value means, in whatever spelling."""
    return FormFiller(findings).fill(RequestForm, document)


def holds_other_signals(request: RequestForm) -> bool:
    """Return whether the request holds metrics or profiles, which are passed over."""
    return request.resource_metrics is not None or request.resource_profiles is not None


def _request(data: bytes, findings: Findings) -> RequestForm:
    try:
        return read_request(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        document = read_document(data, findings)
    if not isinstance(document, dict):
        raise DecodeError(f"no OTLP request: a JSON {type(document).__name__} where an object belongs")
    return fill_request(document, findings)


def _batch(request: RequestForm, findings: Findings, place: str) -> Batch:
    reader = FormReader(findings)
    spans, logs = reader.spans(request), reader.logs(request)
    return Batch(
        spans=tuple(spans),
        logs=tuple(logs),
        notes=findings.notes(place),
        skipped=int(holds_other_signals(request)),
        rejected=findings.rejected,
    )
