"""Puts faults into the detectors, one at a time, and lets their tests judge: which faults does none find?

`python tests/fuzz/mutants.py` tries all mutants, `--count 200` a sample that follows from the seed, and names of
detectors only theirs. One process is warm: it has collected the tests and knows which of them reaches which line. A
mutant is a fork of it that runs those that reach its line, its own cases first, up to the first that fails.
`--write` writes docs/mutants.md from the arguments in tests/support/argued_mutants.json, after a whole run also those.
"""

import argparse
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from mutants_page import PAGE, page, settle, unargued  # noqa: E402  # tests/support is no package
from mutating import DETECTORS, Mutant, everything, take_on  # noqa: E402  # as above

_TESTS = (
    "tests/detectors",
    "tests/analyzer/test_recorded_cases.py",
    "tests/analyzer/test_deviations.py",
    "tests/analyzer/test_cost.py",
)
_NO_JUDGES = ("tests/detectors/test_pages.py",)  # of the pages, which no rule changes
_OPTIONS = ("-q", "-s", "--no-header", "-pno:randomly", "-pno:cacheprovider", "-pno:xdist")
_LONGEST = 20  # seconds of processor time: a mutant that hangs is found
_MEMORY = 2 << 30  # bytes: one that grows without end is found


class Court:
    """The tests, which judge one mutant after the other instead of being run."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self.mutants = mutants
        self.survived: list[Mutant] = []
        self.sound = False
        self._reach: coverage.Coverage | None = None
        self._took: dict[str, float] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge all mutants; nothing is left to be run."""
        items = {item.nodeid: item for item in session.items}
        reached = self._reached(list(items.values()))
        if reached is None:
            _say("the tests fail without any mutant")
            return True
        for module in dict.fromkeys(mutant.module for mutant in self.mutants):
            nothing = Mutant(module, "", "", "", 0, range(0), 0, -1)
            judges = [items[one] for one in self._judges(nothing, reached)]
            if _dies(lambda nothing=nothing, judges=judges: _judge(nothing, judges)):
                _say(f"the tests fail with {module} loaded anew and unchanged")
                return True
        self.sound = True
        for number, mutant in enumerate(self.mutants, 1):
            judges = [items[one] for one in self._judges(mutant, reached)]
            if not _dies(lambda mutant=mutant, judges=judges: _judge(mutant, judges)):
                self.survived.append(mutant)
                _say(f"{mutant.lines.start:4} {mutant.key}")
            if number % 100 == 0:
                _say(f"… {number} of {len(self.mutants)} tried, {len(self.survived)} survived")
        return True

    def _reached(self, items: list[pytest.Item]) -> dict[str, dict[int, list[str]]] | None:
        """Return which tests reach which line of which detector, the quick ones first; None where a test fails."""
        with tempfile.NamedTemporaryFile() as file:
            if _dies(lambda: Path(file.name).write_text(json.dumps(self._watched(items)), "utf-8")):
                return None
            found: dict[str, dict[str, list[str]]] = json.loads(Path(file.name).read_text("utf-8"))
        return {module: {int(line): names for line, names in lines.items()} for module, lines in found.items()}

    def _watched(self, items: list[pytest.Item]) -> dict[str, dict[int, list[str]]]:
        self._reach = coverage.Coverage(data_file=None, config_file=False, include=[str(DETECTORS / "*.py")])
        self._reach.start()
        for item in items:
            _run(item)
        self._reach.stop()
        data = self._reach.get_data()
        took = self._took
        return {
            Path(file).stem: {
                line: sorted(filter(None, names), key=lambda name: (took[name], name))
                for line, names in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Note how long a test takes while it is watched."""
        if self._reach is not None:
            self._reach.switch_context(item.nodeid)
        begun = time.process_time()
        result = yield
        self._took[item.nodeid] = time.process_time() - begun
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End the child at the first test that fails."""
        if report.failed:
            os._exit(1)

    def _judges(self, mutant: Mutant, reached: dict[str, dict[int, list[str]]]) -> list[str]:
        """Return the tests that can tell the mutant: the cases of its detector first, then the quickest."""
        lines = reached.get(mutant.module, {})
        names = dict.fromkeys(name for line in mutant.lines for name in lines.get(line, ()))
        if not names:  # what is said at the top of a module is run when it is loaded
            names = dict.fromkeys(name for line in sorted(lines) for name in lines[line])
        return sorted(names, key=lambda name: f"[{mutant.module}/" not in name)


def _run(item: pytest.Item) -> None:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)


def _judge(mutant: Mutant, judges: Sequence[pytest.Item]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.setitimer(signal.ITIMER_PROF, _LONGEST)
    take_on(mutant)
    for item in judges:
        _run(item)


def _dies(task: Any) -> bool:
    """Return whether a child of this process that does the task comes to an end of another kind than its end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            task()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return status != 0


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    mutants = [one for one in everything() if not options.modules or one.module in options.modules]
    if options.again is not None:
        log = options.again.read_text("utf-8")
        mutants = [one for one in mutants if f" {one.key}\n" in log]
    if 0 < options.count < len(mutants):
        return random.Random(options.seed).sample(mutants, options.count)
    return mutants


def _remarks(court: Court, *, whole: bool) -> Iterator[str]:
    yield f"{len(court.mutants)} mutants tried, {len(court.survived)} survived"
    open_, stale = unargued([one.key for one in court.survived])
    yield from (f"no argument: {key}" for key in open_)
    if whole:
        yield from (f"argued, but found: {key}" for key in stale)


def main() -> int:
    """Print the mutants that no test finds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="all when none is named")
    parser.add_argument("--count", type=int, default=0, help="mutants to try; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path, help="what an earlier run printed: only the mutants that it names")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} anew")
    options = parser.parse_args()
    os.chdir(ROOT)
    court = Court(_chosen(options))
    pytest.main([*_OPTIONS, *(f"--ignore={path}" for path in _NO_JUDGES), *_TESTS], plugins=[court])
    if not court.sound:
        return 1
    whole = len(court.mutants) == len(everything())
    for remark in _remarks(court, whole=whole):
        _say(remark)
    if options.write and whole:
        settle([one.key for one in court.survived], tried=len(court.mutants))
    if options.write:
        PAGE.write_text(page(), "utf-8")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
