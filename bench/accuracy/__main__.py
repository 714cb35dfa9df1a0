"""How right is the analyzer? Run as `python bench/accuracy DATA [--captures DIR] [--cases DIR] [--write FILE]`."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from conversations import is_conversation, read_conversation
from failure_types import clean_runs, known_captures, known_cases, type_rates
from labelled import Labelled
from messages import is_trajectory, read_trajectory
from page import page
from steps import BASELINES, Guess, guess, rates

from analyzer.bulk import bulk_work

__all__ = ["main"]

_TESTS = Path(__file__).parents[2] / "tests"


def main() -> int:
    """Measure, print, and write the page where one is named; 3 when the folder holds no labelled run."""
    options = argparse.ArgumentParser(prog="python bench/accuracy", description=__doc__)
    options.add_argument("data", type=Path, help="folder of labelled runs (JSON files, found by their form)")
    options.add_argument(
        "--captures", type=Path, default=_TESTS / "cases" / "captures", help="captures and their facts"
    )
    options.add_argument("--cases", type=Path, default=_TESTS / "detectors", help="golden cases of the detectors")
    options.add_argument("--write", type=Path, help="the page to write, docs/accuracy.md")
    chosen = options.parse_args()
    with bulk_work():
        guesses = [guess(run) for run in _labelled(chosen.data)]
        if not guesses:
            print(f"{chosen.data} holds no labelled run", file=sys.stderr)
            return 3
        known = [*known_captures(chosen.captures), *known_cases(chosen.cases)]
    groups = _groups(guesses)
    for name, found in groups.items():
        _show(name, found)
    text = page(groups, type_rates(known), clean_runs(known))
    print(text)
    if chosen.write is not None:
        chosen.write.write_text(text, "utf-8")
    return 0


def _labelled(folder: Path) -> Iterator[Labelled]:
    for path in sorted(folder.rglob("*.json")):
        document = json.loads(path.read_text("utf-8"))
        name, group = path.stem, _group(path.parent, folder)
        run = None
        if is_conversation(document):
            run = read_conversation(document, name, group)
        elif is_trajectory(document):
            run = read_trajectory(document, name, group)
        else:
            continue
        if run is None:
            print(f"{path}: its label is no step of it; left out", file=sys.stderr)
        else:
            yield run


def _group(place: Path, folder: Path) -> str:
    return folder.resolve().name if place == folder else place.relative_to(folder).as_posix()


def _groups(guesses: Sequence[Guess]) -> dict[str, list[Guess]]:
    found: dict[str, list[Guess]] = {}
    for one in guesses:
        found.setdefault(one.run.group, []).append(one)
    return found


def _show(name: str, guesses: Sequence[Guess]) -> None:
    print(f"\n{name}: {len(guesses)} runs")
    print(f"{'run':>12} {'steps':>5} {'labelled':>8} {'named':>5}  why")
    for one in guesses:
        named = "-" if one.step is None else str(one.step)
        mark = "=" if one.step == one.run.step else " "
        print(f"{one.run.name:>12} {len(one.run.steps):>5} {one.run.step:>8} {named:>5} {mark} {one.why}")
    print(f"{'':>12} " + ", ".join(f"{what} {share:.1%}" for what, share in rates(guesses).items()))
    for baseline, step_of in BASELINES.items():
        hits = sum(step_of(one.run) == one.run.step for one in guesses)
        print(f"{'':>12} baseline {baseline}: {hits / len(guesses):.1%}")


if __name__ == "__main__":
    sys.exit(main())
