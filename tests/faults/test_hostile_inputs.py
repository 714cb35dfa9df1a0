"""Nothing that a stranger writes into a trace ends a diagnosis, or holds it for more than a second a megabyte."""

import gc
import gzip
import json
import resource
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from command import COMMAND
from hostile_traces import HOSTILE, MEGABYTE, request, span, text, tool

from analyzer.diagnosis import Profile
from critiqor_otel.decode.otlp_json import decode_traces
from critiqor_otel.engine.local import diagnosed, gather, runs_of

SECONDS_A_MEGABYTE = 1.0
_MEASURED = """
import resource, subprocess, sys
nowhere = subprocess.DEVNULL
code = subprocess.run(sys.argv[1:], stdout=nowhere, stderr=nowhere).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, code)
"""


def processor_seconds(file: Path) -> tuple[float, int]:
    """Diagnose the file; return the processor time that took, whoever else is busy, and the exit code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [COMMAND, "diagnose", file, "--quiet", "--format", "json", "--output", file.with_suffix(".verdict")]
    code = subprocess.run(command, check=False, capture_output=True, timeout=300).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, code


@pytest.fixture(scope="module")
def start_up(tmp_path_factory: pytest.TempPathFactory) -> float:
    """What a diagnosis of next to nothing takes."""
    file = tmp_path_factory.mktemp("nothing") / "trace.json"
    file.write_bytes(b'{"resourceSpans":[]}')
    return processor_seconds(file)[0]


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_megabyte_is_diagnosed_within_a_second(kind: str, tmp_path: Path, start_up: float) -> None:
    data = HOSTILE[kind]()
    file = tmp_path / "trace.json"
    file.write_bytes(data)

    took, code = processor_seconds(file)

    assert code in {0, 1}
    assert took - start_up <= SECONDS_A_MEGABYTE * max(len(data) / MEGABYTE, 1)


@pytest.mark.parametrize("letter", [b"[", b'{"a":', b'"', b" ", b"\0", b"1"])
def test_a_compressed_bomb_is_refused_in_little_memory(letter: bytes, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.jsonl.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        for _ in range(96):
            file.write(letter * (MEGABYTE // len(letter)))

    peak, code = peak_megabytes([COMMAND, "diagnose", bomb, "--quiet"])

    assert code == 3
    assert peak < 400


def peak_megabytes(command: list[str | Path]) -> tuple[int, int]:
    """Run the command; return the most memory it took at once, and its exit code.

    A process counts what it was before it became the command, so a small one starts it in place of this one.
    """
    done = subprocess.run([sys.executable, "-c", _MEASURED, *command], check=True, capture_output=True, text=True)
    peak, code = map(int, done.stdout.split())
    return peak // 1024, code


def test_long_words_of_many_runs_are_not_remembered() -> None:
    """What a receiver that diagnoses keeps of strangers, run after run, is none of their long names and words."""
    longs = 20_000
    runs = [run_of_long_words(f"{number:04d}" + "x" * longs) for number in range(120)]
    diagnosed_at_once(runs[:20])  # loads what is loaded once

    tracemalloc.start()
    try:
        diagnosed_at_once(runs[20:])
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < 100 * longs / 4


def run_of_long_words(word: str) -> bytes:
    """Return a run that bears the word as its id, the name of its tool, an argument, an id, an error and an answer."""
    called = tool(json.dumps({word: word, "order_id": word}), json.dumps({"id": word, f"{word}_id": 1}), word)
    named = {"session.id": text(word), "gen_ai.conversation.id": text(word), "service.name": text(word)}
    failed = {"status": {"code": 2, "message": word}}
    again = span(3, {**tool(json.dumps({"order_id": f"{word} {word}/a.txt"}), word, f"recall_{word}"), **named})
    return request([span(0, {**called, **named}), span(1, {**called, **named}, **failed), again])


def diagnosed_at_once(requests: list[bytes]) -> None:
    for body in requests:
        sessions = runs_of(gather([decode_traces(body)])).sessions
        assert len(list(diagnosed(sessions, profile=Profile.STANDARD))) == 1
