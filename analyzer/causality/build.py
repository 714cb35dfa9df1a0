"""From a run and its failures to the causal graph."""

from collections.abc import Container, Iterable

from analyzer.causality.graph import Edge, Node, Relation, RunGraph
from analyzer.causality.links import LINKS, LinkRule
from analyzer.causality.scene import Link, Scene
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT, ARGUMENTS, first_present, label_of, subject_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event

__all__ = ["build_graph"]

_LONGEST = 200  # bytes of arguments in a label


def build_graph(scene: Scene, profile: Profile, *, without: Container[Relation] = ()) -> RunGraph:
    """Return the graph that a profile's link rules make; linear in events, evidence and links.

    `without` names relations that are left out.
    """
    label = _LABELS[profile]
    nodes = [Node(event.event_id, event.event, "event", label(event)) for event in scene.timeline.events]
    nodes += (Node(failure.node, "failure", "failure", failure.cause.type) for failure in scene.failures)
    edges: list[Edge] = []
    seen: dict[Relation, set[tuple[str, str]]] = {}
    for rule in LINKS[profile]:
        links = [] if rule.relation in without else list(rule.find(scene))
        if links and profile is Profile.STANDARD and rule.relation != "precedes":
            links = _new(links, seen.setdefault(rule.relation, set()))
        if links:
            edges += _edges(rule, links)
    return RunGraph(tuple(nodes), tuple(edges))


def _new(links: Iterable[Link], seen: set[tuple[str, str]]) -> list[Link]:
    """Return each link once, by whatever rule it was found first, and none that leads to its own beginning."""
    found: list[Link] = []
    for link in links:
        source, target = ends = link.source, link.target
        if source != target and ends not in seen:
            seen.add(ends)
            found.append(link)
    return found


def _edges(rule: LinkRule, links: Iterable[Link]) -> list[Edge]:
    relation, name, usual = rule.relation, rule.name, rule.confidence
    return [Edge(link.source, link.target, relation, link.rule or name, link.confidence or usual) for link in links]


def _recorded_label(event: Event) -> str:
    """Return tool, name, skill or kind, and the arguments unless empty, as critiqor 0.1.4 does, but shortened."""
    arguments = first_present(event, ARGUMENTS)
    if arguments is ABSENT or not arguments:
        return label_of(event)
    return f"{label_of(event)}:{canonical(arguments)[:_LONGEST].decode('utf-8', 'replace')}"


_LABELS = {Profile.STANDARD: subject_of, Profile.CRITIQOR_V1: _recorded_label}
