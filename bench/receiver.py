"""How much a received span costs, as ratios to the bare upb parse of the same requests, in one run.

The server is `critiqor-otel serve` as users start it; what is counted is the CPU time of its processes, not that
of the clients.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from spans import write_otlp_protobuf

__all__ = ["main"]

RESULTS = Path(__file__).with_name("receiver.md")
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS = 5
RUNS, SPANS = 500, 100  # of one round
CLIENTS, CROWD = 8, 64
OPEN, OPEN_SPANS = 10_000, 4
LONG_ROUNDS = 20
SEAL_SECONDS = 1800

Row = tuple[str, str, str, str]
"""What, the figure, the target (empty: none), what it was measured from."""


def main() -> int:
    """Measure all, print the table and write it; 1 when a target is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="a tenth of the input, once: shows that it runs")
    options.add_argument("--rounds", type=int, default=LONG_ROUNDS, help="rounds of the memory test, 50,000 spans each")
    given = options.parse_args()
    scale, rounds = (10, 1) if given.quick else (1, ROUNDS)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for measured in (
            acknowledging(folder, scale, rounds),
            sealing(folder, scale),
            crowd(folder, scale),
            many_open(folder, scale),
            steady(folder, scale, 2 if given.quick else given.rounds),
        ):
            for row in measured:
                print(" | ".join(row), flush=True)
                rows.append(row)
    if not given.quick:
        RESULTS.write_text("\n".join(_document(rows)))
    return int(not given.quick and any(_missed(row) for row in rows))


def acknowledging(folder: Path, scale: int, rounds: int) -> Iterator[Row]:
    """Compare the receiving process, up to the durable acknowledgement, with the parse of the same requests."""
    for transport, target in (("http", "≤ 2.5"), ("grpc", "≤ 4")):
        costs, bases, speeds = [], [], []
        for number in range(rounds):
            load = requests(folder, runs=RUNS // scale, seed=number)
            with serving(folder / f"runs-{transport}-{number}") as server:
                base = parse_seconds(load)
                before, began = server.cpu_seconds(), time.perf_counter()
                send_all(server, load, transport, CLIENTS)
                speeds.append(load.spans / (time.perf_counter() - began))
                costs.append(server.cpu_seconds() - before)
                bases.append((base + parse_seconds(load)) / 2)
        ratio = statistics.median(cost / base for cost, base in zip(costs, bases, strict=True))
        spans = RUNS // scale * SPANS
        measured = (
            f"{statistics.median(costs) / spans * 1e6:.2f} / {statistics.median(bases) / spans * 1e6:.2f} µs a span,"
            f" {statistics.median(speeds):,.0f} spans/s"
        )
        yield (
            f"{transport}: durable acknowledgement against upb parse, {CLIENTS} clients",
            f"{ratio:.2f}",
            target,
            measured,
        )


def sealing(folder: Path, scale: int) -> Iterator[Row]:
    """Compare all processes, up to the sealed session file, with the parse of the same requests."""
    load = requests(folder, runs=RUNS // scale, seed=77)
    with serving(folder / "runs-sealed", "--after-root", "1") as server:
        base = parse_seconds(load)
        before = server.cpu_seconds(whole=True)
        send_all(server, load, "http", CLIENTS)
        server.wait_until_sealed(load.spans)
        cost = server.cpu_seconds(whole=True) - before
        base = (base + parse_seconds(load)) / 2
    measured = f"{cost / load.spans * 1e6:.1f} / {base / load.spans * 1e6:.2f} µs a span"
    yield "http: through to the sealed session file, against upb parse", f"{cost / base:.1f}", "≤ 32", measured


def crowd(folder: Path, scale: int) -> Iterator[Row]:
    """Count the errors of many clients at once."""
    for transport in ("http", "grpc"):
        load = requests(folder, runs=RUNS // scale, seed=78)
        with serving(folder / f"runs-crowd-{transport}") as server:
            errors = send(server, load, transport, CROWD)
        yield f"{transport}: errors of {CROWD} clients", f"{errors}", "≤ 0", f"{len(load.bodies)} requests"


def many_open(folder: Path, scale: int) -> Iterator[Row]:
    """Weigh the processes while many sessions are open."""
    sessions = OPEN // scale
    load = requests(folder, runs=sessions, spans=OPEN_SPANS, seed=79)
    with serving(folder / "runs-open", "--after-root", "3600", "--idle", "3600") as server:
        send_all(server, load, "http", CLIENTS)
        server.wait_until(lambda metrics: metrics["lag_bytes"] == 0 and metrics["open_sessions"] >= sessions)
        size = server.resident_bytes()
    yield f"{sessions:,} open sessions: memory in MB", f"{size / 1e6:.0f}", "≤ 400", "both processes, resident"


def steady(folder: Path, scale: int, rounds: int) -> Iterator[Row]:
    """Compare memory after a fifth of the load with memory after all of it."""
    with serving(folder / "runs-steady", "--after-root", "1") as server:
        sizes, total = [], 0
        for number in range(rounds):
            load = requests(folder, runs=RUNS // scale, seed=100 + number)
            total += load.spans
            send_all(server, load, "http", CLIENTS)
            server.wait_until_sealed(total)
            sizes.append(server.resident_bytes())
    early, late = sizes[(rounds - 1) // 5], sizes[-1]
    what = f"memory after {total:,} spans, against after {total // rounds * ((rounds - 1) // 5 + 1):,}"
    yield what, f"{late / early:.2f}", "≤ 1.15", f"{late / 1e6:.0f} / {early / 1e6:.0f} MB"


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


class Server:
    """A server that runs, and what it costs."""

    def __init__(self, process: "subprocess.Popen[str]", places: dict[str, str]) -> None:
        """Take the process, and where it listens."""
        self._process = process
        self.http = places["http"].removeprefix("http://")
        self.grpc = places["grpc"].removeprefix("http://")

    def cpu_seconds(self, *, whole: bool = False) -> float:
        """Return the CPU time of the receiving process, or of all its processes."""
        return sum(_cpu_seconds(number) for number in (self._numbers() if whole else self._numbers()[:1]))

    def resident_bytes(self) -> int:
        """Return the memory of all processes."""
        return sum(_resident_bytes(number) for number in self._numbers())

    def wait_until_sealed(self, spans: int) -> None:
        """Wait until so many spans are in sealed sessions."""
        self.wait_until(lambda metrics: metrics["sealed_spans_total"] >= spans)

    def wait_until(self, reached: Any) -> None:
        """Wait until the metrics say so."""
        until = time.monotonic() + SEAL_SECONDS
        while not reached(self._metrics()):
            if time.monotonic() > until:
                raise TimeoutError(f"not reached within {SEAL_SECONDS} seconds: {self._metrics()}")
            time.sleep(0.5)

    def _metrics(self) -> dict[str, float]:
        connection = http.client.HTTPConnection(self.http, timeout=30)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return {name: float(value) for name, value in re.findall(r"^critiqor_(\w+) (\S+)$", text, re.MULTILINE)}

    def _numbers(self) -> list[int]:
        own = self._process.pid
        children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
        return [own, *map(int, children)]


@contextmanager
def serving(runs: Path, *options: str) -> Iterator[Server]:
    """Run a server while the block runs."""
    words = [sys.executable, "-c", "from critiqor_otel.cli.main import main; main()", "serve", "--runs", runs]
    words += ["--grpc-port", "0", "--http-port", "0", "--log", "json", *options]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        listening = "" if process.stderr is None else process.stderr.readline()
        if not listening.startswith("{"):
            raise RuntimeError(f"the server did not start: {listening or 'it said nothing'}")
        yield Server(process, json.loads(listening))
    finally:
        process.kill()
        process.communicate()


def send_all(server: Server, load: Load, transport: str, clients: int) -> None:
    """Send the requests, each of which must be acknowledged."""
    errors = send(server, load, transport, clients)
    if errors:
        raise RuntimeError(f"{errors} of {len(load.bodies)} requests were not acknowledged")


def send(server: Server, load: Load, transport: str, clients: int) -> int:
    """Send the requests from so many clients at once; return how many were not acknowledged."""
    errors = [0] * clients
    one = {"http": _send_http, "grpc": _send_grpc}[transport]

    def client(number: int) -> None:
        errors[number] = one(server, load.bodies[number::clients])

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(errors)


def _send_http(server: Server, bodies: Sequence[bytes]) -> int:
    errors = 0
    connection = http.client.HTTPConnection(server.http, timeout=120)
    for body in bodies:
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf"})
        answer = connection.getresponse()
        answer.read()
        errors += answer.status != http.client.OK
    connection.close()
    return errors


def _send_grpc(server: Server, bodies: Sequence[bytes]) -> int:
    errors = 0
    with grpc.insecure_channel(server.grpc, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        call: Any = channel.unary_unary(EXPORT)
        for body in bodies:
            try:
                call(body, timeout=120)
            except grpc.RpcError:
                errors += 1
    return errors


def _cpu_seconds(number: int) -> float:
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _resident_bytes(number: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{number}/status").read_text())
    return 0 if found is None else int(found[1]) * 1024


def _missed(row: Row) -> bool:
    return bool(row[2]) and float(row[1]) > float(row[2].removeprefix("≤ "))


def _document(rows: list[Row]) -> Iterator[str]:
    yield from ("# What a received span costs", "", "Written by `bench/receiver.py`; ratios within one run.", "")
    yield from ("| what | figure | target | measured |", "|---|---|---|---|")
    for row in rows:
        yield f"| {' | '.join(row)} |{' missed' if _missed(row) else ''}"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
