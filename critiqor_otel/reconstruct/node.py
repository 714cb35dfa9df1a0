"""A span on its way into a session: its facts, its place in the tree, and its times after repair."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from analyzer.session.model import Note, SpanRef
from critiqor_otel.conventions.carriage import UNFINISHED
from critiqor_otel.conventions.convention import SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.span import Span

__all__ = ["NOWHERE", "Failure", "Node", "Place", "Trace", "all_notes", "walk"]


class Failure(Struct, frozen=True):
    """What a span says of its own failure; either part may be unknown."""

    error_type: str | None
    message: str | None


class Place(Struct, frozen=True):
    """The outermost spans of the things a span is part of; a span is part of itself."""

    agent: "Node | None"
    """The nearest agent at or above the span."""
    super_agent: "Node | None"
    """The agent above that one."""
    tool: "Node | None"
    """The outermost span of the tool call the span is part of."""
    model: "Node | None"
    """The outermost span of the model call the span is part of."""


NOWHERE = Place(None, None, None, None)


class Node:
    """A span in its trace. The span itself stays as it came; what repairs change stands here."""

    __slots__ = (
        "children",
        "end_ns",
        "facts",
        "failure",
        "from_log",
        "notes",
        "parent",
        "place",
        "ref",
        "role",
        "span",
        "start_ns",
        "tells",
        "told",
    )

    def __init__(self, span: Span, facts: Facts, *, from_log: bool) -> None:
        """Begin with the span's own times and role, and no family."""
        self.span = span
        self.ref = SpanRef(span.trace_id, span.span_id)
        """The span's address."""
        self.facts = facts
        self.from_log = from_log
        self.role: SpanRole = facts.role
        self.parent: Node | None = None
        self.children: list[Node] = []
        self.start_ns: int | None = span.start_ns or None
        # A span that the end of its process cut off has an end and is unfinished all the same.
        self.end_ns: int | None = None if UNFINISHED in span.attributes else span.end_ns or None
        self.notes: list[Note] = []
        self.place = NOWHERE
        """Where in the run it stands, once that is settled."""
        self.failure: Failure | None = None
        """What it tells of its own failure, once that is settled."""
        self.tells = self.role
        """The role its events are written in, once that is settled."""
        self.told = 0
        """How many events it has told."""

    @property
    def sort_key(self) -> tuple[int, int, str, str]:
        """Start, end and ids: the same order whatever order the spans came in."""
        return self.start_ns or 0, self.end_ns or 0, self.span.trace_id, self.span.span_id

    def note(self, code: str, message: str) -> None:
        """Say what was found on this span."""
        self.notes.append(Note(code=code, message=message, span=self.ref))


class Trace:
    """The nodes of one trace, and those of them without a parent here."""

    __slots__ = ("in_order", "nodes", "roots", "trace_id")

    def __init__(self, trace_id: str, nodes: list[Node]) -> None:
        """Take the trace's nodes; parents are set by the repairs."""
        self.trace_id = trace_id
        self.nodes = nodes
        self.roots: list[Node] = []
        self.in_order = False
        """Roots and children are known to stand in the order of their times."""

    def let_go(self) -> None:
        """Untie the nodes, once all is told: rings of them would stay in memory until the collector comes by."""
        for node in self.nodes:
            node.parent = None
            node.place = NOWHERE


def walk(roots: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes depth first, parents before children, in the order of the children lists.

    Iterative: a trace may be deeper than the interpreter's stack.
    """
    stack = list(roots)
    stack.reverse()
    while stack:
        node = stack.pop()
        yield node
        if node.children:
            stack += reversed(node.children)


def all_notes(nodes: Iterable[Node]) -> list[Note]:
    """Return the notes on these nodes and on their facts."""
    return [note for node in nodes if node.notes or node.facts.notes for note in (*node.notes, *node.facts.notes)]
