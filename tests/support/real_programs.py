"""A real Collector, a real Jaeger and our own `serve`, each a process with ports of its own."""

import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from command import COMMAND

__all__ = ["Collector", "Jaeger", "Program", "Serving", "free_ports", "wait_until"]

ROOT = Path(__file__).parents[2]
INTEROP = ROOT / "tests" / "interop"
CONFIG = ROOT / "collector-config.yaml"

_SECONDS = 120


def wait_until(holds: Callable[[], object]) -> None:
    """Wait until something holds that no event tells of.

    Raises:
        TimeoutError: it does not hold after two minutes.
    """
    pause = threading.Event()
    for _ in range(_SECONDS * 20):
        if holds():
            return
        pause.wait(0.05)
    raise TimeoutError("what was waited for did not come")


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


class Program:
    """A process that says when it is ready."""

    def __init__(self, command: Sequence[str | Path], ready: str, environment: Mapping[str, str] | None = None) -> None:
        """Start it, and wait for the line that says it is ready."""
        self.lines: list[str] = []
        self._ready = threading.Event()
        self._is_ready = False
        self._word = ready
        words = list(map(str, command))
        held = {**os.environ, **(environment or {})}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            words, env=held, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._ready.wait(_SECONDS)
        if not self._is_ready:
            self.kill()
            raise RuntimeError(f"{words[0]} did not start:\n" + "".join(self.lines[-20:]))

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.decode("utf-8", "replace"))
            if self._word in self.lines[-1]:
                self._is_ready = True
                self._ready.set()
        self.process.stdout.close()
        self._ready.set()  # it ended

    def stop(self) -> int:
        """Ask it to end, wait until it has finished what it holds, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(_SECONDS)
        self._reader.join()
        return code

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        self.process.kill()
        self.process.wait(_SECONDS)
        self._reader.join()


_EVERYTHING = "Everything is ready"


class Jaeger(Program):
    """Jaeger with its store in memory."""

    def __init__(self, binary: Path) -> None:
        """Start it on free ports."""
        self.otlp, self.otlp_http, self.query, grpc = free_ports(4)
        names = ("JAEGER_OTLP_PORT", "JAEGER_OTLP_HTTP_PORT", "JAEGER_QUERY_PORT", "JAEGER_QUERY_GRPC_PORT")
        ports = map(str, (self.otlp, self.otlp_http, self.query, grpc))
        super().__init__(
            [binary, "--config", INTEROP / "jaeger" / "config.yaml"], _EVERYTHING, dict(zip(names, ports, strict=True))
        )

    @property
    def address(self) -> str:
        """What `diagnose` takes."""
        return f"jaeger://127.0.0.1:{self.query}"

    def get(self, path: str, **query: str | int) -> list[Any]:
        """Return the data of an answer of the query API."""
        with urlopen(f"http://127.0.0.1:{self.query}{path}?{urlencode(query)}", timeout=30) as answer:  # our own
            document = json.load(answer)
        assert not document.get("errors"), document["errors"]
        data: list[Any] = document["data"] or []
        return data

    def find(self, service: str, **tags: str) -> list[dict[str, Any]]:
        """Return the traces that a search on Jaeger's page finds, from all time."""
        more = {"tags": json.dumps(tags)} if tags else {}
        return self.get("/api/traces", service=service, start=0, end=4_000_000_000_000_000, limit=1500, **more)


class Collector(Program):
    """The Collector, with the configuration that we ship and what a test lays over it."""

    def __init__(self, binary: Path, *configs: Path, environment: Mapping[str, str]) -> None:
        """Start it on free ports."""
        self.grpc, self.http = free_ports(2)
        words = [word for config in configs or (CONFIG,) for word in ("--config", str(config))]
        ports = {"COLLECTOR_GRPC_PORT": str(self.grpc), "COLLECTOR_HTTP_PORT": str(self.http)}
        super().__init__([binary, *words], _EVERYTHING, {**ports, **environment})

    @property
    def endpoint(self) -> str:
        """Where it takes OTLP over HTTP."""
        return f"http://127.0.0.1:{self.http}"


class Serving(Program):
    """`critiqor-otel serve`, as a user starts it."""

    def __init__(self, runs: Path, *options: str, ports: Sequence[int] | None = None) -> None:
        """Start it on free ports, or on those given."""
        self.runs = runs
        self._options = options
        self.ports = tuple(free_ports(2)) if ports is None else ports
        grpc, http = map(str, self.ports)
        command = [
            COMMAND,
            "serve",
            "--runs",
            runs,
            "--grpc-port",
            grpc,
            "--http-port",
            http,
            "--log",
            "json",
            *options,
        ]
        super().__init__(command, '"event": "listening"')

    def settle(self) -> None:
        """Stop it with everything sealed: what there is no time for, another start and stop seals."""
        assert self.stop() == 0, "".join(self.lines[-20:])
        if any((self.runs / ".spool" / "journal").iterdir()):
            Serving(self.runs, *self._options).settle()

    @property
    def otlp(self) -> str:
        """Where it takes OTLP over gRPC, as the Collector names it."""
        return f"127.0.0.1:{self.ports[0]}"
