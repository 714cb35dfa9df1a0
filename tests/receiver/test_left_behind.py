"""A `run` that is killed loses nothing: the next `run`, `serve` or `finalize` of its folder seals what it left."""

import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from threading import Event, Thread
from urllib.request import Request, urlopen

import pytest
from command import COMMAND, run_command
from receiving import PROTOBUF
from spool_support import trace_request

from analyzer.session.codec import read_session
from critiqor_otel.spool.sealed_index import spans_of
from critiqor_otel.spool.spool_folder import SpoolFolder, SpoolLock
from critiqor_otel.testing import embedded_receiver

TRACE, SPAN = f"{1:032x}", f"{7:016x}"


def kill_a_run(folder: Path) -> None:
    """Kill a `run` when it has acknowledged a span that names no run."""
    words = [COMMAND, "run", "--run-id", "killed", "--", "sh", "-c", "echo $OTEL_EXPORTER_OTLP_ENDPOINT; cat"]
    process = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    endpoint = process.stdout.readline().strip()
    request = Request(f"{endpoint}/v1/traces", trace_request(7), {"Content-Type": PROTOBUF})  # noqa: S310  # ours
    with urlopen(request, timeout=20) as answer:  # noqa: S310  # our own receiver
        assert answer.status == 200
    process.kill()
    process.communicate()  # the command ends with its input


def next_run(folder: Path) -> str:
    return run_command(folder, "run", "--run-id", "next", "--fail-on", "low", "--", "true").err


def next_finalize(folder: Path) -> str:
    return run_command(folder, "finalize", "killed").err


def next_receiver(folder: Path) -> None:
    with embedded_receiver(folder / "runs") as receiver:
        assert receiver.flush()


def runs_with_the_span(runs: Path) -> list[str]:
    files = sorted(runs.glob("*/session.json"))
    return [file.parent.name for file in files if SPAN in spans_of(read_session(file.read_bytes())).get(TRACE, {})]


@pytest.mark.parametrize("where", ["alone", "beside a receiver"])
@pytest.mark.parametrize("comes", [next_run, next_finalize, next_receiver])
def test_what_a_killed_run_left_is_sealed_by_whoever_comes_next(
    tmp_path: Path, where: str, comes: Callable[[Path], str | None]
) -> None:
    with embedded_receiver(tmp_path / "runs") if where != "alone" else nullcontext():
        kill_a_run(tmp_path)
    assert not (tmp_path / "runs" / "killed").exists()

    said = comes(tmp_path)

    assert said is None or "left-behind" in said
    assert runs_with_the_span(tmp_path / "runs") == ["killed"]
    assert [*SpoolFolder(tmp_path / "runs").beside.glob("*")] == []


def test_a_run_is_not_judged_by_what_another_left(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    kill_a_run(tmp_path)

    done = run_command(tmp_path, "run", "--run-id", "next", "--fail-on", "low", "--", "true")

    assert done.code == 0
    assert "left-behind" in done.err
    assert TRACE not in read_session((tmp_path / "runs" / "next" / "session.json").read_bytes()).trace_ids


def test_a_receiver_waits_for_the_owner_of_one_that_was_killed(tmp_path: Path) -> None:
    SpoolFolder(tmp_path).make()
    lock = SpoolLock(SpoolFolder(tmp_path), "owner")
    entered, leave = Event(), Event()

    def enter() -> None:
        with embedded_receiver(tmp_path):
            entered.set()
            leave.wait(20)

    thread = Thread(target=enter)
    thread.start()
    assert not entered.wait(1)
    lock.release()

    assert entered.wait(20)
    leave.set()
    thread.join()
