"""The ways a session can travel as spans: in memory, through the SDK, over OTLP in both encodings."""

import base64
import json
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from analyzer.session.codec import write_session
from analyzer.session.model import Event, Session
from critiqor_otel.decode import otlp_json, otlp_protobuf
from critiqor_otel.decode.sdk import SdkReader
from critiqor_otel.emit.otlp_wire import encode_request
from critiqor_otel.emit.sdk_spans import sdk_spans
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span

__all__ = ["TRIPS", "as_otlp_json", "came_back", "without_spans"]

_IDS = ("traceId", "spanId", "parentSpanId")


def in_memory(spans: Iterable[Span]) -> Iterable[Span]:
    return spans


def through_the_sdk(spans: Iterable[Span]) -> Iterable[Span]:
    reader = SdkReader()
    return [reader.span(span) for span in sdk_spans(spans)]


def over_protobuf(spans: Iterable[Span]) -> Iterable[Span]:
    return otlp_protobuf.decode_traces(encode_request(through_the_sdk(spans))).spans


def over_json(spans: Iterable[Span]) -> Iterable[Span]:
    return otlp_json.decode_traces(as_otlp_json(encode_request(through_the_sdk(spans)))).spans


TRIPS: tuple[Callable[[Iterable[Span]], Iterable[Span]], ...] = (
    in_memory,
    through_the_sdk,
    over_protobuf,
    over_json,
)


def as_otlp_json(request: bytes) -> bytes:
    """Turn a protobuf request into OTLP/JSON, by protobuf's own means but for the ids, which OTLP writes in hex."""
    document: dict[str, Any] = MessageToDict(ExportTraceServiceRequest.FromString(request))
    _hex_ids(document)
    return json.dumps(document).encode()


def _hex_ids(value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            _hex_ids(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in _IDS:
                value[name] = base64.b64decode(item).hex()
            elif name != "attributes":
                _hex_ids(item)


def came_back(spans: Iterable[Span]) -> Session:
    """Return the one session that the spans tell of."""
    (session,) = reconstruct(spans).sessions
    return session


def without_spans(session: Session) -> bytes:
    """Return the session file without the spans of its events."""
    events: tuple[Event, ...] = tuple(msgspec.structs.replace(event, span=None) for event in session.events)
    return write_session(msgspec.structs.replace(session, events=events))
