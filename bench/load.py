"""Requests to send to a receiver, and clients that send them."""

import http.client
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from spans import write_otlp_protobuf

__all__ = ["SPANS", "Load", "at_once", "parse_seconds", "requests", "send_grpc", "send_http", "send_to"]

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
SPANS = 100  # of a run


class Load(NamedTuple):
    """Export requests, and how many spans they hold together."""

    bodies: list[bytes]
    spans: int


def requests(folder: Path, *, runs: int, seed: int, spans: int = SPANS) -> Load:
    """Return the requests that runs of so many spans make."""
    file = folder / "load.pb"
    count = write_otlp_protobuf(file, runs=runs, spans=spans, seed=seed)
    whole = ExportTraceServiceRequest.FromString(file.read_bytes())
    return Load(
        [ExportTraceServiceRequest(resource_spans=[one]).SerializeToString() for one in whole.resource_spans], count
    )


def parse_seconds(load: Load) -> float:
    """Return the CPU time of parsing the requests: the unit of the ratios."""
    times = []
    for _ in range(5):
        began = time.process_time()
        for body in load.bodies:
            ExportTraceServiceRequest.FromString(body)
        times.append(time.process_time() - began)
    return statistics.median(times)


def send_to(address: str, load: Load, clients: int) -> int:
    """Send the requests over HTTP to any address."""
    return at_once(load, clients, lambda bodies: send_http(address, bodies))


def at_once(load: Load, clients: int, one: Callable[[Sequence[bytes]], int]) -> int:
    """Let so many clients send their part of the requests; return how many were not acknowledged."""
    errors = [0] * clients

    def client(number: int) -> None:
        errors[number] = one(load.bodies[number::clients])

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(errors)


def send_http(address: str, bodies: Sequence[bytes]) -> int:
    """Send the requests one after another; return how many were not acknowledged."""
    errors = 0
    connection = http.client.HTTPConnection(address, timeout=120)
    for body in bodies:
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf"})
        answer = connection.getresponse()
        answer.read()
        errors += answer.status != http.client.OK
    connection.close()
    return errors


def send_grpc(address: str, bodies: Sequence[bytes]) -> int:
    """Send the requests one after another; return how many were not acknowledged."""
    errors = 0
    with grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        call: Any = channel.unary_unary(EXPORT)
        for body in bodies:
            try:
                call(body, timeout=120)
            except grpc.RpcError:
                errors += 1
    return errors
