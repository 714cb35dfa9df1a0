"""What the causal graph of a run is made of: events and failures, and the rules that tie them."""

from typing import Literal, Self, get_args

from msgspec import Struct

from analyzer.cause import Confidence

__all__ = ["RELATIONS", "Edge", "Node", "NodeKind", "Relation", "RunGraph"]

NodeKind = Literal["event", "failure"]

Relation = Literal[
    "precedes",
    "causes",
    "reinforces",
    "produces",
    "informs",
    "retries",
    "contains",
    "repeats",
    "exhausts",
    "delegates",
    "blocks",
]


RELATIONS: tuple[Relation, ...] = get_args(Relation)


class Node(Struct, frozen=True, gc=False):
    """An event of the run, or a failure found in it."""

    id: str
    type: str
    """The event's kind, or `failure`."""
    kind: NodeKind
    label: str
    """For people: the tool, skill or failure type."""


class Edge(Struct, frozen=True, gc=False, rename={"source": "from", "target": "to"}):
    """One thing led to another; in JSON `source` is `from` and `target` is `to`."""

    source: str
    target: str
    relation: Relation
    rule: str
    """The link rule that made the edge."""
    confidence: Confidence = Confidence.HIGH
    """How sure it is that the one led to the other."""


class RunGraph(Struct, frozen=True):
    """Nodes in the order of the events, failures last; edges grouped by the rule that made them."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    def without(self, *relations: Relation) -> Self:
        """Return the graph without the edges of these relations."""
        return type(self)(self.nodes, tuple(edge for edge in self.edges if edge.relation not in relations))
