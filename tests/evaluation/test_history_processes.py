"""Many processes at one history, and processes that are killed while they save."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer.evaluation import History, load_evaluations

SAVE_MANY = """
import sys
from pathlib import Path
from analyzer.evaluation import EvaluationRecord, History, save_evaluation
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
history = History(path) if path.endswith(".sqlite") and count > 1000 else None
for number in range(count):
    record = EvaluationRecord.from_dict({"run_id": f"{name}-{number}", "scores": {"reasoning": number % 100}})
    history.save(record) if history else save_evaluation(record, path)
"""

SAVE_FOREVER = """
import sys
from itertools import count
from analyzer.evaluation import EvaluationRecord, save_evaluation
for number in count():
    record = EvaluationRecord.from_dict({"run_id": str(number), "timestamp": str(1700000000 + number)})
    save_evaluation(record, sys.argv[1])
    print(number, flush=True)
"""


def started(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(
    ("file", "each"),
    [("e.jsonl", 5000), ("h.sqlite", 5000), ("h.sqlite", 200)],
    ids=["lines", "store", "store by path"],
)
def test_two_processes_that_save_at_once_lose_nothing(tmp_path: Path, file: str, each: int) -> None:
    path = tmp_path / file
    writers = [started(SAVE_MANY, str(path), name, str(each)) for name in ("a", "b")]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.communicate("go\n")

    saved = load_evaluations(path)

    assert [writer.returncode for writer in writers] == [0, 0]
    assert sorted(record.run_id for record in saved) == sorted(f"{name}-{n}" for name in "ab" for n in range(each))


@pytest.mark.parametrize("file", ["e.jsonl", "h.sqlite"])
@pytest.mark.parametrize("acknowledged", [1, 40, 90])
def test_a_process_killed_while_saving_loses_no_acknowledged_evaluation(
    tmp_path: Path, file: str, acknowledged: int
) -> None:
    path = tmp_path / file
    writer = started(SAVE_FOREVER, str(path))
    assert writer.stdout is not None
    last = 0
    for _ in range(acknowledged):
        last = int(writer.stdout.readline())
    writer.kill()
    rest = writer.stdout.read().split("\n")[:-1]  # what it said between our reading and its end
    last = int([last, *rest][-1])
    writer.communicate()

    saved = [record.run_id for record in load_evaluations(path)]

    assert writer.returncode == -signal.SIGKILL
    assert saved[: last + 1] == [str(number) for number in range(last + 1)]
    assert len(saved) <= last + 2


def test_a_store_of_a_killed_process_is_whole_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    writer = started(SAVE_FOREVER, str(path))
    assert writer.stdout is not None
    writer.stdout.readline()
    writer.kill()
    writer.communicate()

    with History(path) as history:
        history.check()
        before = len(history.records())
        history.save(history.records()[0])
        assert len(history.records()) == before + 1
