"""How a failure came about, in words: a path through the graph from its first evidence to the failure."""

from collections.abc import Mapping, Sequence

from analyzer.causality.graph import Edge, RunGraph
from analyzer.causality.links import Failure
from analyzer.session.accessors import subject_of
from analyzer.session.model import Event, EventKind
from analyzer.timeline.index import Timeline

__all__ = ["NO_FAILURE", "explain", "path_to"]

NO_FAILURE = "No failure was found."

_SHOWN = 6
_WORDS: Mapping[str, str] = {
    EventKind.TOOL_CALL: "{label} is called",
    EventKind.TOOL_OUTPUT: "{label} answers",
    EventKind.MEMORY_EVENT: "memory is used",
    EventKind.RETRY_EVENT: "a retry",
    EventKind.ERROR_EVENT: "an error",
    EventKind.TOKEN_USAGE: "the model answers",
    EventKind.CONTEXT_EVENT: "the context changes",
    EventKind.SKILL_EVENT: "a skill is at hand",
}


def explain(timeline: Timeline, graph: RunGraph, failure: Failure | None) -> str:
    """Return the path to a failure in words, its middle left out where it is long."""
    if failure is None:
        return NO_FAILURE
    path = path_to(graph, failure)
    steps = [_step(timeline.events[timeline.position_of[event_id]]) for event_id in path]
    if len(steps) > _SHOWN:
        left_out = len(steps) - _SHOWN + 1
        steps[_SHOWN - 2 : -1] = [f"{left_out} more like it"]
    return " → ".join((*steps, f"{failure.cause.type}: {_reason(failure)}"))


def path_to(graph: RunGraph, failure: Failure) -> tuple[str, ...]:
    """Return the ids of the events on the way to a failure: along `reinforces` edges between its evidence, in time."""
    evidence = set(failure.cause.evidence)
    following = {
        edge.source: edge.target
        for edge in _reinforcing(graph.edges)
        if edge.source in evidence and edge.target in evidence
    }
    targets = set(following.values())
    path = [event_id for event_id in failure.cause.evidence if event_id not in targets][:1]
    while path and path[-1] in following:
        path.append(following[path[-1]])
    return tuple(path)


def _reinforcing(edges: Sequence[Edge]) -> list[Edge]:
    return [edge for edge in edges if edge.relation == "reinforces"]


def _step(event: Event) -> str:
    words = _WORDS.get(event.event, "{label}").format(label=subject_of(event))
    return f"{words} ({event.event_id})"


def _reason(failure: Failure) -> str:
    root = failure.cause.root_cause
    return failure.cause.description if root is None else root.description
