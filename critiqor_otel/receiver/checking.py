"""Can this request be kept, and which of its spans not? Structure and ids only: nothing is decoded that is sound.

The messages of all three signals share their outline (blocks of scopes of records), so one small schema,
wire-compatible with OTLP's, reads it and leaves each record as bytes; a second one looks whether each record is a
message. A request that looks odd is decoded in full, by the decoder that will read it later, so that the client is told
of exactly the spans that will be left out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError as ProtobufError

from critiqor_otel.decode import otlp_json, otlp_protobuf
from critiqor_otel.errors import DecodeError
from critiqor_otel.receiver.refusal import Fault, Refusal
from critiqor_otel.span import Batch
from critiqor_otel.spool.record import Encoding, Signal

__all__ = ["Checked", "check"]


class Checked(msgspec.Struct, frozen=True):
    """What a request holds."""

    records: int
    """Spans, log records or metrics, the refused ones among them."""
    refused: int = 0
    message: str = ""
    """Why some are refused, or what was mended though all are kept."""


def check(signal: Signal, encoding: Encoding, body: bytes) -> Checked:
    """Return what the request holds and which part of it cannot be kept.

    Raises:
        Refusal: nothing of it can be read.
    """
    return _CHECKS[encoding](signal, body)


def _check_protobuf(signal: Signal, body: bytes) -> Checked:
    try:
        request = _OUTLINE.FromString(body)
    except ProtobufError as error:
        what = f"the {len(body)} bytes are no protobuf Export{_NAMES[signal]}ServiceRequest: damaged or cut"
        raise Refusal(Fault.BAD_DATA, what) from error
    count, sound = 0, True
    for block in request.blocks:
        for scope in (*block.scopes, *block.old_scopes):
            records = scope.records
            count += len(records)
            sound = sound and (signal is not Signal.TRACES or _have_ids(records))
    if body and not request.blocks:
        return Checked(0, 0, f"the request's {len(body)} bytes hold nothing of this signal; nothing was kept")
    if sound and signal is Signal.TRACES:
        sound = _are_messages(body)
    return Checked(count) if sound else _decoded_in_full(otlp_protobuf.decode_traces, body, count)


def _are_messages(body: bytes) -> bool:
    try:
        _OUTLINE_OF_MESSAGES.FromString(body)
    except ProtobufError:
        return False
    return True


def _have_ids(spans: Sequence[bytes]) -> bool:
    """Tell whether every span begins with a trace id and a span id as all known encoders write them.

    The heads are looked at together, a column of bytes at a time: a loop over spans takes three times as long.
    """
    heads = b"".join([span[:_HEAD] for span in spans])
    count = len(spans)
    if len(heads) != count * _HEAD:
        return False
    if any(heads[place::_HEAD] != byte * count for place, byte in _TAGS):
        return False
    # Found by chance across two ids, it only means a closer look.
    return _NO_TRACE_ID not in heads and _NO_SPAN_ID not in heads


def _check_json(signal: Signal, body: bytes) -> Checked:
    try:
        form = _JSON_OUTLINES[signal].decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _odd_json(signal, body)
    records = [record for block in form.blocks or () for scope in block.scopes or () for record in scope.records or ()]
    if signal is not Signal.TRACES:
        return Checked(len(records)) if records or len(body) <= _NOTHING else _odd_json(signal, body)
    if records and all(_is_plain(span) for span in records):
        return Checked(len(records))
    return Checked(0) if len(body) <= _NOTHING else _odd_json(signal, body)


def _is_plain(span: "_JsonSpan") -> bool:
    trace_id, span_id = span.trace_id, span.span_id
    if len(trace_id) != _TRACE_DIGITS or len(span_id) != _SPAN_DIGITS:
        return False
    try:
        return (
            int(trace_id, 16) != 0 and int(span_id, 16) != 0 and (ids := trace_id + span_id).isalnum() and ids.isascii()
        )
    except ValueError:
        return False


def _odd_json(signal: Signal, body: bytes) -> Checked:
    decode = _JSON_DECODERS.get(signal)
    if decode is None:
        return Checked(0)
    checked = _decoded_in_full(decode, body, 0)
    if checked.records and not checked.refused and not checked.message and _is_snake_case(body):
        return msgspec.structs.replace(checked, message=_SNAKE_CASE)
    return checked


def _is_snake_case(body: bytes) -> bool:
    return any(name in body for name in (b'"resource_spans"', b'"resource_logs"'))


def _decoded_in_full(decode: Callable[[bytes], Batch], body: bytes, count: int) -> Checked:
    try:
        batch = decode(body)
    except DecodeError as error:
        raise Refusal(Fault.BAD_DATA, f"the body cannot be read: {error}") from error
    records = len(batch.spans) + len(batch.logs) + batch.rejected
    message = ". ".join(note.message for note in batch.notes)
    if batch.rejected:
        message = f"{message}. Send them with the ids and the layout that OTLP asks for; the others were kept."
    return Checked(max(records, count), batch.rejected, message)


class _JsonSpan(msgspec.Struct, rename="camel", gc=False):
    trace_id: str = ""
    span_id: str = ""


class _SpanScope(msgspec.Struct, gc=False):
    records: list[_JsonSpan] | None = msgspec.field(default=None, name="spans")


class _LogScope(msgspec.Struct, gc=False):
    records: list[msgspec.Raw] | None = msgspec.field(default=None, name="logRecords")


class _MetricScope(msgspec.Struct, gc=False):
    records: list[msgspec.Raw] | None = msgspec.field(default=None, name="metrics")


class _SpanBlock(msgspec.Struct, gc=False):
    scopes: list[_SpanScope] | None = msgspec.field(default=None, name="scopeSpans")


class _LogBlock(msgspec.Struct, gc=False):
    scopes: list[_LogScope] | None = msgspec.field(default=None, name="scopeLogs")


class _MetricBlock(msgspec.Struct, gc=False):
    scopes: list[_MetricScope] | None = msgspec.field(default=None, name="scopeMetrics")


class _SpanRequest(msgspec.Struct, gc=False):
    blocks: list[_SpanBlock] | None = msgspec.field(default=None, name="resourceSpans")


class _LogRequest(msgspec.Struct, gc=False):
    blocks: list[_LogBlock] | None = msgspec.field(default=None, name="resourceLogs")


class _MetricRequest(msgspec.Struct, gc=False):
    blocks: list[_MetricBlock] | None = msgspec.field(default=None, name="resourceMetrics")


def _outline(record: str | None) -> Any:  # the fields of a class made at run time are known to no type checker
    """Return the class of `Request {blocks = 1 {scopes = 2, old_scopes = 1000 {records = 2}}}`; None is bytes."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="critiqor/outline.proto", package="critiqor", syntax="proto3")

    def add(message: str, fields: Iterable[tuple[str, int, str | None]]) -> None:
        made = file.message_type.add(name=message)
        for name, number, inner in fields:
            kind = field.TYPE_BYTES if inner is None else field.TYPE_MESSAGE
            added = made.field.add(name=name, number=number, type=kind, label=field.LABEL_REPEATED)
            if inner is not None:
                added.type_name = f".critiqor.{inner}"

    add("Request", [("blocks", 1, "Block")])
    add("Block", [("scopes", 2, "Scope"), ("old_scopes", 1000, "Scope")])
    add("Scope", [("records", 2, record)])
    add("Record", [])
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("critiqor.Request"))


_OUTLINE = _outline(None)
_OUTLINE_OF_MESSAGES = _outline("Record")
_NAMES = {Signal.TRACES: "Trace", Signal.LOGS: "Logs", Signal.METRICS: "Metrics"}
_HEAD = 28  # tag and length of the trace id, its 16 bytes, tag and length of the span id, its 8 bytes
_TAGS = ((0, b"\n"), (1, b"\x10"), (18, b"\x12"), (19, b"\x08"))
_NO_TRACE_ID, _NO_SPAN_ID = b"\n\x10" + bytes(16), b"\x12\x08" + bytes(8)
_TRACE_DIGITS, _SPAN_DIGITS = 32, 16
_NOTHING = 2  # bytes of `{}`
_SNAKE_CASE = "snake_case keys are not OTLP/JSON; they were understood all the same, but other receivers ignore them"
_JSON_OUTLINES: Mapping[Signal, msgspec.json.Decoder[Any]] = {
    Signal.TRACES: msgspec.json.Decoder(_SpanRequest),
    Signal.LOGS: msgspec.json.Decoder(_LogRequest),
    Signal.METRICS: msgspec.json.Decoder(_MetricRequest),
}
_JSON_DECODERS: Mapping[Signal, Callable[[bytes], Batch]] = {
    Signal.TRACES: otlp_json.decode_traces,
    Signal.LOGS: otlp_json.decode_logs,
}
_CHECKS: Mapping[Encoding, Callable[[Signal, bytes], Checked]] = {
    Encoding.PROTOBUF: _check_protobuf,
    Encoding.JSON: _check_json,
}
