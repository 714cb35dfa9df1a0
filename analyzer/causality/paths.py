"""Which events lead to a failure? From its root, if one is known, to its evidence, and along that to the failure."""

from collections.abc import Mapping

from analyzer.causality.decisive import RunRoots
from analyzer.causality.graph import RunGraph
from analyzer.causality.scene import Failure

__all__ = ["path_to"]


def path_to(graph: RunGraph, failure: Failure, roots: RunRoots | None = None) -> tuple[str, ...]:
    """Return the ids of the events on the way to a failure, in time: each leads to the next by an edge of the graph."""
    evidence = _along_evidence(graph, failure)
    before = _from_root(failure, roots)
    known = set(before)
    return (*before, *(event_id for event_id in evidence if event_id not in known))


def _along_evidence(graph: RunGraph, failure: Failure) -> list[str]:
    known = set(failure.cause.evidence)
    following = _following(graph, known)
    targets = set(following.values())
    path = [event_id for event_id in failure.cause.evidence if event_id not in targets][:1]
    while path and path[-1] in following:
        path.append(following[path[-1]])
    return path


def _following(graph: RunGraph, known: set[str]) -> Mapping[str, str]:
    return {
        edge.source: edge.target
        for edge in graph.edges
        if edge.relation == "reinforces" and edge.source in known and edge.target in known
    }


def _from_root(failure: Failure, roots: RunRoots | None) -> tuple[str, ...]:
    found = next((found for found in roots.failures if found.failure == failure.node), None) if roots else None
    if found is None or not found.candidates or not found.candidates[0].failures:
        return ()
    return found.candidates[0].path[:-1] if found.candidates[0].failures[0] == failure.node else ()
