"""One framed message becomes a batch: an OTLP request in protobuf or JSON, of any signal."""

from critiqor_otel.decode.otlp_signal import Signal, signal_of_block
from critiqor_otel.decode.wire import top_fields
from critiqor_otel.formats.documents import decode_document
from critiqor_otel.span import Batch

__all__ = ["decode_message", "decode_protobuf"]


def decode_message(data: bytes, *, place: str) -> Batch:
    """Return what a whole message holds, in protobuf or JSON.

    Raises:
        DecodeError: it is neither.
    """
    if data[:1] in (b"{", b"["):
        return decode_document(data, place=place)
    found = (signal_of_block(block) for _, _, block in top_fields(data))
    return decode_protobuf(data, next((signal for signal in found if signal is not None), None), place=place)


def decode_protobuf(data: bytes, signal: Signal | None, *, place: str) -> Batch:
    """Return what a protobuf request of a signal holds; metrics count as skipped, an unknown signal is read as traces.

    Raises:
        DecodeError: it is no request.
    """
    if signal is Signal.METRICS:
        return Batch(skipped=1)
    from critiqor_otel.decode.otlp_protobuf import decode_logs, decode_traces  # noqa: PLC0415  # slow to load

    return decode_logs(data, place=place) if signal is Signal.LOGS else decode_traces(data, place=place)
