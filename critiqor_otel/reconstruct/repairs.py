"""Mending a trace: small functions in a fixed order, each of which says what it did.

The order matters: parents are settled before times are compared with theirs. A repair applied twice changes nothing.
"""

from collections.abc import Callable, Iterable

from critiqor_otel.conventions.carriage import LOST, UNFINISHED
from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.reconstruct.node import Node, Trace, walk
from critiqor_otel.span import StatusCode

__all__ = [
    "REPAIRS",
    "believe_times",
    "borrow_times",
    "break_cycles",
    "link_parents",
    "mark_unended",
    "mend",
    "order_siblings",
    "order_times",
    "place_children",
    "tell_losses",
    "undo_skew",
]


def mend(trace: Trace) -> None:
    """Apply every repair to the trace, in place."""
    for repair in REPAIRS:
        repair(trace)


def link_parents(trace: Trace) -> None:
    """Set each node's parent; a parent that is missing, or the span itself, is noted and the node becomes a root."""
    by_id = {node.span.span_id: node for node in trace.nodes}
    for node in trace.nodes:
        parent_id = node.span.parent_span_id
        if parent_id is None:
            continue
        if parent_id == node.span.span_id:
            node.note("self-parent", "the span names itself as its parent; it was taken for a root")
            continue
        node.parent = by_id.get(parent_id)
        if node.parent is None:
            node.note("orphan-span", f"its parent {parent_id} was never seen; it was taken for a root")


def break_cycles(trace: Trace) -> None:
    """Cut each ring of parents at its earliest span."""
    settled: set[int] = set()
    for node in trace.nodes:
        if node.parent is None or node.parent.parent is None:
            continue  # near enough to a root to see that there is no ring
        path: dict[int, Node] = {}
        current: Node | None = node
        while current is not None and id(current) not in settled:
            if id(current) in path:
                _cut_ring(current)
                break
            path[id(current)] = current
            current = current.parent
        settled.update(path)


def _cut_ring(member: Node) -> None:
    ring = [member]
    current = member.parent
    while current is not None and current is not member:
        ring.append(current)
        current = current.parent
    first = min(ring, key=lambda node: node.sort_key)
    first.parent = None
    first.note("parent-cycle", f"{len(ring)} spans name each other as parents; the earliest was taken for a root")


def believe_times(trace: Trace) -> None:
    """Read times that can only be milliseconds or microseconds as such; one beyond all calendars is none."""
    for node in trace.nodes:
        if node.start_ns is not None and not _YEARS[0] <= node.start_ns < _YEARS[1]:
            node.start_ns = _believed(node, "start", node.start_ns)
        if node.end_ns is not None and not _YEARS[0] <= node.end_ns < _YEARS[1]:
            node.end_ns = _believed(node, "end", node.end_ns)


_YEARS = (1_550_000_000_000_000_000, 2_147_483_648_000_000_000)
"""2019 to 2038, when traces of today are made; told in a coarser unit they seem to be of January 1970."""
_UNITS = ((1_000_000, "milliseconds"), (1_000, "microseconds"))
_BEYOND = 1 << 63  # what is left of a negative number where it was written as one without a sign


def _believed(node: Node, which: str, time_ns: int) -> int | None:
    if time_ns >= _BEYOND:
        node.note("time-beyond", f"its {which} time is beyond all calendars; it was taken for unknown")
        return None
    for factor, unit in _UNITS:
        if _YEARS[0] <= time_ns * factor < _YEARS[1]:
            node.note("time-unit", f"its {which} time can only be in {unit}; it was read so")
            return time_ns * factor
    return time_ns


def order_times(trace: Trace) -> None:
    """Swap start and end where the end comes first; a negative duration is never kept."""
    for node in trace.nodes:
        if node.start_ns is not None and node.end_ns is not None and node.end_ns < node.start_ns:
            node.note(
                "swapped-times", f"it ends {node.start_ns - node.end_ns} ns before it starts; the times were swapped"
            )
            node.start_ns, node.end_ns = node.end_ns, node.start_ns


def place_children(trace: Trace) -> None:
    """Fill the lists of children and roots, in order of time and id."""
    trace.nodes.sort(key=lambda node: node.sort_key)
    for node in trace.nodes:
        (node.parent.children if node.parent is not None else trace.roots).append(node)
    trace.in_order = True


def borrow_times(trace: Trace) -> None:
    """Give a span without a start that of its parent, or of the trace, or else its own end where that comes first."""
    known = [node.start_ns for node in trace.nodes if node.start_ns is not None]
    earliest = min(known, default=None)
    if len(known) == len(trace.nodes):
        return
    trace.in_order = False
    for node in walk(trace.roots):
        if node.start_ns is not None or earliest is None:
            continue
        start = node.parent.start_ns if node.parent is not None else earliest
        node.start_ns = start if start is None or node.end_ns is None else min(start, node.end_ns)
        if node.end_ns is None and node.span.end_ns == 0 and node.span.start_ns == 0:
            node.end_ns = node.start_ns
        node.note("no-time", "it has no start time; that of its parent, or of the trace, was taken")


def undo_skew(trace: Trace) -> None:
    """Move a span that starts before its parent to the parent's start, together with all below it."""
    if not _has_early(trace.nodes):
        return
    trace.in_order = False
    shift: dict[int, int] = {}
    for node in walk(trace.roots):
        moved = shift.get(id(node.parent), 0) if node.parent is not None else 0
        if node.start_ns is None:
            continue
        start = node.start_ns + moved
        if node.parent is not None and node.parent.start_ns is not None and start < node.parent.start_ns:
            behind = node.parent.start_ns - start
            node.note("clock-skew", f"it starts {behind} ns before its parent; it was moved to the parent's start")
            moved += behind
        if moved:
            shift[id(node)] = moved
            node.start_ns += moved
            node.end_ns = node.end_ns + moved if node.end_ns is not None else None


def _has_early(nodes: Iterable[Node]) -> bool:
    """Tell whether a node starts before its parent."""
    for node in nodes:
        start, parent = node.start_ns, node.parent
        if parent is None or start is None or parent.start_ns is None:
            continue
        if start < parent.start_ns:
            return True
    return False


def order_siblings(trace: Trace) -> None:
    """Order roots and children by their mended times."""
    if trace.in_order:
        return
    trace.roots.sort(key=lambda node: node.sort_key)
    for node in trace.nodes:
        if len(node.children) > 1:
            node.children.sort(key=lambda child: child.sort_key)


def mark_unended(trace: Trace) -> None:
    """Note spans that were still open when they were exported; one that tells what came of it has ended."""
    for node in reversed(trace.nodes):
        if node.end_ns is not None or node.role is SpanRole.OTHER:
            continue
        if node.role in _ANSWERING and UNFINISHED not in node.span.attributes and _tells_its_outcome(node):
            ends = [child.end_ns for child in node.children if child.end_ns is not None]
            node.end_ns = max(ends, default=node.start_ns)
            node.note("no-end-time", "it has no end time, and tells what came of it; the latest time in it was taken")
        else:
            node.note("unended-span", "it has no end time; it was still running when it was last seen")


_ANSWERING = frozenset({SpanRole.MODEL, SpanRole.TOOL, SpanRole.MEMORY, SpanRole.RETRIEVER})
_OUTCOMES = (Field.TOOL_RESULT, Field.OUTPUT_MESSAGES, Field.OUTPUT_TOKENS, Field.RECORDS)


def _tells_its_outcome(node: Node) -> bool:
    return node.span.status is not StatusCode.UNSET or any(node.facts.get(field) is not None for field in _OUTCOMES)


def tell_losses(trace: Trace) -> None:
    """Note what an exporter had lost when it sent a span: the run may be short of it."""
    for node in trace.nodes:
        lost = node.span.attributes.get(LOST)
        if isinstance(lost, int) and lost > 0:
            node.note("lost-spans", f"its exporter had lost {lost} spans when it sent this one: this run may lack some")


REPAIRS: tuple[Callable[[Trace], None], ...] = (
    believe_times,
    link_parents,
    break_cycles,
    order_times,
    place_children,
    borrow_times,
    undo_skew,
    order_siblings,
    mark_unended,
    tell_losses,
)
