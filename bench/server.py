"""A receiver that runs as users start it, and what it costs."""

import http.client
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from load import Load, at_once, send_grpc, send_http

__all__ = ["Server", "send", "send_all", "serving"]

_SCHEDULED = 2  # which of a process's clocks: the time it ran (Linux, posix-timers.h)
SEAL_SECONDS = 1800


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
    words = [sys.executable, "-c", "from critiqor_otel.cli.main import main; main()", "serve", "--runs", str(runs)]
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
    one, address = {"http": (send_http, server.http), "grpc": (send_grpc, server.grpc)}[transport]
    return at_once(load, clients, lambda bodies: one(address, bodies))


def _cpu_seconds(number: int) -> float:
    """Return the CPU time of another process by its own clock: /proc counts in hundredths of a second."""
    return time.clock_gettime((~number << 3) | _SCHEDULED)


def _resident_bytes(number: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{number}/status").read_text())
    return 0 if found is None else int(found[1]) * 1024
