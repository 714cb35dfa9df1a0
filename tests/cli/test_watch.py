"""`diagnose --watch` as a user runs it: it prints again when a trace comes in, and ends with Ctrl-C."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command import CLEAN, COMMAND, LOOP, Critiqor


@contextmanager
def watching(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [COMMAND, "diagnose", "traces", "--watch", "--format", "jsonl", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_a_new_trace_is_diagnosed_as_it_comes(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    shutil.copyfile(CLEAN, tmp_path / "traces" / "a.otlp.jsonl")
    with watching(tmp_path) as process:
        first = line(process)
        shutil.copyfile(LOOP, tmp_path / "traces" / "b.otlp.jsonl")
        second = [line(process), line(process)]
        process.send_signal(signal.SIGINT)

        assert process.wait(30) == 130
    assert first in second
    assert any("infinite_tool_loop" in one for one in second)


def test_what_cannot_be_read_again_is_not_watched(critiqor: Critiqor) -> None:
    done = critiqor("diagnose", "-", "--watch")

    assert done.code == 2
    assert "'-' is neither" in done.err
