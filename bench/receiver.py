"""How much a received span costs, as ratios to the bare upb parse of the same requests, in one run.

The server is `critiqor-otel serve` as users start it; what is counted is the CPU time of its processes, not that
of the clients.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from pathlib import Path

from load import SPANS, Load, parse_seconds, requests, send_to
from receiver_peers import PEERS, weighed
from server import send, send_all, serving

__all__ = ["main"]

RESULTS = Path(__file__).with_name("receiver.md")
ROUNDS = 5
RUNS = 500  # of one round
CLIENTS, CROWD = 8, 64
OPEN, OPEN_SPANS = 10_000, 4
LONG_ROUNDS = 20

Row = tuple[str, str, str, str]
"""What, the figure, the target (empty: none), what it was measured from."""


def main() -> int:
    """Measure all, print the table and write it; 1 when a target is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="a tenth of the input, once: shows that it runs")
    options.add_argument("--rounds", type=int, default=LONG_ROUNDS, help="rounds of the memory test, 50,000 spans each")
    options.add_argument("--peers", type=Path, help="measure other receivers too; the folder keeps their environments")
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
            [] if given.peers is None else beside(folder, scale, given.peers),
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


def beside(folder: Path, scale: int, environments: Path) -> Iterator[Row]:
    """Compare the time until all is acknowledged, and the whole cost, with those of others on the same requests."""
    sizes = {True: RUNS // scale, False: RUNS // scale // 10}
    loads = {room: requests(folder, runs=runs, seed=80) for room, runs in sizes.items()}
    ours = {room: _ours(folder / f"beside-{load.spans}", load) for room, load in loads.items()}
    for peer in PEERS:
        load, (speed, own) = loads[peer.has_room], ours[peer.has_room]
        found = weighed(peer, environments, partial(send_to, load=load, clients=CLIENTS), load.spans)
        cost = found.cpu_seconds / load.spans
        told = f"{speed:,.0f} / {found.spans_a_second:,.0f} spans/s, {found.errors} errors of {len(load.bodies)}"
        what = f"{load.spans:,} spans: ours a second, against {peer.package}"
        yield what, f"{speed / found.spans_a_second:.1f}", "≥ 10", told
        told = f"{cost * 1e6:,.0f} / {own * 1e6:,.0f} µs a span"
        yield f"{peer.package}: CPU a span, against ours to the sealed file", f"{cost / own:.1f}", "≥ 10", told


def _ours(folder: Path, load: Load) -> tuple[float, float]:
    """Return the spans a second until all is acknowledged, and the CPU seconds a span to the sealed file: medians."""
    speeds, costs = [], []
    for number in range(ROUNDS):
        with serving(folder / str(number), "--after-root", "1") as server:
            before, began = server.cpu_seconds(whole=True), time.perf_counter()
            send_all(server, load, "http", CLIENTS)
            speeds.append(load.spans / (time.perf_counter() - began))
            server.wait_until_sealed(load.spans)
            costs.append((server.cpu_seconds(whole=True) - before) / load.spans)
    return statistics.median(speeds), statistics.median(costs)


def _missed(row: Row) -> bool:
    if row[2].startswith("≥"):
        return float(row[1]) < float(row[2].removeprefix("≥ "))
    return bool(row[2]) and float(row[1]) > float(row[2].removeprefix("≤ "))


def _document(rows: list[Row]) -> Iterator[str]:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("msgspec", "protobuf", "grpcio"))
    yield "# What a received span costs"
    yield ""
    yield "Made by `make bench`. Ratios within one run count; the times beside them are of this machine on that day."
    yield f"CPU time of the server's processes. Acknowledgement: medians of {ROUNDS} rounds of {RUNS * SPANS:,} spans."
    yield ""
    yield (
        f"Python {platform.python_version()}, {packages}, {platform.system()} {platform.machine()},"
        f" {os.cpu_count()} processors."
    )
    yield ""
    yield "| what | figure | target | measured |"
    yield "|---|--:|--:|---|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
