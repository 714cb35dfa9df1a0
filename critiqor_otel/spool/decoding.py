"""A record of the journal becomes spans or log records: all of them, or those of one trace."""

from collections.abc import Callable

from google.protobuf.message import DecodeError as ProtobufError

from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.decode import otlp_json, otlp_protobuf, schema
from critiqor_otel.span import Batch, LogRecord
from critiqor_otel.spool.record import Encoding, Record, Signal

__all__ = ["decoded", "decoded_of_trace", "trace_of"]

_DECODERS: dict[tuple[Signal, Encoding], Callable[[bytes], Batch]] = {
    (Signal.TRACES, Encoding.PROTOBUF): otlp_protobuf.decode_traces,
    (Signal.TRACES, Encoding.JSON): otlp_json.decode_traces,
    (Signal.LOGS, Encoding.PROTOBUF): otlp_protobuf.decode_logs,
    (Signal.LOGS, Encoding.JSON): otlp_json.decode_logs,
}


def decoded(record: Record) -> Batch:
    """Return what a record holds.

    Raises:
        DecodeError: it is no request after all.
    """
    decode = _DECODERS.get((record.signal, record.encoding))
    return Batch(skipped=1) if decode is None else decode(record.payload)


def decoded_of_trace(record: Record, trace_id: str) -> Batch:
    """Return what a record holds of one trace, without decoding the spans of the others where that can be avoided.

    Raises:
        DecodeError: it is no request after all.
    """
    if (record.signal, record.encoding) == (Signal.TRACES, Encoding.PROTOBUF):
        batch = otlp_protobuf.decode_traces(_only(record.payload, bytes.fromhex(trace_id)))
    else:
        batch = decoded(record)
    return Batch(
        spans=tuple(span for span in batch.spans if span.trace_id == trace_id),
        logs=tuple(log for log in batch.logs if trace_of(log) == trace_id),
    )


def trace_of(log: LogRecord) -> str | None:
    """Return the trace a log record belongs to, that of the span it tells of where it tells of one."""
    own = span_of_record(log)
    return log.trace_id if own is None else own.trace_id


def _only(payload: bytes, trace_id: bytes) -> bytes:
    """Return the request without the spans in whose bytes the trace id does not occur."""
    try:
        request = schema.TRACES.FromString(payload)
        blocks = [_block_with(block, trace_id) for block in request.resource_spans]
    except ProtobufError:
        return payload
    return bytes(schema.TRACES(resource_spans=blocks).SerializeToString())


def _block_with(block: bytes, trace_id: bytes) -> bytes:
    parts = schema.RESOURCE_SPANS.FromString(block)
    for scopes in (parts.scope_spans, parts.old_scope_spans):
        scopes[:] = [_scope_with(scope, trace_id) for scope in scopes]
    return bytes(parts.SerializeToString())


def _scope_with(scope: bytes, trace_id: bytes) -> bytes:
    parts = schema.SCOPE_SPANS.FromString(scope)
    parts.spans[:] = [span for span in parts.spans if trace_id in span]
    return bytes(parts.SerializeToString())
