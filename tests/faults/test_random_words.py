"""Whatever words it is given, the command does its work or says why not. `make fuzz` makes the long run."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "fuzz" / "fuzz_words.py"


def test_random_words_never_end_in_an_internal_error() -> None:
    words = [sys.executable, SCRIPT, "--count", "40", "--seed", "short"]

    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)

    assert done.returncode == 0, done.stdout + done.stderr
