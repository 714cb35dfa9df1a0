"""What of a run's graph leads to one failure? A view that a person can take in: 40 nodes at most.

Kept are the failure, the path to it, its evidence and what led to that, nearest first, as long as there is room. What
is alike (one type, one label) becomes one node with a count; edges that would run back between such nodes are left out.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from analyzer.causality.graph import Edge, Node, RunGraph

__all__ = ["MOST_NODES", "focus"]

MOST_NODES: Final = 40

_POOL: Final = 2_000  # nodes looked at on the way back
_ALONE: Final = 2  # so many alike stay apart
_NOT_CAUSES = frozenset(("precedes", "contains"))


def focus(graph: RunGraph, failure: str, path: Sequence[str] = (), *, most: int = MOST_NODES) -> RunGraph:
    """Return the part of a graph that leads to the failure with this node id, events along `path` first.

    An empty graph where there is no such node.
    """
    nodes = {node.id: node for node in graph.nodes}
    if failure not in nodes:
        return RunGraph()
    causal = [edge for edge in graph.edges if edge.relation not in _NOT_CAUSES]
    order = _way_back(failure, path, causal, nodes)
    place = {node.id: position for position, node in enumerate(graph.nodes)}
    groups = _groups(order, nodes, place)
    kept = list(dict.fromkeys(groups[node_id][0] for node_id in order))[:most]
    shown = set(kept)
    edges = _between(causal, groups, shown, place)
    drawn = [_node(nodes[first], groups[first]) for first in sorted(kept, key=place.__getitem__)]
    return RunGraph(tuple(drawn), tuple(edges))


def _way_back(failure: str, path: Sequence[str], edges: Iterable[Edge], nodes: Mapping[str, Node]) -> list[str]:
    """Return what leads to the failure: itself, the path, then what is one step before these, two steps, and so on."""
    before: dict[str, list[str]] = {}
    for edge in edges:
        before.setdefault(edge.target, []).append(edge.source)
    found = dict.fromkeys((failure, *(event_id for event_id in path if event_id in nodes)))
    waiting = deque(found)
    while waiting and len(found) < _POOL:
        for source in before.get(waiting.popleft(), ()):
            if source not in found:
                found[source] = None
                waiting.append(source)
    return list(found)


def _groups(order: Iterable[str], nodes: Mapping[str, Node], place: Mapping[str, int]) -> dict[str, list[str]]:
    """Return by node the nodes that it is shown with, the earliest first."""
    alike: dict[tuple[str, str], list[str]] = {}
    for node_id in sorted(order, key=place.__getitem__):
        node = nodes[node_id]
        alike.setdefault((node.type, node.label) if node.kind == "event" else ("", node_id), []).append(node_id)
    found: dict[str, list[str]] = {}
    for members in alike.values():
        for member in members:
            found[member] = members if len(members) > _ALONE else [member]
    return found


def _between(
    edges: Iterable[Edge], groups: Mapping[str, list[str]], shown: set[str], place: Mapping[str, int]
) -> Iterator[Edge]:
    """Yield the edges between what is shown, each once, forward only."""
    seen: set[tuple[str, str, str]] = set()
    for edge in edges:
        if edge.source not in groups or edge.target not in groups:
            continue
        source, target = groups[edge.source][0], groups[edge.target][0]
        key = (source, target, edge.relation)
        if key in seen or not {source, target} <= shown or place[source] >= place[target]:
            continue
        seen.add(key)
        yield Edge(source, target, edge.relation, edge.rule, edge.confidence)


def _node(node: Node, members: Sequence[str]) -> Node:
    return node if len(members) == 1 else Node(node.id, node.type, node.kind, f"{node.label} x{len(members)}")
