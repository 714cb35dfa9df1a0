"""The command as tests start it, and the captured traces they give it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

__all__ = ["CAPTURES", "CLEAN", "COMMAND", "FURTHER_CAPTURES", "LOOP", "Critiqor", "Outcome", "run_command"]

CAPTURES = Path(__file__).parents[1] / "cases" / "captures"
FURTHER_CAPTURES = CAPTURES.with_name("further_captures")
LOOP = CAPTURES / "pydantic_ai" / "repeat_identical_calls.otlp.jsonl"
CLEAN = CAPTURES / "pydantic_ai" / "clean_two_tools.otlp.jsonl"
COMMAND = Path(sys.executable).with_name("critiqor-otel")


class Outcome(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


Critiqor = Callable[..., Outcome]


def run_command(folder: Path, *arguments: str | Path, stdin: bytes | None = None) -> Outcome:
    """Run the command in a folder."""
    done = subprocess.run([COMMAND, *arguments], cwd=folder, input=stdin, capture_output=True, check=False, timeout=120)
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
