"""The measure of accuracy itself: what it reads of labelled logs, on logs made up here."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parents[2] / "bench" / "accuracy"

CONVERSATION: dict[str, Any] = {
    "question": "How many lines has the poem?",
    "ground_truth": "SECRET-14",
    "mistake_agent": "Coder",
    "mistake_step": "1",
    "mistake_reason": "SECRET-reason",
    "history": [
        {"role": "human", "content": "How many lines has the poem?"},
        {"role": "assistant", "name": "Coder", "content": "Let me count.\n```python\nimport poem\nprint(1)\n\n```"},
        {
            "role": "user",
            "name": "Terminal",
            "content": "exitcode: 1 (execution failed)\nCode output: NameError: x",
        },
        {"role": "assistant", "name": "Coder", "content": "FINAL ANSWER: 13"},
    ],
}
TRAJECTORY: dict[str, Any] = {
    "run": {
        "info": {"actions": "SECRET-actions"},
        "traj": [
            {"index": 1, "role": "system", "content": "Be kind."},
            {"index": 2, "role": "user", "content": "Cancel order 77812."},
            {
                "index": 3,
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "a", "function": {"name": "cancel_order", "arguments": '{"order": "77812"}'}}],
            },
            {
                "index": 4,
                "role": "tool",
                "tool_call_id": "a",
                "name": "cancel_order",
                "content": "Error: bad order id",
            },
            {"index": 5, "role": "assistant", "content": "Your order is cancelled."},
            {"index": 6, "role": "user", "content": "Thanks!"},
        ],
    },
    "labels": {
        "failures": [{"failure_id": 9, "step_number": 3, "failed_agent": "Assistant"}],
        "root_cause": {"failure_id": 9},
    },
}


def measured(folder: Path, *more: str) -> str:
    command: list[str | Path] = [sys.executable, BENCH, folder, "--captures", folder, "--cases", folder, *more]
    return subprocess.run(command, capture_output=True, check=True, timeout=120).stdout.decode()


def test_the_labelled_step_is_printed_beside_the_one_that_is_named(tmp_path: Path) -> None:
    for name, document in (("talk", CONVERSATION), ("calls", TRAJECTORY)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.json").write_text(json.dumps(document))

    told = measured(tmp_path)

    rows = [line.split() for line in told.splitlines() if " = " in line]
    assert [row[:4] for row in rows] == [["1", "6", "3", "3"], ["1", "4", "1", "1"]]
    assert "baseline first step with code or a call: 100.0%" in told
    assert "| calls | 1 | 100.0 % |" in told


def test_no_label_becomes_part_of_a_session() -> None:
    program = (
        "import json, sys; sys.path.insert(0, sys.argv[1])\n"
        "from conversations import read_conversation; from messages import read_trajectory\n"
        "talk, calls = json.load(sys.stdin)\n"
        "print(read_conversation(talk, 'a', 'b').session, read_trajectory(calls, 'a', 'b').session)"
    )
    given = json.dumps([CONVERSATION, TRAJECTORY]).encode()

    told = subprocess.run([sys.executable, "-c", program, BENCH], input=given, capture_output=True, check=True).stdout

    assert b"SECRET" not in told
    assert b"NameError" in told
    assert b"cancel_order" in told


def test_the_page_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(json.dumps(CONVERSATION))

    measured(tmp_path, "--write", str(tmp_path / "accuracy.md"))

    assert (tmp_path / "accuracy.md").read_text("utf-8").startswith("# How right it is")
