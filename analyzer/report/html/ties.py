"""What ties the events of a page together: failures with what shows them, where they began, and what led to what."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from analyzer.causality.decisive import Candidate
from analyzer.causality.roots import failures_of
from analyzer.profile import Profile
from analyzer.report.html.titles import title_of
from analyzer.report.plain import cut, one_line
from analyzer.verdict import Diagnosis

__all__ = ["MAX_EDGES", "Ties", "causes_of", "edges_of", "root_of"]

MAX_EDGES = 20_000
"""Edges of the causal graph besides those that the steps tell already; the first ones."""

_TOLD_BY_STEPS = frozenset(("precedes", "contains"))
_WHY = 300  # characters of an explanation


class Ties(NamedTuple):
    """Where events stand."""

    places: Mapping[str, int]
    """Position in the timeline by event id."""
    shown: Mapping[int, int]
    """Number in the page by position."""
    step_of: Mapping[int, int]
    """Step in the page by position."""

    def number(self, event_id: str) -> int | None:
        """Return the number that an event has in the page; None where it is not shown."""
        return self.shown.get(self.places.get(event_id, -1))

    def numbers(self, event_ids: Iterable[str]) -> list[int]:
        """Return the numbers of the events that are shown, in order."""
        return [number for event_id in event_ids if (number := self.number(event_id)) is not None]

    def is_one_step(self, first: str, second: str) -> bool:
        """Return whether both events belong to one step."""
        one = self.step_of.get(self.places.get(first, -1))
        return one is not None and one == self.step_of.get(self.places.get(second, -1))


def causes_of(diagnosis: Diagnosis, ties: Ties) -> list[dict[str, Any]]:
    """Return the failures: type, severity, events, and the likeliest place where each began."""
    begun = {one.failure: one.candidates for one in diagnosis.roots.failures}
    return [
        {
            "type": failure.cause.type,
            "title": title_of(failure.cause.type),
            "severity": failure.cause.severity.value,
            "events": ties.numbers(failure.cause.evidence),
            "root": next((root_of(one, ties) for one in begun.get(failure.node, ())), None),
        }
        for failure in failures_of(diagnosis.failure_causes, Profile.STANDARD)
    ]


def root_of(candidate: Candidate, ties: Ties) -> dict[str, Any]:
    """Return where something may have begun: the event, the way from there, how sure that is, and why."""
    return {
        "event": ties.number(candidate.event_id),
        "path": ties.numbers(candidate.path),
        "confidence": candidate.confidence.value,
        "why": cut(one_line(candidate.explanation), _WHY),
    }


def edges_of(diagnosis: Diagnosis, ties: Ties, number_of: Callable[[str], int]) -> dict[str, list[int]]:
    """Return the edges between events of different steps, in columns; texts are numbered by `number_of`."""
    columns: dict[str, list[int]] = {name: [] for name in ("from", "to", "relation", "rule")}
    for edge in diagnosis.causal_graph.edges:
        if edge.relation in _TOLD_BY_STEPS or ties.is_one_step(edge.source, edge.target):
            continue
        source, target = ties.number(edge.source), ties.number(edge.target)
        if source is None or target is None:
            continue
        if len(columns["from"]) >= MAX_EDGES:
            break
        for name, value in zip(columns, (source, target, number_of(edge.relation), number_of(edge.rule)), strict=True):
            columns[name].append(value)
    return columns
