"""A server that is killed again and again under load, and the account of what it acknowledged."""

import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import grpc
from receiving import EXPORT
from spool_support import trace_request

from analyzer.session.codec import read_session
from critiqor_otel.spool.sealed_index import spans_of

__all__ = ["Account", "killed_under_load"]

_SERVER = """
import sys
from pathlib import Path
from critiqor_otel.receiver.config import ReceiverConfig
from critiqor_otel.receiver.receiver import Receiver
from critiqor_otel.spool.journal import JournalLimits
from critiqor_otel.spool.open_sessions import Patience
from critiqor_otel.spool.owner import OwnerSettings

patience = Patience(after_root_ns=50_000_000, idle_ns=400_000_000, decoded_bytes=20_000, most_spans=60)
config = ReceiverConfig(
    runs=Path(sys.argv[1]), grpc_port=0, http_port=0, owner=sys.argv[2],
    journal=JournalLimits(segment=20_000), sessions=OwnerSettings(patience=patience),
    shutdown_seconds=1200,  # the last server is to seal all, so that the files alone are the account
)
with Receiver(config, tell=lambda word, facts: print("told", word, facts, flush=True)) as receiver:
    print(receiver.http_endpoint, receiver.grpc_endpoint, flush=True)
    sys.stdin.read()
"""
_CLIENTS = 4


class Account(NamedTuple):
    """What came of all the kills."""

    acknowledged: frozenset[tuple[str, str]]
    sent: frozenset[tuple[str, str]]
    sealed: Counter[tuple[str, str]]
    """How many session files each span is in."""
    told: list[str]
    """What the server found odd."""

    @property
    def missing(self) -> set[tuple[str, str]]:
        return set(self.acknowledged - self.sealed.keys())

    @property
    def doubled(self) -> set[tuple[str, str]]:
        return {address for address, times in self.sealed.items() if times > 1}

    @property
    def unknown(self) -> set[tuple[str, str]]:
        return set(self.sealed.keys() - self.sent)


def killed_under_load(folder: Path, *, kills: int, seed: int, owner: str = "thread") -> Account:
    """Kill a server with SIGKILL at random moments under load, start it again each time, and settle the account."""
    noise = random.Random(seed)  # told noise, no secret
    load = _Load(seed)
    told: list[str] = []
    for _ in range(kills):
        server = _Server(folder, owner)
        load.run(server, seconds=noise.uniform(0.02, 0.6))
        told += server.kill()
    last = _Server(folder, owner)
    load.send_again(last)
    told += last.stop()
    return Account(frozenset(load.acknowledged), frozenset(load.sent), _sealed(folder), told)


class _Server:
    def __init__(self, folder: Path, owner: str) -> None:
        words = [sys.executable, "-c", _SERVER, str(folder), owner]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)  # our own server
        assert self._process.stdout is not None
        lines: list[str] = []
        while not (line := self._process.stdout.readline()).startswith("http"):
            if not line:
                self._process.communicate()
                raise RuntimeError(f"the server did not start: exit code {self._process.returncode}")
            lines.append(line)
        self._lines = lines
        self.http, self.grpc = (place.removeprefix("http://") for place in line.split())

    def kill(self) -> list[str]:
        os.kill(self._process.pid, signal.SIGKILL)
        return self._rest()

    def stop(self) -> list[str]:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.stdin = None
        rest = self._rest()
        assert self._process.returncode == 0
        return rest

    def _rest(self) -> list[str]:
        out, _ = self._process.communicate(timeout=1300)
        return [*self._lines, *out.splitlines()]


class _Load:
    """Clients that send spans of many runs, keep account of the answers, and repeat what got none."""

    def __init__(self, seed: int) -> None:
        self.sent: set[tuple[str, str]] = set()
        self.acknowledged: set[tuple[str, str]] = set()
        self._noise = [random.Random(f"{seed}-{client}") for client in range(_CLIENTS)]  # told noise
        self._unanswered: list[list[tuple[bytes, list[tuple[str, str]]]]] = [[] for _ in range(_CLIENTS)]
        self._span = [0] * _CLIENTS
        self._threads: list[threading.Thread] = []

    def run(self, server: _Server, *, seconds: float) -> None:
        """Send until so much time has passed, and leave the clients at it: what follows kills the server under them."""
        self._join()
        self._threads = [threading.Thread(target=self._client, args=(n, server)) for n in range(_CLIENTS)]
        for thread in self._threads:
            thread.start()
        threading.Event().wait(seconds)

    def send_again(self, server: _Server) -> None:
        self._join()
        for number in range(_CLIENTS):
            with _sender(number, server) as send:
                for body, spans in self._unanswered[number]:
                    send(body)
                    self.acknowledged.update(spans)

    def _join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _client(self, number: int, server: _Server) -> None:
        with _sender(number, server) as send:
            self._send_on(number, send)

    def _send_on(self, number: int, send: Callable[[bytes], object]) -> None:
        waiting, self._unanswered[number] = self._unanswered[number], []
        while True:
            body, spans = waiting.pop() if waiting else self._request(number)
            self.sent.update(spans)
            try:
                send(body)
            except (OSError, http.client.HTTPException, grpc.RpcError):
                self._unanswered[number] += [*waiting, (body, spans)]
                return
            self.acknowledged.update(spans)

    def _request(self, number: int) -> tuple[bytes, list[tuple[str, str]]]:
        noise = self._noise[number]
        trace = number * 1_000_000 + self._span[number] // 40 + noise.randrange(3) + 1
        self._span[number] += 1
        first = self._span[number] * 10 + 2
        numbers = list(range(first, first + noise.randrange(1, 8)))
        root = noise.random() < 0.2
        key = {"critiqor__run_id": f"run {trace}"} if trace % 3 == 0 else {}
        body = trace_request(*numbers, trace=trace, root=root, agent=root, **key)
        return body, [(f"{trace:032x}", f"{span:016x}") for span in numbers]


@contextmanager
def _sender(number: int, server: _Server) -> Iterator[Callable[[bytes], object]]:
    """Yield what sends one request and raises when it was not acknowledged; gRPC and HTTP take turns."""
    if number % 2:
        with grpc.insecure_channel(server.grpc, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
            call: Any = channel.unary_unary(EXPORT)
            yield lambda body: call(body, timeout=30)
        return
    connection = http.client.HTTPConnection(server.http, timeout=30)

    def post(body: bytes) -> None:
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf"})
        answer = connection.getresponse()
        answer.read()
        if answer.status != http.client.OK:
            raise ConnectionError(answer.status)

    try:
        yield post
    finally:
        connection.close()


def _sealed(folder: Path) -> Counter[tuple[str, str]]:
    counted: Counter[tuple[str, str]] = Counter()
    for file in folder.glob("*/session.json"):
        session = read_session(file.read_bytes())
        json.loads((file.parent / "receipt.json").read_bytes())
        for trace_id, span_ids in spans_of(session).items():
            counted.update((trace_id, span_id) for span_id in span_ids)
    assert list(folder.glob("*/.*.aside")) == []
    return counted


def main() -> None:
    """Kill as often as asked, and print the account."""
    kills, folder = int(sys.argv[1]), Path(sys.argv[2])
    for owner in ("thread", "process"):
        shutil.rmtree(folder, ignore_errors=True)
        account = killed_under_load(folder, kills=kills // 2, seed=kills, owner=owner)
        counts = {
            name: len(getattr(account, name)) for name in ("acknowledged", "missing", "doubled", "unknown", "told")
        }
        print(f"{owner}: {kills // 2} kills, {counts}")  # noqa: T201  # the script's own words
        if account.missing or account.doubled or account.unknown:
            sys.exit(1)


if __name__ == "__main__":
    main()
