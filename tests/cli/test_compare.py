"""Two runs, or two folders, side by side."""

import json
import re
import shutil
from pathlib import Path

import pytest
from command import CAPTURES, CLEAN, LOOP, Critiqor
from evaluated import fill_history

RETRIED = CAPTURES / "pydantic_ai" / "tool_error_then_retry.otlp.jsonl"


@pytest.fixture
def nights(tmp_path: Path) -> Path:
    """Two nights: one clean and one looping run, then two clean ones."""
    for night, names in (("monday", {"a": CLEAN, "b": LOOP}), ("tuesday", {"a": CLEAN, "c": RETRIED})):
        (tmp_path / night).mkdir()
        for name, capture in names.items():
            shutil.copyfile(capture, tmp_path / night / f"{name}.otlp.jsonl")
    return tmp_path


def test_a_failure_that_appeared_is_named_and_the_other_way_round_it_is_gone(critiqor: Critiqor) -> None:
    there = json.loads(critiqor("compare", CLEAN, LOOP, "--format", "json").out)
    back = json.loads(critiqor("compare", LOOP, CLEAN, "--format", "json").out)

    assert "infinite_tool_loop" in [one["type"] for one in there["appeared"]]
    assert there["gone"] == []
    assert [one["fingerprint"] for one in back["gone"]] == [one["fingerprint"] for one in there["appeared"]]


def test_the_steps_of_two_runs_part_where_they_first_differ(critiqor: Critiqor) -> None:
    text = critiqor("compare", CLEAN, LOOP).out

    assert "part after 1 equal step" in text
    assert '    search_docs({"query":"refund policy"})\n  - get_price({"sku":"A-17"})\n  + search_docs' in text


def test_a_run_is_like_itself(critiqor: Critiqor) -> None:
    found = json.loads(critiqor("compare", LOOP, LOOP, "--format", "json").out)

    assert (found["appeared"], found["gone"], found["diverging"], found["same_way"]) == ([], [], [], 1)
    assert found["tokens"]["before"] == found["tokens"]["after"]


@pytest.mark.usefixtures("nights")
def test_of_folders_it_is_told_in_how_many_runs_a_failure_is(critiqor: Critiqor) -> None:
    text = critiqor("compare", "monday", "tuesday").out

    assert re.search(r"infinite_tool_loop \(\w+\) \[1 of 2 runs → 0 of 2\]", text)
    assert "1 pair of runs took the same steps" in text


def test_kept_verdicts_are_compared_without_their_steps(critiqor: Critiqor, tmp_path: Path) -> None:
    for name, capture in (("old", CLEAN), ("new", LOOP)):
        critiqor("diagnose", capture, "--format", "json", "--output", tmp_path / f"{name}.json")

    found = json.loads(critiqor("compare", "old.json", "new.json", "--format", "json").out)

    assert "infinite_tool_loop" in [one["type"] for one in found["appeared"]]
    assert found["diverging"] == []


def test_markdown_holds_the_steps_as_a_diff(critiqor: Critiqor) -> None:
    text = critiqor("compare", CLEAN, LOOP, "--format", "markdown").out

    assert "## Appeared" in text
    assert "````diff\n" in text


def test_the_page_is_whole_and_loads_nothing(critiqor: Critiqor, tmp_path: Path) -> None:
    critiqor("compare", CLEAN, LOOP, "--format", "html", "--output", tmp_path / "changed.html")
    page = (tmp_path / "changed.html").read_text()

    assert page.startswith("<!DOCTYPE html>")
    assert "Infinite tool loop" in page
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)


def test_the_beginning_of_an_id_names_its_run_where_no_other_begins_so(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", *(80 for _ in range(10)))
    fill_history(tmp_path / "runs", 60, agent="bob")

    whole, begun = (critiqor("compare", "ada_1", bob, "--format", "json") for bob in ("bob_1", "b"))
    many = critiqor("compare", "ada_", "b")

    assert (whole.code, begun.code) == (0, 0)
    assert begun.out.replace('"b"', '"bob_1"') == whole.out
    assert many.code == 2
    assert "10 runs in the history of runs begin with 'ada_'" in many.err
