"""`critiqor-otel serve` under mixed load for a while, with restarts: is every span found, and does anything grow?

`python tests/support/soaking.py --seconds 1800 FOLDER` is the long form; `--write FILE` keeps its report. Restarts (by
SIGKILL and SIGTERM in turn) fall into the first third; the rest is one life of one server, whose memory, file handles
and journal are sampled all along.
"""

import argparse
import http.client
import json
import os
import random
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any, NamedTuple

import grpc
from real_programs import Serving
from receiving import EXPORT, JSON, PROTOBUF, hex_json
from small_inputs import mutated
from spool_support import trace_request

from analyzer.session.codec import read_session
from critiqor_otel.spool.journal import JournalLimits
from critiqor_otel.spool.sealed_index import spans_of

__all__ = ["Account", "Sample", "soaked"]

_QUICK = ("--idle", "2", "--after-root", "0.5", "--diagnose")
_OURS, _SPOILED = 0x600D, 0x0BAD  # the first bytes of trace ids: of what is to be found, and of what is spoiled
_PER_REQUEST, _PER_TRACE = 10, 4  # spans, requests
_PAUSE = 0.1  # seconds between two requests of one client: a steady load, not the most there can be
_SAMPLES = 240
_REFUSALS = frozenset((429, 503))
_AGAIN = frozenset((grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.CANCELLED))
_RESTARTS_OF = 3  # restarts fall into one part of so many
_MIB = 1 << 20
_SEGMENT = JournalLimits().segment  # goes when it is full, and all of it is sealed

Address = tuple[str, str]
Body = tuple[bytes, list[Address]]


class Sample(NamedTuple):
    """What the server held at one moment."""

    second: float
    life: int
    """How often it had been restarted."""
    memory: int
    """Bytes that it and its processes hold (RSS)."""
    handles: int
    journal: int
    """Bytes that wait to be sealed."""
    index: int
    """Bytes of the rest of the spool."""
    runs: int
    """Bytes of the sealed runs."""
    sealed: int
    """Sessions."""


class Account(NamedTuple):
    """What came of it."""

    seconds: float
    kills: int
    stops: int
    requests: Counter[str]
    """By kind."""
    sent: frozenset[Address]
    acknowledged: frozenset[Address]
    sealed: Counter[Address]
    """How many session files each span is in."""
    bad_answers: list[str]
    """Answers that spoiled requests must not get."""
    samples: list[Sample]

    @property
    def missing(self) -> set[Address]:
        return set(self.acknowledged - self.sealed.keys())

    @property
    def doubled(self) -> set[Address]:
        return {address for address, times in self.sealed.items() if times > 1}

    @property
    def unknown(self) -> set[Address]:
        return set(self.sealed.keys() - self.sent)

    @property
    def steady(self) -> list[Sample]:
        """The samples of the last life, without its first tenth, in which it warms up."""
        last = [sample for sample in self.samples if sample.life == self.samples[-1].life]
        return last[len(last) // 10 :]

    def growth(self, of: Callable[[Sample], float]) -> tuple[float, float]:
        """Return the medians of the first and the last quarter of the last life."""
        steady = self.steady
        part = max(len(steady) // 4, 1)
        return median(map(of, steady[:part])), median(map(of, steady[-part:]))


def soaked(folder: Path, *, seconds: float, restart_every: float, seed: int = 12) -> Account:
    """Send for so long, restart the server meanwhile, and settle the account."""
    server = Serving(folder, *_QUICK)
    clients = [_Client(number, kind, seed, server.ports) for number, kind in enumerate(_KINDS)]
    noise, pause, begin = random.Random(seed), threading.Event(), monotonic()  # told noise, no secret
    samples: list[Sample] = []
    lives = 0
    for client in clients:
        client.start()
    next_restart = restart_every
    while (now := monotonic() - begin) < seconds:
        samples.append(_sample(server, now, lives))
        pause.wait(seconds / _SAMPLES)
        if next_restart < now < seconds / _RESTARTS_OF:
            server = _restarted(server, kill=lives % 2 == 0)
            lives += 1
            next_restart = now + restart_every * noise.uniform(0.5, 1.5)
    for client in clients:
        client.finish()
    took = monotonic() - begin
    server.settle()
    return Account(
        seconds=took,
        kills=(lives + 1) // 2,
        stops=lives // 2,
        requests=Counter({client.kind: client.answered for client in clients}),
        sent=frozenset().union(*(client.sent for client in clients)),
        acknowledged=frozenset().union(*(client.acknowledged for client in clients)),
        sealed=_sealed(folder),
        bad_answers=[answer for client in clients for answer in client.bad_answers],
        samples=samples,
    )


def _restarted(server: Serving, *, kill: bool) -> Serving:
    if kill:
        server.kill()
    else:
        assert server.stop() == 0, "".join(server.lines[-20:])
    return Serving(server.runs, *_QUICK, ports=server.ports)


class _Client(threading.Thread):
    """Sends requests of one kind, each until it is acknowledged; spoiled ones once."""

    def __init__(self, number: int, kind: str, seed: int, ports: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self.kind = kind
        self.answered = 0
        self.sent: set[Address] = set()
        self.acknowledged: set[Address] = set()
        self.bad_answers: list[str] = []
        self._number = number
        self._noise = random.Random(f"{seed} {kind}")  # told noise, no secret
        self._ports = ports
        self._done = threading.Event()
        self._requests = 0

    def run(self) -> None:
        waiting: Body | None = None
        while not self._done.is_set() or waiting is not None:
            try:
                with _KINDS[self.kind](self._ports) as send:
                    while not self._done.is_set() or waiting is not None:
                        waiting = waiting or self._request()
                        self._send(send, *waiting)
                        waiting = None
                        self._done.wait(_PAUSE)
            except (OSError, http.client.HTTPException, grpc.RpcError):
                threading.Event().wait(_PAUSE)  # the server is away: the same request again

    def finish(self) -> None:
        self._done.set()
        self.join()

    def _send(self, send: Callable[[bytes], str | None], body: bytes, addresses: list[Address]) -> None:
        self.sent.update(addresses)
        fault = send(body if self.kind not in _SPOILED_KINDS else mutated(body, self._noise))
        if fault is not None:
            self.bad_answers.append(fault)
        else:
            self.acknowledged.update(addresses)
        self.answered += 1

    def _request(self) -> Body:
        number, place = divmod(self._requests, _PER_TRACE)
        self._requests += 1
        first = place * _PER_REQUEST + 1
        spoiled = self.kind in _SPOILED_KINDS
        trace = ((_SPOILED if spoiled else _OURS) << 112) | (self._number << 64) | (number + 1)
        spans = range(first, first + _PER_REQUEST)
        words = {"gen_ai__tool__call__result": "x" * self._noise.randrange(200)}
        body = trace_request(*spans, trace=trace, root=place == 0, agent=place == 0, **words)
        if self.kind.endswith("JSON"):
            body = hex_json(body)
        return body, [] if spoiled else [(f"{trace:032x}", f"{span:016x}") for span in spans]


Sender = Callable[[bytes], str | None]
"""Sends one request; raises when it has to be sent again, returns what is wrong with an answer."""


@contextmanager
def _http(ports: Sequence[int], content_type: str, *, spoiled: bool = False) -> Iterator[Sender]:
    connection = http.client.HTTPConnection("127.0.0.1", ports[1], timeout=30)

    def post(body: bytes) -> str | None:
        connection.request("POST", "/v1/traces", body, {"Content-Type": content_type})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status == http.client.OK:
            return None
        if spoiled and answer.status // 100 == 4 and b"Traceback" not in said:  # refused
            return None
        if answer.status in _REFUSALS:
            raise ConnectionError(answer.status)
        return f"{answer.status} {said[:200]!r}"

    try:
        yield post
    finally:
        connection.close()


@contextmanager
def _grpc(ports: Sequence[int], *, spoiled: bool = False) -> Iterator[Sender]:
    options = [("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(f"127.0.0.1:{ports[0]}", options=options) as channel:
        call: Any = channel.unary_unary(EXPORT)

        def send(body: bytes) -> str | None:
            try:
                call(body, timeout=30)
            except grpc.RpcError as error:
                known: Any = error
                if spoiled and known.code() == grpc.StatusCode.INVALID_ARGUMENT and "Traceback" not in known.details():
                    return None
                if known.code() in _AGAIN:
                    raise
                return f"{known.code()} {known.details()}"
            return None

        yield send


_KINDS: dict[str, Callable[[Sequence[int]], Any]] = {
    "HTTP JSON": lambda ports: _http(ports, JSON),
    "HTTP protobuf": lambda ports: _http(ports, PROTOBUF),
    "gRPC": _grpc,
    "gRPC, a second client": _grpc,
    "spoiled HTTP JSON": lambda ports: _http(ports, JSON, spoiled=True),
    "spoiled HTTP protobuf": lambda ports: _http(ports, PROTOBUF, spoiled=True),
    "spoiled gRPC": lambda ports: _grpc(ports, spoiled=True),
}
_SPOILED_KINDS = frozenset(kind for kind in _KINDS if kind.startswith("spoiled"))


def _sample(server: Serving, second: float, life: int) -> Sample:
    pids = list(_family(server.process.pid))
    spool = server.runs / ".spool"
    runs = [entry for entry in os.scandir(server.runs) if entry.name != spool.name]
    return Sample(
        second=second,
        life=life,
        memory=sum(map(_resident, pids)),
        handles=sum(map(_handles, pids)),
        journal=_size(spool / "journal"),
        index=_size(spool) - _size(spool / "journal"),
        runs=sum(_size(Path(entry.path)) for entry in runs),
        sealed=len(runs),
    )


def _family(pid: int) -> Iterator[int]:
    """Yield a process and those it started."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread ended between two looks
            for child in task.read_text().split():
                yield from _family(int(child))


def _resident(pid: int) -> int:
    found = re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _handles(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208  # names alone, thousands of times


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(place, name).stat().st_size
            except OSError:
                continue  # sealed or removed between two looks
    return total


def _sealed(folder: Path) -> Counter[Address]:
    counted: Counter[Address] = Counter()
    ours = f"{_OURS:04x}"
    for file in folder.glob("*/session.json"):
        json.loads((file.parent / "receipt.json").read_bytes())
        for trace_id, span_ids in spans_of(read_session(file.read_bytes())).items():
            if trace_id.startswith(ours):
                counted.update((trace_id, span_id) for span_id in span_ids)
    return counted


def report_of(account: Account) -> str:
    """Return the report of a soak as a page."""
    spoiled = sum(count for kind, count in account.requests.items() if kind in _SPOILED_KINDS)
    sound = account.requests.total() - spoiled
    lines = [
        "# A receiver under mixed load",
        "",
        f"`make soak`: {account.seconds / 60:.0f} minutes, {sound:,} sound and {spoiled:,} spoiled requests;",
        f"{account.kills} kills and {account.stops} orderly restarts in the first third.",
        "",
        "| | |",
        "|---|--:|",
        *(f"| requests answered: {kind} | {count:,} |" for kind, count in account.requests.items()),
        f"| spans sent | {len(account.sent):,} |",
        f"| acknowledged | {len(account.acknowledged):,} |",
        f"| found in exactly one session | {sum(times == 1 for times in account.sealed.values()):,} |",
        f"| missing, doubled, unknown | {len(account.missing)}, {len(account.doubled)}, {len(account.unknown)} |",
        f"| wrong answers | {len(account.bad_answers)} |",
        "",
        "The last life of the server, first quarter against last (medians):",
        "",
        "| | first | last |",
        "|---|--:|--:|",
        _row("memory (RSS, all processes), MiB", account, lambda one: one.memory / _MIB),
        _row("file handles", account, lambda one: one.handles),
        _row("journal, MiB", account, lambda one: one.journal / _MIB),
        _row("index of what is sealed, bytes a session", account, lambda one: one.index / max(one.sealed, 1)),
        _row("sealed runs, bytes a session", account, lambda one: one.runs / max(one.sealed, 1)),
        "",
        "| minute | restarts | memory, MiB | handles | journal, KiB | sessions |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    step = max(len(account.samples) // 12, 1)
    lines += [
        f"| {one.second / 60:.1f} | {one.life} | {one.memory / _MIB:.0f} | {one.handles} | {one.journal / 1024:.0f}"
        f" | {one.sealed:,} |"
        for one in account.samples[::step]
    ]
    return "\n".join(lines) + "\n"


def _row(name: str, account: Account, of: Callable[[Sample], float]) -> str:
    first, last = account.growth(of)
    return f"| {name} | {first:,.1f} | {last:,.1f} |"


def faults_of(account: Account) -> list[str]:
    """Return what must not be."""
    memory, handles = account.growth(lambda one: one.memory), account.growth(lambda one: one.handles)
    journal = account.growth(lambda one: one.journal)
    checks = {
        f"{len(account.missing)} spans are missing": not account.missing,
        f"{len(account.doubled)} spans are doubled": not account.doubled,
        f"{len(account.unknown)} spans were never sent": not account.unknown,
        f"requests were answered with {account.bad_answers[:3]}": not account.bad_answers,
        f"memory grew from {memory[0]:,} to {memory[1]:,} bytes": memory[1] <= memory[0] * 1.25,
        f"file handles grew from {handles[0]} to {handles[1]}": handles[1] <= handles[0] + 8,
        f"the journal grew from {journal[0]:,} to {journal[1]:,} bytes": journal[1] <= journal[0] + _SEGMENT,
    }
    return [fault for fault, holds in checks.items() if not holds]


def main() -> int:
    """Soak as long as asked, print the report, and return 1 when anything was lost or grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--restart-every", type=float, default=30.0, help="seconds, on average")
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    account = soaked(options.folder, seconds=options.seconds, restart_every=options.restart_every)
    report, faults = report_of(account), faults_of(account)
    print(report, *faults, sep="\n")  # noqa: T201  # the script's own words
    if options.write is not None:
        options.write.write_text(report, encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
