"""A disk that is full: nothing is acknowledged that is not kept, and what was kept is sealed once there is room."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from spool_support import Spool, read_all, record, trace_request

from critiqor_otel.errors import JournalError
from critiqor_otel.spool.journal import Journal, JournalLimits
from critiqor_otel.spool.open_sessions import Patience

_PROBE = 4096


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_record_that_does_not_fit_is_refused_and_those_before_it_stay(tmp_path: Path) -> None:
    journal = Journal(tmp_path, limits=JournalLimits())
    kept = [record(bytes([number]) * 1000) for number in range(5)]
    with largest_file(6000):
        for one in kept:
            journal.write(one)
        with pytest.raises(JournalError, match="cannot be written"):
            journal.write(record(b"x" * 3000))
    again = record(b"room again")
    journal.write(again)
    journal.close()

    assert [found.record for found in read_all(tmp_path)] == [*kept, again]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of one megabyte, where that is allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place],  # noqa: S607  # wherever it is
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", place], check=True)  # noqa: S607  # wherever it is


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is Linux's")
def test_on_a_full_disk_every_acknowledged_span_is_kept_and_sealed_when_there_is_room(small_disk: Path) -> None:
    spool = Spool(small_disk / "runs", Patience())
    filler = small_disk / "filler"
    filler.write_bytes(b"")
    acknowledged = set()
    refused = 0
    for number in range(2, 400):
        if number == 100:
            fill(filler)
        try:
            spool.send(trace_request(number, critiqor__run_id="mine", text="x" * 500))
        except JournalError:
            refused += 1
        else:
            acknowledged.add((f"{1:032x}", f"{number:016x}"))
    spool.wait(61)
    assert refused > 0
    assert spool.owner.tally.failing == 1
    assert spool.sessions() == {}

    filler.unlink()
    spool.wait(3)

    assert spool.addresses() == dict.fromkeys(acknowledged, 1)
    assert list(spool.folder.runs.glob("*/.*.aside")) == []
    spool.crash()


def fill(filler: Path) -> None:
    with filler.open("ab", buffering=0) as file:
        for size in (_PROBE, 1):
            while True:
                try:
                    file.write(b"x" * size)
                except OSError:
                    break
    assert filler.stat().st_size > _PROBE
