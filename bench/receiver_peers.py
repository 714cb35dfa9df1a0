"""What a span costs other receivers of agent traces, each installed from the registry in an environment of its own."""

import http.client
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from environments import installed

__all__ = ["PEERS", "Found", "Peer", "weighed"]

PATIENCE = 600  # seconds until a receiver is given up
QUIET = 3  # seconds without work after which one is taken to be done with what it acknowledged
START_SECONDS = 120
IDLE_SECONDS = 0.1  # of CPU, what a server takes for nothing in half a second
TICKS = os.sysconf("SC_CLK_TCK")


class Peer(NamedTuple):
    """How a receiver is installed and started."""

    package: str
    words: tuple[str, ...]
    """The command; {http} and {grpc} are ports, {folder} is where it may keep things."""
    variables: tuple[tuple[str, str], ...] = ()
    has_room: bool = True
    """It takes the whole load of the bench without an error, not only a tenth."""


PEERS = (
    Peer("spanhound", ("spanhound", "collect", "--port", "{http}", "--trace-dir", "{folder}")),
    Peer(
        "agentevals-cli",
        (
            *("agentevals", "serve", "--headless", "--port", "{ui}", "--api-grpc-port", "0"),
            *("--otlp-http-port", "{http}", "--otlp-grpc-port", "{grpc}"),
        ),
        has_room=False,
    ),
    Peer(
        "arize-phoenix",
        ("phoenix", "serve"),
        (("PHOENIX_PORT", "{http}"), ("PHOENIX_GRPC_PORT", "{grpc}"), ("PHOENIX_WORKING_DIR", "{folder}")),
    ),
)


class Found(NamedTuple):
    """What a load cost a receiver."""

    spans_a_second: float
    """Until all requests were answered."""
    cpu_seconds: float
    """Of all its processes, until it had nothing more to do."""
    errors: int


def weighed(peer: Peer, folder: Path, send: Callable[[str], int], spans: int) -> Found:
    """Start a peer, send it a load by a function from its address to the number of errors, and weigh it."""
    with _serving(peer, folder) as (number, address):
        before, began = _tree_seconds(number), time.monotonic()
        errors = send(address)
        answered = time.monotonic() - began
        _wait_until_quiet(number)
        return Found(spans / answered, _tree_seconds(number) - before, errors)


@contextmanager
def _serving(peer: Peer, folder: Path) -> Iterator[tuple[int, str]]:
    command = installed(peer.package, folder, peer.words)
    kept = folder / f"{peer.package}-data"
    kept.mkdir(exist_ok=True)
    places = {"http": _free_port(), "grpc": _free_port(), "ui": _free_port(), "folder": kept}
    words = [word.format(**places) for word in command]
    variables = {name: value.format(**places) for name, value in peer.variables}
    process = subprocess.Popen(
        words, cwd=kept, env={**os.environ, **variables}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        address = f"127.0.0.1:{places['http']}"
        _wait_until_open(process, address)
        yield process.pid, address
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_until_open(process: "subprocess.Popen[bytes]", address: str) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        connection = http.client.HTTPConnection(address, timeout=5)
        try:
            connection.request("GET", "/")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.5)
        else:
            return
        finally:
            connection.close()
    raise TimeoutError(f"nothing listens on {address}")


def _wait_until_quiet(number: int) -> None:
    until = time.monotonic() + PATIENCE
    last, since = _tree_seconds(number), time.monotonic()
    while time.monotonic() < until and time.monotonic() - since < QUIET:
        time.sleep(0.5)
        now = _tree_seconds(number)
        if now - last > IDLE_SECONDS:
            last, since = now, time.monotonic()


def _tree_seconds(number: int) -> float:
    """Return the CPU time of a process and of all it started."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS + sum(_tree_seconds(int(child)) for child in children)
