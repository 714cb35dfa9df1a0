"""A baseline as CI uses it: made once, kept beside the code, and only what is new fails."""

import json
from pathlib import Path

import pytest
from command import CLEAN, LOOP, Critiqor


def test_only_new_failures_fail_the_command(critiqor: Critiqor, tmp_path: Path) -> None:
    baseline = tmp_path / "critiqor-baseline.json"

    made = critiqor("diagnose", LOOP, "--baseline", baseline, "--update-baseline", "--baseline-reason", "ticket 7")
    again = critiqor("diagnose", LOOP, "--baseline", baseline, "--format", "json")
    without = critiqor("diagnose", LOOP)

    assert (made.code, again.code, without.code) == (0, 0, 1)
    assert "1 new" in made.err
    assert "let pass" in again.err
    (run,) = json.loads(again.out)["runs"]
    assert {cause["known"] for cause in run["failure_causes"]} == {"ticket 7"}


def test_the_table_names_what_is_let_pass_and_why(critiqor: Critiqor, tmp_path: Path) -> None:
    baseline = tmp_path / "b.json"
    critiqor("diagnose", LOOP, "--baseline", baseline, "--update-baseline", "--baseline-reason", "ticket 7")

    assert "known, let pass: infinite_tool_loop (ticket 7)" in critiqor("diagnose", LOOP, "--baseline", baseline).out


def test_a_failure_that_has_expired_counts_again(critiqor: Critiqor, tmp_path: Path) -> None:
    baseline = tmp_path / "b.json"
    options = ("--update-baseline", "--baseline-expires", "2020-01-31")
    made = critiqor("diagnose", LOOP, "--baseline", baseline, *options)

    done = critiqor("diagnose", LOOP, "--baseline", baseline)

    assert "--baseline-expires 2020-01-31 is past" in made.err
    assert done.code == 1
    assert "expired on 2020-01-31" in done.err


def test_the_baseline_of_a_clean_run_is_empty(critiqor: Critiqor, tmp_path: Path) -> None:
    baseline = tmp_path / "b.json"

    done = critiqor("diagnose", CLEAN, "--baseline", baseline, "--update-baseline")

    assert done.code == 0
    assert json.loads(baseline.read_bytes())["failures"] == []


def test_a_baseline_that_is_not_there_is_an_error_that_says_how_to_make_it(critiqor: Critiqor) -> None:
    done = critiqor("diagnose", LOOP, "--baseline", "nowhere.json")

    assert done.code == 2
    assert "nowhere.json is not there; `--update-baseline` makes it" in done.err


def test_a_file_that_is_no_baseline_is_an_error_with_its_place(critiqor: Critiqor, tmp_path: Path) -> None:
    odd = tmp_path / "odd.json"
    odd.write_text('{"failures": [{"fingerprint": 3}]}')

    done = critiqor("diagnose", LOOP, "--baseline", odd)

    assert done.code == 2
    assert "$.failures[0].fingerprint" in done.err


@pytest.mark.parametrize("words", [("--baseline-reason", "old"), ("--baseline-expires", "2030-01-01")])
def test_what_is_said_of_new_entries_is_refused_where_none_are_made(critiqor: Critiqor, words: tuple[str, str]) -> None:
    refused = critiqor("diagnose", LOOP, *words)

    assert (refused.code, refused.out) == (2, "")
    assert "go with --update-baseline" in refused.err
