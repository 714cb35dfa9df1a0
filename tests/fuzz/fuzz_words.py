"""Starts the command with random words by the thousand: no exit code but 0 to 3, no traceback, none that never ends.

Run it by hand: `python tests/fuzz/fuzz_words.py --count 2000`. The words follow from the seed alone.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from random_words import tried


def main() -> int:
    """Return 1 when a command ended as none may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    codes: Counter[int] = Counter()
    faults = 0
    for one in tried(options.seed, options.count):
        codes[one.code] += 1
        if one.fault is not None:
            faults += 1
            _say(one.fault)
    _say(f"{options.count} commands, exit codes {dict(sorted(codes.items()))}, {faults} faults")
    return 1 if faults else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n".encode("utf-8", "backslashreplace").decode())
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
