"""Which spans of two instrumentations tell of one and the same model call or tool call.

A vendor's client may write spans of its own (Anthropic's SDK does) beside those of an instrumentation around it: one
answer, with its id, stands in two spans that cover the same time, as siblings or each in a trace of its own. Siblings
of two instrumentations are known without such an id too: one covers the other's time, and they tell the same tokens, or
one call of one tool.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.reconstruct.node import Node

__all__ = ["fuller_first", "sibling_twins", "twins"]


_MODEL, _TOOL = SpanRole.MODEL, SpanRole.TOOL


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


def sibling_twins(nodes: Collection[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield pairs of spans of two instrumentations under one parent, or roots of one trace, that tell of one call."""
    if len({node.span.scope.name for node in nodes}) == 1:
        return
    seen: dict[Hashable, Node] = {}
    for node in nodes:
        if (told := _what_siblings_share(node)) is None:
            continue
        other = seen.setdefault((told, node.span.trace_id, id(node.parent)), node)
        if other is node:
            continue
        if other.span.scope.name != node.span.scope.name and (_covers(other, node) or _covers(node, other)):
            yield other, node
        else:
            seen[told, node.span.trace_id, id(node.parent)] = node


def _what_siblings_share(node: Node) -> Hashable:
    if node.role is _TOOL:
        call_id = node.facts.get(Field.TOOL_CALL_ID)
        return None if call_id is None else (call_id, node.facts.get(Field.TOOL_NAME))
    if node.role is not _MODEL or node.from_log:
        return None
    tokens = node.facts.get(Field.INPUT_TOKENS), node.facts.get(Field.OUTPUT_TOKENS)
    return None if None in tokens else tokens


def fuller_first(one: Node, other: Node) -> tuple[Node, Node]:
    """Return the pair with the span first that holds messages, or a result."""
    return (other, one) if not _speaks(one) and _speaks(other) else (one, other)


def _speaks(node: Node) -> bool:
    return any(node.facts.get(field) for field in _CONTENT)


_CONTENT = (Field.OUTPUT_MESSAGES, Field.INPUT_MESSAGES, Field.TOOL_RESULT)


def _covers(outer: Node, inner: Node) -> bool:
    return _start(outer) <= _start(inner) and _end(inner) <= _end(outer)


def _overlap(one: Node, other: Node) -> bool:
    return _start(one) <= _end(other) and _start(other) <= _end(one)


def _start(node: Node) -> int:
    return node.start_ns or 0


def _end(node: Node) -> int:
    return node.end_ns or _start(node)
