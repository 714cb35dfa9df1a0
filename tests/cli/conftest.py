"""The command in a folder of its own, with files to read."""

import shutil
from functools import partial
from pathlib import Path

import pytest
from command import CLEAN, LOOP, Critiqor, run_command


@pytest.fixture
def critiqor(tmp_path: Path) -> Critiqor:
    """Run the command in a folder of its own; the result is exit code, standard output and standard error."""
    return partial(run_command, tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder the command runs in, with `traces/` that hold a looping and a clean run."""
    (tmp_path / "traces").mkdir()
    shutil.copyfile(LOOP, tmp_path / "traces" / "loop.otlp.jsonl")
    shutil.copyfile(CLEAN, tmp_path / "traces" / "clean.otlp.jsonl")
    return tmp_path
