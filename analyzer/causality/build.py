"""From a timeline and its failures to the causal graph."""

from collections.abc import Iterator, Sequence

from analyzer.causality.graph import Edge, Node, RunGraph
from analyzer.causality.links import LINKS, Failure
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT, ARGUMENTS, first_present, label_of, subject_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event
from analyzer.timeline.index import Timeline

__all__ = ["build_graph"]

_LONGEST = 200  # bytes of arguments in a label


def build_graph(timeline: Timeline, failures: Sequence[Failure], profile: Profile) -> RunGraph:
    """Return the graph that a profile's link rules make; linear in events and evidence."""
    label = _LABELS[profile]
    nodes = [Node(event.event_id, event.event, "event", label(event)) for event in timeline.events]
    nodes += (Node(failure.node, "failure", "failure", failure.cause.type) for failure in failures)
    return RunGraph(tuple(nodes), tuple(_edges(timeline, failures, profile)))


def _edges(timeline: Timeline, failures: Sequence[Failure], profile: Profile) -> Iterator[Edge]:
    for rule in LINKS[profile]:
        relation, name = rule.relation, rule.name
        for source, target in rule.find(timeline, failures):
            yield Edge(source, target, relation, name)


def _recorded_label(event: Event) -> str:
    """Return tool, name, skill or kind, and the arguments unless empty, as critiqor 0.1.4 does, but shortened."""
    arguments = first_present(event, ARGUMENTS)
    if arguments is ABSENT or not arguments:
        return label_of(event)
    return f"{label_of(event)}:{canonical(arguments)[:_LONGEST].decode('utf-8', 'replace')}"


_LABELS = {Profile.STANDARD: subject_of, Profile.CRITIQOR_V1: _recorded_label}
