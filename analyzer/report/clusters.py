"""Which main failure do many runs share? The same one in several runs is one matter, told once."""

from collections.abc import Iterable

import msgspec

from analyzer.report.plain import one_line
from analyzer.report.report import RunReport

__all__ = ["Clusters"]

_MOST = 5
_LEAST = 2  # runs


class _Cluster(msgspec.Struct):
    """Runs whose main failure has one fingerprint."""

    failure_type: str
    severity: str
    description: str
    runs: int = 0


class Clusters:
    """Counts main failures as runs pass by."""

    def __init__(self) -> None:
        self._runs = 0
        self._found: dict[str, _Cluster] = {}

    def add(self, run: RunReport) -> None:
        """Take a run."""
        self._runs += 1
        cause = run.grave
        if cause is None:
            return
        key = cause.fingerprint or cause.type
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = _Cluster(cause.type, cause.severity.value, one_line(cause.description))
        found.runs += 1

    def lines(self) -> Iterable[str]:
        """Yield a line a cluster, the largest first: `9 of 40 runs: ...`; one run is no cluster."""
        shared = [found for found in self._found.values() if found.runs >= _LEAST]
        for found in sorted(shared, key=lambda one: -one.runs)[:_MOST]:
            yield f"{found.runs} of {self._runs} runs: {found.failure_type} ({found.severity}). {found.description}"
