"""A receiver on free ports, and clients that say exactly what a test wants said."""

import base64
import http.client
import json
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import grpc
import msgspec
from google.protobuf.json_format import MessageToJson
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from analyzer.session.codec import read_session
from analyzer.session.model import Session
from critiqor_otel.receiver.config import Limits, ReceiverConfig
from critiqor_otel.receiver.receiver import Receiver
from critiqor_otel.spool.sealed_index import spans_of

__all__ = [
    "EXPORT",
    "JSON",
    "LOGS",
    "PROTOBUF",
    "Answer",
    "addresses",
    "answer_of",
    "call",
    "hex_json",
    "place",
    "post",
    "raw",
    "receiving",
    "rpc_status",
    "sessions",
]

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
_SECONDS = 20


class Answer(NamedTuple):
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def refusal(self) -> Status:
        """The Status in a protobuf body."""
        return Status.FromString(self.body)

    @property
    def response(self) -> ExportTraceServiceResponse:
        return ExportTraceServiceResponse.FromString(self.body)


@contextmanager
def receiving(runs: Path, *, limits: Limits | None = None, **settings: Any) -> Iterator[Receiver]:
    """Run a receiver on free ports."""
    config = ReceiverConfig(runs=runs, grpc_port=0, http_port=0, limits=limits or Limits())
    with Receiver(msgspec.structs.replace(config, **settings)) as receiver:
        yield receiver


def place(receiver: Receiver) -> tuple[str, int]:
    parts = urlsplit(receiver.http_endpoint or "")
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def post(
    receiver: Receiver,
    body: bytes | Iterator[bytes],
    content_type: str | None = PROTOBUF,
    *,
    path: str = "/v1/traces",
    method: str = "POST",
    **headers: str,
) -> Answer:
    """Send one request on a connection of its own."""
    connection = http.client.HTTPConnection(*place(receiver), timeout=_SECONDS)
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    if content_type is not None:
        told["Content-Type"] = content_type
    try:
        connection.request(method, path, body, told, encode_chunked=not isinstance(body, bytes))
        return answer_of(connection)
    finally:
        connection.close()


def answer_of(connection: http.client.HTTPConnection) -> Answer:
    response = connection.getresponse()
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())


def raw(receiver: Receiver, data: bytes) -> bytes:
    """Send bytes as they are and return all that comes back until the server closes."""
    with socket.create_connection(place(receiver), timeout=_SECONDS) as connection:
        connection.sendall(data)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts)


def call(
    receiver: Receiver, body: bytes, *, method: str = EXPORT, gzip: bool = False, token: str | None = None
) -> bytes:
    """Send one gRPC request on a channel of its own; raises grpc.RpcError."""
    address = urlsplit(receiver.grpc_endpoint or "").netloc
    options = [("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
    compression = grpc.Compression.Gzip if gzip else None
    metadata = [] if token is None else [("authorization", f"Bearer {token}")]
    with grpc.insecure_channel(address, options=options) as channel:
        send: Any = channel.unary_unary(method)
        answer: bytes = send(body, timeout=_SECONDS, compression=compression, metadata=metadata)
        return answer


def rpc_status(error: grpc.RpcError) -> Status:
    """Return the google.rpc.Status that came with an error."""
    trailers = dict(error.trailing_metadata())
    return Status.FromString(trailers["grpc-status-details-bin"])


def hex_json(payload: bytes) -> bytes:
    """Return a protobuf request as OTLP/JSON, with hex ids."""
    document = json.loads(MessageToJson(ExportTraceServiceRequest.FromString(payload)))
    for block in document.get("resourceSpans", ()):
        for scope in block.get("scopeSpans", ()):
            for span in scope.get("spans", ()):
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
    return json.dumps(document).encode()


def sessions(receiver: Receiver) -> list[Session]:
    """Seal what was acknowledged and return all sessions."""
    assert receiver.flush()
    return [read_session(file.read_bytes()) for file in sorted(receiver.config.runs.glob("*/session.json"))]


def addresses(receiver: Receiver) -> Counter[tuple[str, str]]:
    """Seal what was acknowledged and return how many sessions each span is in."""
    return Counter(
        (trace_id, span_id)
        for session in sessions(receiver)
        for trace_id, span_ids in spans_of(session).items()
        for span_id in span_ids
    )
