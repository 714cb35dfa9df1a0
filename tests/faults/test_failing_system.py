"""What the system refuses (a sync, a handle, memory, a folder, a clock that goes on) loses nothing acknowledged."""

import http.client
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import CAPTURES, COMMAND, LOOP
from failing_disk import failing_disk
from spool_support import SECOND, Spool, trace_request

from analyzer.session.codec import read_session
from critiqor_otel.spool.sealed_index import spans_of

_SERVER = """
import sys
from pathlib import Path
from critiqor_otel.receiver.config import ReceiverConfig
from critiqor_otel.receiver.receiver import Receiver

with Receiver(ReceiverConfig(runs=Path(sys.argv[1]), grpc_port=None, http_port=0)) as receiver:
    print(receiver.http_endpoint, flush=True)
    sys.stdin.read()
"""
_REFUSED = 503


class Server:
    """A receiver in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.place = process.stdout.readline().strip().removeprefix("http://")

    def send(self, number: int) -> int:
        """Send a span; return the status."""
        connection = http.client.HTTPConnection(self.place, timeout=20)
        try:
            connection.request("POST", "/v1/traces", trace_request(number), {"content-type": "application/x-protobuf"})
            return connection.getresponse().status
        finally:
            connection.close()


@contextmanager
def serving(runs: Path, env: dict[str, str] | None = None, **options: Any) -> Iterator[Server]:
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, runs],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
        **options,
    )
    try:
        yield Server(process)
    finally:
        process.communicate(timeout=60)
    assert process.returncode == 0


def limited(kind: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (most, most))


def kept(runs: Path) -> set[int]:
    sessions = [read_session(file.read_bytes()) for file in runs.glob("*/session.json")]
    found = [span_id for session in sessions for span_ids in spans_of(session).values() for span_id in span_ids]
    assert len(found) == len(set(found))
    return {int(span_id, 16) for span_id in found}


def test_what_cannot_be_synced_is_refused_and_comes_through_when_the_disk_works_again(tmp_path: Path) -> None:
    sign = tmp_path / "fails"
    with serving(tmp_path / "runs", env=failing_disk(tmp_path, sign)) as server:
        before = server.send(2)
        sign.touch()
        while_failing = [server.send(3), server.send(4)]
        sign.unlink()
        after = server.send(3)

    assert (before, while_failing, after) == (200, [_REFUSED, _REFUSED], 200)
    assert kept(tmp_path / "runs") == {2, 3}


def test_out_of_file_handles_the_receiver_goes_on_when_there_are_some_again(tmp_path: Path) -> None:
    with serving(tmp_path / "runs", preexec_fn=limited(resource.RLIMIT_NOFILE, 48)) as server:
        first = server.send(2)
        host, port = server.place.split(":")
        crowd = [socket.create_connection((host, int(port)), timeout=20) for _ in range(100)]
        for one in crowd:
            one.close()
        again = first_success(server, 3)

    assert (first, again) == (200, 200)
    assert kept(tmp_path / "runs") == {2, 3}


def first_success(server: Server, number: int) -> int:
    """Send until it is taken, as an exporter would; each try waits for its answer or its end."""
    for _ in range(200):
        try:
            status = server.send(number)
        except OSError:
            continue
        if status == 200:
            return status
    return 0


def test_without_the_memory_for_it_a_diagnosis_says_so(tmp_path: Path) -> None:
    data = LOOP.read_bytes()
    large = tmp_path / "large.otlp.jsonl"
    with large.open("wb") as file:
        for number in range(3000):
            file.write(data.replace(b'"traceId":"', b'"traceId":"%08x' % number, 1) + b"\n")
    limit = limited(resource.RLIMIT_AS, 400 << 20)

    done = subprocess.run(
        [COMMAND, "diagnose", large, "--quiet", "--jobs", "1"], capture_output=True, check=False, preexec_fn=limit
    )

    assert done.returncode in {0, 1, 2}
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a read-only disk")
def test_on_a_disk_that_may_only_be_read_it_is_said_what_cannot_be_written(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["/usr/bin/env", "mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        serve = subprocess.run(
            [COMMAND, "serve", "--runs", place / "runs"], capture_output=True, check=False, timeout=60
        )
        sessions = subprocess.run(
            [COMMAND, "sessions", LOOP, "--output", place / "runs"], capture_output=True, check=False, timeout=60
        )
    finally:
        subprocess.run(["/usr/bin/env", "umount", place], check=True)

    assert (serve.returncode, sessions.returncode) == (2, 2)
    assert b"Read-only file system" in serve.stderr
    assert b"Read-only file system" in sessions.stderr


def test_a_clock_that_goes_back_neither_loses_nor_doubles_a_span(spool: Spool) -> None:
    spool.send(trace_request(1, 2, root=True))
    spool.step()
    spool.now_ns -= 3600 * SECOND
    spool.send(trace_request(3))
    spool.step()
    spool.wait(3600 + 120)
    spool.wait(61)  # no agent speaks in it, so it waits once more for others of its service

    assert spool.addresses() == {(f"{1:032x}", f"{number:016x}"): 1 for number in (1, 2, 3)}


def test_a_damaged_file_among_many_costs_itself_alone(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    subprocess.run([COMMAND, "sessions", CAPTURES / "pydantic_ai", "--output", runs, "--quiet"], check=True)
    files = sorted(runs.glob("*/session.json"))
    files[0].chmod(0o600)
    files[0].write_bytes(files[0].read_bytes()[:1000])
    (runs / "history.sqlite").write_bytes(b"no store at all")

    done = subprocess.run([COMMAND, "diagnose", runs, "--format", "csv"], capture_output=True, check=False)

    assert done.returncode in {0, 1}
    assert len(done.stdout.splitlines()) == len(files)  # the head, and all runs but one
    assert files[0].parent.name.encode() in done.stderr
    assert b"history" in done.stderr
