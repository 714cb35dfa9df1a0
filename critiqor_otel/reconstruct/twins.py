"""Which model spans tell of one and the same answer.

A vendor's client may write spans of its own (Anthropic's SDK does) beside those of an instrumentation around it: one
answer, with its id, stands in two spans that cover the same time, as siblings or each in a trace of its own.
"""

from collections.abc import Iterable, Iterator

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.reconstruct.node import Node

__all__ = ["fuller_first", "twins"]


_MODEL = SpanRole.MODEL


def twins(nodes: Iterable[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield pairs of model spans under one parent, or under none, that bear one answer's id and overlap in time.

    Time is asked for since an id may come again: a cache answers with the id of the answer it kept.
    """
    seen: dict[str, Node] = {}
    for node in nodes:
        if node.role is not _MODEL or (answer := node.facts.get(Field.RESPONSE_ID)) is None:
            continue
        other = seen.setdefault(answer, node)
        if other is node:
            continue
        if other.parent is node.parent and _overlap(other, node):
            yield other, node
        else:
            seen[answer] = node


def fuller_first(one: Node, other: Node) -> tuple[Node, Node]:
    """Return the pair with the span first that holds messages."""
    return (other, one) if not _speaks(one) and _speaks(other) else (one, other)


def _speaks(node: Node) -> bool:
    return bool(node.facts.get(Field.OUTPUT_MESSAGES) or node.facts.get(Field.INPUT_MESSAGES))


def _overlap(one: Node, other: Node) -> bool:
    return _start(one) <= _end(other) and _start(other) <= _end(one)


def _start(node: Node) -> int:
    return node.start_ns or 0


def _end(node: Node) -> int:
    return node.end_ns or _start(node)
