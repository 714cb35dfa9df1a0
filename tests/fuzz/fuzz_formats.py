"""Reads spoiled inputs of every format by the hundred thousand: nothing may raise what is not announced, or hang.

Run it by hand: `python tests/fuzz/fuzz_formats.py --count 100000`. The inputs follow from the seed alone.
"""

import argparse
import random
import resource
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from small_inputs import SMALL, misfitted, mutated
from sound_spans import faults_of

from critiqor_otel.errors import UnreadableInputError
from critiqor_otel.formats.reading import read_bytes


def main() -> int:
    """Return 1 when something raised or took longer than it may."""
    options = _options()
    faults = 0
    for name in options.formats or SMALL:
        chance = random.Random(f"{options.seed} {name}")
        spans = unreadable = 0
        slowest = 0.0
        for number in range(options.count):
            spoil = mutated if number % 2 else misfitted
            data = spoil(SMALL[name], chance)
            begin = time.process_time()
            try:
                for batch in read_bytes(data, place="input"):
                    spans += len(batch.spans)
                    unsound = faults_of(batch)
                    faults += len(unsound)
                    if unsound:
                        _say(f"{name}, input {number}: {unsound} in {data!r:.2000}")
            except UnreadableInputError:
                unreadable += 1
            except Exception:  # noqa: BLE001  # whatever it is, it is what we look for
                faults += 1
                _say(f"{name}, input {number}: {data[:200]!r}")
                _say(traceback.format_exc(limit=-4))
            took = time.process_time() - begin
            slowest = max(slowest, took)
            if took > options.limit:
                faults += 1
                _say(f"{name}, input {number} took {took:.1f} s: {data[:200]!r}")
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        _say(
            f"{name:32} {options.count} inputs, {unreadable} unreadable, {spans} spans, "
            f"slowest {slowest * 1000:.0f} ms, memory {memory} MiB"
        )
    return 1 if faults else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", choices=[[], *SMALL], help="all when none is named")
    parser.add_argument("--count", type=int, default=100_000, help="inputs a format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=2.0, help="seconds of CPU that one input may take")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
