"""What a terminal shows of a job in parts."""

import os
import pty
import re
import subprocess
from pathlib import Path

from command import COMMAND

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_the_bar_tells_how_much_is_done_how_fast_and_how_long_it_takes(folder: Path) -> None:
    words = [COMMAND, "diagnose", "traces", "--jobs", "1", "--output", "report.txt"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(words, cwd=folder, stderr=theirs):
        os.close(theirs)
        shown = ESCAPES.sub("", read_all(ours))
    os.close(ours)

    assert re.search(r"reading .*kB.*left 0:00:00", shown)
    assert re.search(r"diagnosing .*kB.*left 0:00:00", shown)
    assert "gathering" not in shown  # no run lies in two parts


def read_all(number: int) -> str:
    pieces: list[bytes] = []
    while True:
        try:
            piece = os.read(number, 1 << 16)
        except OSError:  # the other end is closed
            return b"".join(pieces).decode()
        if not piece:
            return b"".join(pieces).decode()
        pieces.append(piece)
