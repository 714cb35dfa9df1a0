"""Whatever words it is given, the command does its work or says why not. `make fuzz` makes the long run."""

import subprocess
import sys
from pathlib import Path

import pytest
from command import LOOP, run_command

from analyzer.session.codec import read_session

SCRIPT = Path(__file__).parents[1] / "fuzz" / "fuzz_words.py"


def test_random_words_never_end_in_an_internal_error() -> None:
    words = [sys.executable, SCRIPT, "--count", "25", "--seed", "short"]

    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("endpoint", ["[]", "http://[", "http://\u202e", "http://a:b:c", "grpc://x:y"])
@pytest.mark.parametrize("verb", ["annotate", "replay"])
def test_an_endpoint_that_is_no_address_is_refused(verb: str, endpoint: str, tmp_path: Path) -> None:
    done = run_command(tmp_path, verb, "--endpoint", endpoint, LOOP)

    assert done.code == 2
    assert "is no address" in done.err


def test_words_that_are_no_utf8_are_kept_with_the_bytes_replaced(tmp_path: Path) -> None:
    odd = "ticket \udcff"

    kept = run_command(tmp_path, "diagnose", LOOP, "--update-baseline", "--baseline-reason", odd)
    run = run_command(tmp_path, "run", "--run-id", odd, "--agent", odd, "--", sys.executable, "-c", "")

    assert (kept.code, run.code) == (0, 0), kept.err + run.err
    assert "ticket \ufffd" in (tmp_path / "critiqor-baseline.json").read_text("utf-8")
    assert [read_session(file.read_bytes()).run_id for file in tmp_path.glob("runs/*/session.json")] == [
        "ticket \ufffd"
    ]


def test_a_password_in_an_endpoint_that_is_refused_is_not_shown(tmp_path: Path) -> None:
    done = run_command(tmp_path, "replay", LOOP, "--endpoint", "http://ada:hunter2@[")

    assert done.code == 2
    assert "hunter2" not in done.err
