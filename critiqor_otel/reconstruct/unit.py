"""The part of a trace that belongs to one run: all of it, or one of several agents' trees in it."""

from collections.abc import Iterator

from critiqor_otel.conventions import registry
from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.reconstruct.node import Node, Trace, walk
from critiqor_otel.reconstruct.ties import EVIDENCE, names_run, origin_of, rank, service_of, told_times

__all__ = ["Unit", "units_of"]


class Unit:
    """Some nodes of one trace, parents before children, and what says whose they are."""

    __slots__ = (
        "conversation",
        "end_ns",
        "has_agent",
        "index",
        "key",
        "known",
        "nodes",
        "origin",
        "scattered",
        "service",
        "speaks",
        "start_ns",
        "trace_id",
    )

    def __init__(self, trace_id: str, nodes: list[Node], *, run_id: str | None, conversation: str | None) -> None:
        """Take the nodes; an explicit run id is a stronger key than a conversation id."""
        spans = [node.span for node in nodes]
        first = min([span for span in spans if span.parent_span_id is None] or spans, key=rank)
        times = [told_times(span) for span in spans]
        self.trace_id = trace_id
        self.nodes = nodes
        self.conversation = conversation
        self.key = _key(run_id, conversation)
        self.start_ns = min((start for start, _ in times if start), default=0)
        self.end_ns = max(end for _, end in times)
        self.has_agent = any(node.role is SpanRole.AGENT for node in nodes)
        self.speaks = any(node.role in EVIDENCE for node in nodes)
        self.known = any(node.facts.family is not None for node in nodes)
        self.service = service_of(first)
        families = {node.facts.family for node in nodes}
        self.scattered = not families.isdisjoint(registry.SCATTERED)
        self.origin = origin_of(first)
        self.index = -1

    @property
    def sort_key(self) -> tuple[int, int, str, str]:
        """Start, minus end, ids: of units that start together the longer one first."""
        return self.start_ns, -self.end_ns, self.trace_id, self.nodes[0].span.span_id


_NOBODY = (None, None)
_RUN, _TALK = Field.RUN_ID, Field.SESSION_ID


def _key(run_id: str | None, conversation: str | None) -> tuple[str, str] | None:
    if run_id is not None:
        return "run", run_id
    return ("conversation", conversation) if conversation is not None else None


def units_of(trace: Trace, *, by_trace: bool) -> Iterator[Unit]:
    """Yield the units of a trace: one, unless several top agents speak of different runs."""
    owners = {} if by_trace else _owners(trace)
    if len({owner for owner in owners.values() if owner != _NOBODY}) > 1:
        yield from _split(trace, owners)
        return
    nodes = list(walk(trace.roots))
    named = next((owner for owner in owners.values() if owner != _NOBODY), None) or _first_ids(nodes)
    unit = Unit(trace.trace_id, nodes, run_id=named[0], conversation=named[1])
    if by_trace:
        unit.key = None
    yield unit


def _owners(trace: Trace) -> dict[int, tuple[str | None, str | None]]:
    """Map each top agent (no agent above it) to the ids it, or else its tree, names."""
    return {id(node): _first_ids(walk([node])) for node in _top_agents(trace)}


def _top_agents(trace: Trace) -> list[Node]:
    tops: list[Node] = []
    stack = list(reversed(trace.roots))
    while stack:
        node = stack.pop()
        if node.role is SpanRole.AGENT:
            tops.append(node)
        else:
            stack.extend(reversed(node.children))
    return tops


def _first_ids(nodes: Iterator[Node] | list[Node]) -> tuple[str | None, str | None]:
    """Return the first run id and the first conversation id named on these nodes: often only some spans carry them."""
    conversation = None
    for node in nodes:
        run_id = node.facts.get(_RUN)
        if run_id is not None and names_run(node.span, run_id):
            return run_id, conversation or node.facts.get(_TALK)
        if conversation is None:
            conversation = node.facts.get(_TALK)
    return None, conversation


def _split(trace: Trace, owners: dict[int, tuple[str | None, str | None]]) -> Iterator[Unit]:
    """Yield a unit for each run named by a top agent; what stands above or beside goes with the first."""
    homes: dict[tuple[str | None, str | None], list[Node]] = {}
    first = next(ids for ids in owners.values() if ids != _NOBODY)
    belongs: dict[int, tuple[str | None, str | None]] = {}
    for node in walk(trace.roots):
        inherited = belongs.get(id(node.parent), first) if node.parent is not None else first
        own = owners.get(id(node), _NOBODY)
        belongs[id(node)] = ids = inherited if own == _NOBODY else own
        homes.setdefault(ids, []).append(node)
    for node in trace.nodes:
        _let_go(node, belongs)
    for (run_id, conversation), nodes in homes.items():
        yield Unit(trace.trace_id, nodes, run_id=run_id, conversation=conversation)


def _let_go(node: Node, belongs: dict[int, tuple[str | None, str | None]]) -> None:
    """Cut the children that belong to another run; their span still names its parent."""
    own = belongs[id(node)]
    strangers = [child for child in node.children if belongs[id(child)] != own]
    if strangers:
        node.children = [child for child in node.children if belongs[id(child)] == own]
    for child in strangers:
        child.parent = None
