"""The bodies of answers: Export…ServiceResponse and google.rpc.Status, in the encoding of the request.

The response of every signal is laid out alike (`partial_success` with a count and a message), so one class writes all;
only in JSON the count has a name of its own.
"""

from collections.abc import Mapping

import msgspec
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from critiqor_otel.receiver.refusal import Fault, Refusal
from critiqor_otel.spool.record import Encoding, Signal

__all__ = ["LONGEST_MESSAGE", "accepted", "refused", "status_of"]

LONGEST_MESSAGE = 4096
"""Characters of a message to a client; far below the 4 MiB a response may have."""

_REJECTED = {
    Signal.TRACES: "rejectedSpans",
    Signal.LOGS: "rejectedLogRecords",
    Signal.METRICS: "rejectedDataPoints",
}
_EMPTY: Mapping[Encoding, bytes] = {Encoding.PROTOBUF: b"", Encoding.JSON: b"{}"}
_TYPE = "type.googleapis.com/"


def accepted(signal: Signal, encoding: Encoding, *, rejected: int = 0, message: str = "") -> bytes:
    """Return the body of a success; with nothing to say, partial_success is left unset."""
    if not rejected and not message:
        return _EMPTY[encoding]
    message = _short(message)
    if encoding is Encoding.JSON:
        told: dict[str, object] = {"errorMessage": message}
        if rejected:
            told[_REJECTED[signal]] = str(rejected)
        return msgspec.json.encode({"partialSuccess": told})
    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = rejected
    response.partial_success.error_message = message
    written: bytes = response.SerializeToString()
    return written


def refused(refusal: Refusal, encoding: Encoding) -> bytes:
    """Return the Status body of a refusal."""
    if encoding is Encoding.PROTOBUF:
        written: bytes = status_of(refusal).SerializeToString()
        return written
    body: dict[str, object] = {"code": refusal.row.code, "message": _short(refusal.message)}
    details = [_json_detail(detail) for detail in _details(refusal)]
    if details:
        body["details"] = details
    return msgspec.json.encode(body)


def status_of(refusal: Refusal) -> Status:
    """Return the refusal as google.rpc.Status."""
    status = Status(code=refusal.row.code, message=_short(refusal.message))
    for detail in _details(refusal):
        status.details.add().Pack(detail, _TYPE)
    return status


def _details(refusal: Refusal) -> list[RetryInfo | BadRequest]:
    seconds = refusal.row.retry_after
    if seconds is not None:
        return [RetryInfo(retry_delay=Duration(seconds=seconds))]
    if refusal.fault is Fault.BAD_DATA:
        violation = BadRequest.FieldViolation(field="body", description=_short(refusal.message))
        return [BadRequest(field_violations=[violation])]
    return []


def _json_detail(detail: RetryInfo | BadRequest) -> dict[str, object]:
    form: dict[str, object] = {"@type": f"{_TYPE}{detail.DESCRIPTOR.full_name}"}
    if isinstance(detail, RetryInfo):
        form["retryDelay"] = f"{detail.retry_delay.seconds}s"
    else:
        form["fieldViolations"] = [
            {"field": one.field, "description": one.description} for one in detail.field_violations
        ]
    return form


def _short(message: str) -> str:
    return message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"
