"""How often is each failure type right? Measured on runs of which it is known what is wrong, and on clean ones.

Known runs: the golden cases of the detectors (`bad_` and `missed_` must be found at some severity, `good_` must not)
and captures of real frameworks driven by a script, whose facts tell how often one call was made. Of a capture what has
severity medium or above counts; on one whose name begins with `clean` all of that is a false alarm.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from analyzer.cause import Severity
from analyzer.detectors.registry import ALL
from analyzer.diagnosis import Diagnosis, diagnose
from analyzer.session.codec import read_session
from critiqor_otel.engine.local import gather, runs_of
from critiqor_otel.formats.reading import read_paths

__all__ = ["Known", "TypeRates", "clean_runs", "known_captures", "known_cases", "type_rates"]

TYPES = tuple(detector.failure_type for detector in ALL)
LOOP, LOOP_OF = "infinite_tool_loop", 3
# The scripted answer of the clean runs names five days, which no tool result holds: said of it, this is true.
TRUE_OF_CLEAN = "unsupported_claims"


class Known(NamedTuple):
    """A run of which something is known."""

    present: frozenset[str]
    """Types that it shows."""
    absent: frozenset[str]
    """Types that it does not show."""
    found: frozenset[str]
    """Types that the analyzer reports."""
    is_clean: bool = False


class TypeRates(NamedTuple):
    """What is known of one type."""

    type: str
    cases: int
    """Runs that show it."""
    judged: int
    """Runs of which it is known whether they do."""
    precision: float | None
    recall: float | None
    f1: float | None
    false_alarms: float
    """Per 100 clean runs."""


def known_cases(folder: Path) -> Iterator[Known]:
    """Yield the golden cases below a folder: `<type>/<bad|good|missed>_<what>.session.json`."""
    for path in sorted(folder.rglob("*.session.json")):
        kind = path.parent.name
        if kind not in TYPES:
            continue
        of_type = frozenset((kind,))
        is_bad = not path.name.startswith("good_")
        causes = diagnose(read_session(path.read_bytes())).failure_causes
        found = frozenset(cause.type for cause in causes)
        yield Known(of_type if is_bad else frozenset(), frozenset() if is_bad else of_type, found)


def known_captures(folder: Path) -> Iterator[Known]:
    """Yield the captures below a folder: `<family>/<scenario>.facts.json` beside the bodies that were sent."""
    for path in sorted(folder.glob("*/*.facts.json")):
        stem = path.name.removesuffix(".facts.json")
        bodies = [path.with_name(f"{stem}{end}") for end in (".otlp.pb", ".logs.otlp.pb")]
        there = [str(body) for body in bodies if body.exists() and body.stat().st_size]
        if not there:
            continue
        found = _loud([diagnose(session) for session in runs_of(gather(read_paths(there))).sessions])
        yield _known(stem, json.loads(path.read_text()), found)


def type_rates(runs: Sequence[Known]) -> list[TypeRates]:
    """Return what is known of each type, in the order of the detectors."""
    return [_rates(kind, runs) for kind in TYPES]


def clean_runs(runs: Sequence[Known]) -> int:
    """Return how many runs have nothing wrong with them."""
    return sum(run.is_clean for run in runs)


def _known(stem: str, facts: dict[str, object], found: frozenset[str]) -> Known:
    if stem.startswith("clean"):
        return Known(frozenset(), frozenset(TYPES) - {TRUE_OF_CLEAN}, found, is_clean=True)
    most = facts.get("max_identical_calls")
    if not isinstance(most, int):
        return Known(frozenset(), frozenset(), found)
    loop = frozenset((LOOP,))
    is_loop = most >= LOOP_OF and not facts.get("tool_errors")
    return Known(loop if is_loop else frozenset(), frozenset() if is_loop else loop, found)


def _loud(verdicts: Sequence[Diagnosis]) -> frozenset[str]:
    return frozenset(
        cause.type for verdict in verdicts for cause in verdict.failure_causes if cause.severity is not Severity.LOW
    )


def _rates(kind: str, runs: Sequence[Known]) -> TypeRates:
    hits: Counter[tuple[bool, bool]] = Counter(
        (kind in run.present, kind in run.found) for run in runs if kind in run.present or kind in run.absent
    )
    right, missed, wrong = hits[True, True], hits[True, False], hits[False, True]
    clean = [kind in run.found for run in runs if run.is_clean and kind in run.absent]
    precision = right / (right + wrong) if right + wrong else None
    recall = right / (right + missed) if right + missed else None
    both = (precision or 0) + (recall or 0)
    f1 = None if precision is None or recall is None else (2 * precision * recall / both if both else 0.0)
    alarms = 100 * sum(clean) / len(clean) if clean else 0.0
    return TypeRates(kind, right + missed, hits.total(), precision, recall, f1, alarms)
