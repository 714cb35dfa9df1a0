"""From a run and its failures to the causal graph."""

from collections.abc import Iterator

from analyzer.causality.graph import Edge, Node, RunGraph
from analyzer.causality.links import LINKS, LinkRule
from analyzer.causality.scene import Link, Scene
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT, ARGUMENTS, first_present, label_of, subject_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event

__all__ = ["build_graph"]

_LONGEST = 200  # bytes of arguments in a label


def build_graph(scene: Scene, profile: Profile) -> RunGraph:
    """Return the graph that a profile's link rules make; linear in events, evidence and links."""
    label = _LABELS[profile]
    nodes = [Node(event.event_id, event.event, "event", label(event)) for event in scene.timeline.events]
    nodes += (Node(failure.node, "failure", "failure", failure.cause.type) for failure in scene.failures)
    edges = _unique(scene) if profile is Profile.STANDARD else _edges(scene, profile)
    return RunGraph(tuple(nodes), tuple(edges))


def _unique(scene: Scene) -> Iterator[Edge]:
    """Yield each edge once, by whatever rule it was found first, and none that leads to its own beginning."""
    seen: set[tuple[str, str, str]] = set()
    for edge in _edges(scene, Profile.STANDARD):
        key = (edge.source, edge.target, edge.relation)
        if edge.source == edge.target or key in seen:
            continue
        if edge.relation != "precedes":
            seen.add(key)
        yield edge


def _edges(scene: Scene, profile: Profile) -> Iterator[Edge]:
    for rule in LINKS[profile]:
        yield from (_edge(rule, link) for link in rule.find(scene))


def _edge(rule: LinkRule, link: Link) -> Edge:
    return Edge(link.source, link.target, rule.relation, link.rule or rule.name, link.confidence or rule.confidence)


def _recorded_label(event: Event) -> str:
    """Return tool, name, skill or kind, and the arguments unless empty, as critiqor 0.1.4 does, but shortened."""
    arguments = first_present(event, ARGUMENTS)
    if arguments is ABSENT or not arguments:
        return label_of(event)
    return f"{label_of(event)}:{canonical(arguments)[:_LONGEST].decode('utf-8', 'replace')}"


_LABELS = {Profile.STANDARD: subject_of, Profile.CRITIQOR_V1: _recorded_label}
