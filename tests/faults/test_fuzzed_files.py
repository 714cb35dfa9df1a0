"""Files that a user writes or keeps, spoiled: each is read or refused in words. `make fuzz` makes the long run."""

import random
from pathlib import Path

import click
import pytest
from spoiled_files import KINDS, faults_of

from analyzer.errors import SessionFileError
from analyzer.session.codec import read_session
from critiqor_otel.cli.configuration import read_options
from critiqor_otel.cli.suite import read_suite

INPUTS = 60


@pytest.mark.parametrize(
    ("kind", "ending"), [(kind, ending) for kind, (examples, _) in KINDS.items() for ending in examples]
)
def test_the_file_as_it_was_is_sound(kind: str, ending: str, tmp_path: Path) -> None:
    examples, attempt = KINDS[kind]

    assert attempt(examples[ending], tmp_path / f"sound{ending}") is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_spoiled_file_is_read_or_refused_in_words(kind: str, tmp_path: Path) -> None:
    assert list(faults_of(kind, random.Random(kind), tmp_path, INPUTS)) == []


@pytest.mark.parametrize("data", [b'{"events": [' + b"[" * 20_000, b'{"events": ["\xff",' + b'{"a":' * 20_000])
def test_a_session_that_is_deep_and_never_ends_is_refused(data: bytes) -> None:
    with pytest.raises(SessionFileError, match="their ends are missing"):
        read_session(data)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('{"off": [["loop"]]}', "is no failure type"),
        (r'{"windows": {"a": "\ud800"}}', "lone surrogate"),
        (r'{"polling_tools": ["\ud800"], "token_budget": "x"}', "token_budget"),
    ],
)
def test_odd_settings_are_refused_with_their_place(settings: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "critiqor.json"
    path.write_text(settings)

    with pytest.raises(click.UsageError, match=said):
        read_options(str(path))


def test_a_suite_cannot_ask_for_a_lifetime_of_runs(tmp_path: Path) -> None:
    path = tmp_path / "suite.json"
    path.write_text('{"command": ["true"], "prompts": ["a"], "repeat": 1e300}')

    with pytest.raises(click.UsageError, match="`repeat` is at most"):
        read_suite(str(path))
