"""Reads spoiled session files, baselines, policies, settings, price lists and suites by the ten thousand.

Run it by hand: `python tests/fuzz/fuzz_files.py --seconds 60`. The inputs follow from the seed alone; the time decides
how many there are of each kind.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from spoiled_files import KINDS, faults_of

_AT_ONCE = 100


def main() -> int:
    """Return 1 when a file was taken as it must not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], help="all when none is named")
    parser.add_argument("--seconds", type=float, default=60.0, help="of CPU, a kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds or KINDS:
            chance = random.Random(f"{options.seed} {kind}")
            end = time.process_time() + options.seconds
            tried = 0
            while time.process_time() < end:
                for fault in faults_of(kind, chance, Path(folder), _AT_ONCE):
                    faults += 1
                    _say(fault)
                tried += _AT_ONCE
            _say(f"{kind:32} {tried} inputs, {faults} faults so far")
    return 1 if faults else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
