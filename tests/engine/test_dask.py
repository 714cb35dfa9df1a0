"""A Dask cluster of real processes gives what one reading gives, also when it loses a worker."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import COMMAND, LOOP, run_command
from scattered import copies, scatter, single_records

PATIENCE = 180  # seconds, on a machine that does other things too
GUIDE = Path(__file__).parents[2] / "docs" / "scale.md"
EXAMPLE = re.compile(r"<!-- run by tests/engine/test_dask.py -->\n```python\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dask") / "traces"
    scatter(copies(single_records([LOOP]), 200), folder, files=20, seed=1)
    return folder


@pytest.fixture(scope="module")
def expected(traces: Path) -> str:
    return run_command(traces.parent, "diagnose", "traces", "--format", "jsonl").out


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """Yield a scheduler's address and the processes of its two workers."""
    place = tmp_path / "scheduler.json"
    found = [started("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", place)]
    try:
        address = json.loads(when_written(place))["address"]
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard")
        workers = [started("dask_worker", *options, "--death-timeout", "60", place) for _ in range(2)]
        found += workers
        yield address, workers
    finally:
        for process in found:
            process.kill()
            process.communicate()


def started(module: str, *words: str | Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", f"distributed.cli.{module}", *words[:-1], "--scheduler-file", words[-1]]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def when_written(path: Path) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        text = path.read_text() if path.exists() else ""
        if text.rstrip().endswith("}"):
            return text
        os.sched_yield()
    raise TimeoutError("no scheduler came up")


def test_the_example_of_the_guide_prints_what_diagnose_prints(
    traces: Path, expected: str, cluster: tuple[str, object]
) -> None:
    found = EXAMPLE.search(GUIDE.read_text())
    assert found is not None
    (traces.parent / "example.py").write_text(found[1].replace("tcp://127.0.0.1:8786", cluster[0]))

    done = subprocess.run(
        [sys.executable, "example.py"], cwd=traces.parent, capture_output=True, check=True, timeout=PATIENCE
    )

    assert done.stdout.decode() == expected


def test_a_worker_that_is_lost_is_made_up_for(
    traces: Path, expected: str, cluster: tuple[str, list["subprocess.Popen[bytes]"]]
) -> None:
    address, workers = cluster
    words = [COMMAND, "diagnose", "traces", "--format", "jsonl", "--engine", "dask", "--scheduler", address]
    job = subprocess.Popen([*words, "--work", "shared"], cwd=traces.parent, stdout=subprocess.PIPE)
    until = time.monotonic() + PATIENCE
    while not list((traces.parent / "shared").glob("map-*.done")) and time.monotonic() < until:
        os.sched_yield()

    workers[0].kill()
    out, _ = job.communicate(timeout=PATIENCE)

    assert out.decode() == expected


def test_a_scheduler_that_cannot_be_reached_is_named(traces: Path) -> None:
    lost = run_command(traces.parent, "diagnose", "traces", "--engine", "dask", "--scheduler", "nothing://here")

    assert (lost.code, lost.out) == (2, "")
    assert "no Dask scheduler can be reached at nothing://here" in lost.err


def test_a_cluster_is_started_where_none_is_named(traces: Path, expected: str) -> None:
    found = run_command(traces.parent, "diagnose", "traces", "--format", "jsonl", "--engine", "dask", "--jobs", "2")

    assert found.out == expected


def test_files_elsewhere_are_read_through_fsspec(traces: Path, expected: str) -> None:
    address = f"local://{traces}"

    found = run_command(traces.parent, "diagnose", address, "--format", "jsonl", "--work", f"local://{traces.parent}/w")

    assert found.out == expected
