"""A record of the journal becomes spans or log records: all of them, or those of some traces."""

from collections.abc import Callable, Collection

import msgspec

from critiqor_otel.conventions.carriage import ANNOTATION, RUN_ID
from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.decode import otlp_json, otlp_protobuf
from critiqor_otel.span import Batch, LogRecord, Resource
from critiqor_otel.spool.record import Encoding, Record, Signal

__all__ = ["decoded", "decoded_of_traces", "trace_of"]

_DECODERS: dict[tuple[Signal, Encoding], Callable[[bytes], Batch]] = {
    (Signal.TRACES, Encoding.PROTOBUF): otlp_protobuf.decode_traces,
    (Signal.TRACES, Encoding.JSON): otlp_json.decode_traces,
    (Signal.LOGS, Encoding.PROTOBUF): otlp_protobuf.decode_logs,
    (Signal.LOGS, Encoding.JSON): otlp_json.decode_logs,
}


def decoded(record: Record) -> Batch:
    """Return what a record holds; of the run that it is said to belong to, where its senders name no other.

    Raises:
        DecodeError: it is no request after all.
    """
    decode = _DECODERS.get((record.signal, record.encoding))
    if decode is None:
        return Batch(skipped=1)
    batch = decode(record.payload)
    return batch if record.run_id is None else _of_run(batch, record.run_id)


def decoded_of_traces(record: Record, trace_ids: Collection[str]) -> Batch:
    """Return what a record holds of some traces, without decoding the spans of others where that can be avoided.

    Verdicts of ours are left out.

    Raises:
        DecodeError: it is no request after all.
    """
    if (record.signal, record.encoding) == (Signal.TRACES, Encoding.PROTOBUF):
        batch = otlp_protobuf.decode_traces(record.payload, only=frozenset(map(bytes.fromhex, trace_ids)))
        batch = batch if record.run_id is None else _of_run(batch, record.run_id)
    else:
        batch = decoded(record)
    return Batch(
        spans=tuple([span for span in batch.spans if span.trace_id in trace_ids and ANNOTATION not in span.attributes]),
        logs=tuple([log for log in batch.logs if trace_of(log) in trace_ids]),
    )


def trace_of(log: LogRecord) -> str | None:
    """Return the trace a log record belongs to, that of the span it tells of where it tells of one."""
    own = span_of_record(log)
    return log.trace_id if own is None else own.trace_id


def _of_run(batch: Batch, run_id: str) -> Batch:
    """Read the resources as if their program had honoured OTEL_RESOURCE_ATTRIBUTES, which names the run."""
    named: dict[int, Resource] = {}

    def of_run(resource: Resource) -> Resource:
        known = named.get(id(resource))
        if known is None:
            attributes = {RUN_ID: run_id, **resource.attributes}
            known = named[id(resource)] = msgspec.structs.replace(resource, attributes=attributes)
        return known

    return msgspec.structs.replace(
        batch,
        spans=tuple([msgspec.structs.replace(span, resource=of_run(span.resource)) for span in batch.spans]),
        logs=tuple([msgspec.structs.replace(log, resource=of_run(log.resource)) for log in batch.logs]),
    )
