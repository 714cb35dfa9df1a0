"""The options of large inputs."""

from pathlib import Path

import pytest
from command import Critiqor


@pytest.mark.parametrize("size", ["lots", "12", "64M"])
def test_an_amount_of_memory_that_is_none_is_refused(critiqor: Critiqor, folder: Path, size: str) -> None:
    refused = critiqor("diagnose", str(folder / "traces"), "--memory", size)

    assert refused.code == 2
    assert "--memory" in refused.err


@pytest.mark.usefixtures("folder")
def test_every_form_is_the_same_in_parts(critiqor: Critiqor) -> None:
    for form in ("table", "markdown", "json"):
        whole, parts = (critiqor("diagnose", "traces", "--format", form, *more) for more in ((), ("--jobs", "1")))

        assert parts == whole


def test_history_and_verdicts_beside_sessions_are_written_in_parts_too(critiqor: Critiqor, folder: Path) -> None:
    critiqor("sessions", "traces", "--output", "runs")

    critiqor("diagnose", "runs", "--write", "--jobs", "1")

    assert len(list((folder / "runs").glob("*/diagnosis.json"))) == 2
    assert len(critiqor("runs", "runs").out.splitlines()) >= 2


@pytest.mark.usefixtures("folder")
def test_pages_are_not_made_in_parts(critiqor: Critiqor) -> None:
    refused = critiqor("diagnose", "traces", "--format", "html", "--output", "pages", "--jobs", "2")

    assert refused.code == 2
    assert "fits into memory" in refused.err


@pytest.mark.usefixtures("folder")
def test_standard_input_is_read_in_parts_too(critiqor: Critiqor, folder: Path) -> None:
    content = (folder / "traces" / "loop.otlp.jsonl").read_bytes()

    whole, parts = (critiqor("diagnose", "-", *more, stdin=content) for more in ((), ("--jobs", "1")))

    assert parts == whole


@pytest.mark.usefixtures("folder")
def test_going_on_with_nothing_begins_anew(critiqor: Critiqor) -> None:
    found = critiqor("diagnose", "traces", "--resume", "--format", "jsonl")

    assert found.out == critiqor("diagnose", "traces", "--format", "jsonl").out
    assert "Nothing was begun: 0 of" in found.err


@pytest.mark.usefixtures("folder")
def test_a_scheduler_without_dask_is_refused_and_not_passed_over(critiqor: Critiqor) -> None:
    refused = critiqor("diagnose", "traces", "--scheduler", "tcp://127.0.0.1:8786")

    assert (refused.code, refused.out) == (2, "")
    assert "--scheduler goes with --engine dask" in refused.err
