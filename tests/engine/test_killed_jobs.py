"""Jobs whose processes are killed, for real."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from command import COMMAND, LOOP, run_command
from scattered import copies, scatter, single_records

FILES = 40
PATIENCE = 120  # seconds, on a machine that does other things too


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job") / "traces"
    scatter(copies(single_records([LOOP]), 400), folder, files=FILES, seed=1)
    return folder


@pytest.fixture(scope="module")
def expected(traces: Path) -> str:
    return run_command(traces.parent, "diagnose", "traces", "--format", "jsonl").out


@contextmanager
def running(traces: Path, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    words = [COMMAND, "diagnose", "traces", "--format", "jsonl", "--work", "work", *options]
    process = subprocess.Popen(words, cwd=traces.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_parts(work: Path, count: int) -> int:
    """Wait until so many parts of a job are done; return how many are."""
    until = time.monotonic() + PATIENCE
    while (done := len(list(work.glob("*.done")))) < count:
        if time.monotonic() > until:
            raise TimeoutError(f"{done} parts are done")
        os.sched_yield()
    return done


def children_of(process: "subprocess.Popen[bytes]") -> list[int]:
    until = time.monotonic() + PATIENCE
    while not (found := _workers(process.pid)) and time.monotonic() < until:
        os.sched_yield()
    return found


def _workers(number: int) -> list[int]:
    """Return the worker processes there are now; one may have ended since it was listed."""
    found: list[int] = []
    for child in Path(f"/proc/{number}/task/{number}/children").read_text().split():
        with suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def test_a_job_that_was_killed_halfway_goes_on(traces: Path, expected: str) -> None:
    with running(traces, "--jobs", "2") as process:
        done = wait_for_parts(traces.parent / "work", FILES // 2)
        process.kill()

    resumed = run_command(
        traces.parent, "diagnose", "traces", "--format", "jsonl", "--work", "work", "--jobs", "2", "--resume"
    )

    kept, total = map(int, re.findall(r"(\d+) of (\d+) parts were done", resumed.err)[0])
    assert resumed.out == expected
    assert kept >= done
    assert done + (total - kept) <= 1.1 * total  # what is done, in both jobs together
    assert not (traces.parent / "work").exists()


def test_a_worker_that_is_killed_is_made_up_for(traces: Path, expected: str) -> None:
    with running(traces, "--jobs", "2") as process:
        wait_for_parts(traces.parent / "work", 3)
        os.kill(children_of(process)[-1], signal.SIGKILL)
        out, _ = process.communicate(timeout=PATIENCE)

    assert out.decode() == expected


def test_workers_end_when_the_job_is_killed(traces: Path) -> None:
    with running(traces, "--jobs", "2") as process:
        wait_for_parts(traces.parent / "work", 3)
        workers = children_of(process)
        process.kill()
        process.wait()

    until = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{number}").exists() for number in workers) and time.monotonic() < until:
        os.sched_yield()
    assert workers
    assert not any(Path(f"/proc/{number}").exists() for number in workers)


def test_changed_input_is_not_gone_on_with(traces: Path) -> None:
    with running(traces, "--jobs", "2") as process:
        wait_for_parts(traces.parent / "work", 3)
        process.kill()
    os.utime(traces / "part-000.jsonl")

    resumed = run_command(
        traces.parent, "diagnose", "traces", "--format", "jsonl", "--work", "work", "--jobs", "2", "--resume"
    )

    assert resumed.code == 2
    assert "the input changed since this work began" in resumed.err


def test_a_folder_with_other_things_in_it_is_left_alone(traces: Path) -> None:
    theirs = traces.parent / "theirs"
    theirs.mkdir()
    (theirs / "thesis.tex").write_text("years of work")

    refused = run_command(traces.parent, "diagnose", "traces", "--work", "theirs")

    assert refused.code == 2
    assert (theirs / "thesis.tex").read_text() == "years of work"


def test_one_request_made_twice_at_once_works_in_two_folders(traces: Path, expected: str) -> None:
    words = [COMMAND, "diagnose", "traces", "--format", "jsonl", "--jobs", "1"]

    jobs = [subprocess.Popen(words, cwd=traces.parent, stdout=subprocess.PIPE, text=True) for _ in range(2)]

    assert [job.communicate(timeout=PATIENCE)[0] for job in jobs] == [expected, expected]
