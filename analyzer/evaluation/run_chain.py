"""By which events of a run did a failure come about? The path to it through the graph of the run's diagnosis."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from analyzer.cause import FailureCause
from analyzer.evaluation.diagnosed import is_diagnosis
from analyzer.lenient import as_mapping, as_sequence, as_text, is_mapping
from analyzer.session.model import Session

__all__ = ["Step", "events_of", "main_failure", "steps_to", "verdict_of"]


class Step(NamedTuple):
    """One event led to the next, the last one to the failure."""

    name: str
    leads_to: str
    event_id: str


def verdict_of(run: Any) -> Mapping[str, Any] | None:
    """Return the diagnosis that a value is, as a dict; a session is diagnosed. None for what is neither."""
    if isinstance(run, Session):
        from analyzer.diagnosis import diagnose  # noqa: PLC0415  # agents' processes record without the detectors

        return diagnose(run).to_dict()
    to_dict = getattr(run, "to_dict", None)
    found: Any = to_dict() if callable(to_dict) else run
    return found if is_mapping(found) and is_diagnosis(found) and is_mapping(found.get("causal_graph")) else None


def main_failure(verdict: Mapping[str, Any]) -> Any:
    """Return the type of the failure that weighs most; None in a run without any."""
    return as_mapping(verdict.get("primary_diagnosis")).get("root_cause_failure_type")


def steps_to(verdict: Mapping[str, Any], failure: Any, failure_type: str) -> list[Step]:
    """Return the path to a failure: from its root, where one is known, and along `reinforces` edges of its evidence.

    Empty when the diagnosis holds no such failure.
    """
    evidence, number = _evidence(verdict, failure, failure_type)
    graph = as_mapping(verdict.get("causal_graph"))
    labels = {as_text(node.get("id")): as_text(node.get("label")) for node in map(as_mapping, _list(graph, "nodes"))}
    path = list(dict.fromkeys((*_from_root(verdict, failure_type, number), *_path(evidence, graph))))
    names = [*(f"{labels.get(event_id) or 'event'} ({event_id})" for event_id in path), failure_type]
    return [Step(name, leads_to, event_id) for (name, leads_to), event_id in zip(pairwise(names), path, strict=True)]


def events_of(verdict: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the events in the graph of a diagnosis as the events of a trace."""
    nodes = map(as_mapping, _list(as_mapping(verdict.get("causal_graph")), "nodes"))
    return [{"event": node.get("type"), "label": node.get("label")} for node in nodes if node.get("type") != "failure"]


def _from_root(verdict: Mapping[str, Any], failure_type: str, number: int) -> list[str]:
    """Return the path that the diagnosis gives from the root of a failure, the nth of its type; empty without one."""
    nodes = map(as_mapping, _list(as_mapping(verdict.get("causal_graph")), "nodes"))
    same_type = [
        node.get("id") for node in nodes if node.get("kind") == "failure" and node.get("label") == failure_type
    ]
    node = same_type[number] if number < len(same_type) else None
    for found in map(as_mapping, _list(as_mapping(verdict.get("roots")), "failures")):
        candidates = _list(found, "candidates")
        if found.get("failure") == node and candidates:
            path = list(map(as_text, as_sequence(as_mapping(candidates[0]).get("path"))))
            return path[:-1] if path[-1:] == [node] else []
    return []


def _evidence(verdict: Mapping[str, Any], failure: Any, failure_type: str) -> tuple[list[str], int]:
    """Return the evidence of a failure, and its number among those of its type."""
    same_type = [
        list(map(as_text, as_sequence(cause.get("evidence"))))
        for cause in map(as_mapping, as_sequence(verdict.get("failure_causes")))
        if cause.get("type") == failure_type
    ]
    given = failure.evidence if isinstance(failure, FailureCause) else as_mapping(failure).get("evidence")
    wanted = list(map(as_text, as_sequence(given)))
    if wanted in same_type:
        return wanted, same_type.index(wanted)
    return (same_type[0] if same_type else []), 0


def _path(evidence: list[str], graph: Mapping[str, Any]) -> list[str]:
    known = set(evidence)
    following: dict[str, str] = {}
    for edge in map(as_mapping, _list(graph, "edges")):
        source, target = as_text(edge.get("from")), as_text(edge.get("to"))
        if edge.get("relation") == "reinforces" and source in known and target in known and source != target:
            following[source] = target
    targets = set(following.values())
    path = [event_id for event_id in evidence if event_id not in targets][:1]
    while path and path[-1] in following:
        path.append(following.pop(path[-1]))
    return path


def _list(graph: Mapping[str, Any], name: str) -> Any:
    return as_sequence(graph.get(name))
