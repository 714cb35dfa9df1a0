"""What people see who sit at a terminal: colour, width, pages as text, and numbers that live."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import ioctl
from http.client import HTTPConnection
from pathlib import Path
from termios import TIOCSWINSZ

from command import CLEAN, COMMAND, LOOP
from real_programs import free_ports
from spool_support import trace_request

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
WIDTH = 70
PATIENCE = 60  # seconds without a word


class Terminal:
    """A command whose output and errors are a terminal."""

    def __init__(self, folder: Path, *words: str | Path, **environment: str) -> None:
        self.number, theirs = pty.openpty()
        ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 30, WIDTH, 0, 0))
        held = {name: text for name, text in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}
        self.process = subprocess.Popen(
            [COMMAND, *words], cwd=folder, stdout=theirs, stderr=theirs, env={**held, "TERM": "xterm", **environment}
        )
        os.close(theirs)
        self.raw = ""

    @property
    def shown(self) -> str:
        return ESCAPES.sub("", self.raw)

    def read_until(self, holds: Callable[[], bool] = lambda: False) -> None:
        """Read on until something holds, or the command has ended."""
        while not holds():
            if not select.select([self.number], [], [], PATIENCE)[0]:
                raise TimeoutError(self.raw)
            try:
                piece = os.read(self.number, 1 << 16)
            except OSError:  # the other end is closed
                return
            self.raw += piece.decode("utf-8", "replace")


@contextmanager
def terminal(folder: Path, *words: str | Path, **environment: str) -> Iterator[Terminal]:
    opened = Terminal(folder, *words, **environment)
    try:
        yield opened
    finally:
        opened.process.kill()
        opened.process.wait()
        os.close(opened.number)


def test_a_report_is_coloured_and_no_wider_than_the_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path, "diagnose", LOOP) as plain:
        plain.read_until()

    assert "\x1b[" in plain.raw
    assert "infinite_tool_loop" in plain.shown
    assert max(map(len, plain.shown.splitlines())) <= WIDTH


def test_a_timeline_is_cut_to_the_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path, "show", LOOP) as plain:
        plain.read_until()

    assert "\x1b[" in plain.raw
    assert "tool_call" in plain.shown
    assert max(map(len, plain.shown.splitlines())) <= WIDTH


def test_who_wants_no_colour_gets_none(tmp_path: Path) -> None:
    with terminal(tmp_path, "diagnose", LOOP, NO_COLOR="1") as plain:
        plain.read_until()

    assert "\x1b[" not in plain.raw
    assert "infinite_tool_loop" in plain.raw


def test_the_page_of_a_failure_type_is_set_for_reading(tmp_path: Path) -> None:
    with terminal(tmp_path, "explain", "infinite_tool_loop") as page:
        page.read_until()

    assert "What it does" in page.shown
    assert "## What it does" not in page.shown


def test_diagnose_watch_begins_each_report_on_an_empty_screen(tmp_path: Path) -> None:
    (tmp_path / "a.otlp.jsonl").write_bytes(CLEAN.read_bytes())
    with terminal(tmp_path, "diagnose", "a.otlp.jsonl", "--watch") as watching:
        watching.read_until(lambda: "whole where there are several" in watching.shown)
        (tmp_path / "a.otlp.jsonl").write_bytes(LOOP.read_bytes())
        watching.read_until(lambda: "infinite_tool_loop" in watching.shown)
        watching.process.send_signal(signal.SIGINT)
        watching.read_until()

    assert watching.raw.count("\x1b[2J") == 2


def test_serve_shows_its_numbers_until_ctrl_c(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    words = ("serve", "--runs", "runs", "--grpc-port", "none", "--http-port", str(port))
    with terminal(tmp_path, *words) as serving:
        serving.read_until(lambda: "open sessions" in serving.shown)
        send(port, trace_request(1, 2, 3, root=True))
        serving.read_until(lambda: re.search(r"│ +3 │ +0 │ +1 │", serving.shown) is not None)
        serving.process.send_signal(signal.SIGINT)
        serving.read_until()
        code = serving.process.wait()

    assert code == 0
    assert "stopping: open_sessions 1" in serving.shown
    assert "stopped: sealed 1" in serving.shown
    assert "gRPC off" in serving.shown


def send(port: int, body: bytes) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("POST", "/v1/traces", body, {"content-type": "application/x-protobuf"})
    assert connection.getresponse().status == 200
    connection.close()
