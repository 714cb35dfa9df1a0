"""Where each span of a run stands: under which agent, in which tool call, in which model call.

One pass from parents to children, since asking upward from every span would cost the square of the depth.
"""

from collections.abc import Callable, Iterable, Mapping

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.reconstruct.node import NOWHERE, Node, Place

__all__ = ["settle_places"]


def settle_places(nodes: Iterable[Node]) -> None:
    """Tell each node its place; the nodes come parents first, and none has a parent that is not among them."""
    for node in nodes:
        above = NOWHERE if node.parent is None else node.parent.place
        inside = _INSIDE.get(node.role)
        node.place = above if inside is None else inside(node, above)


def _in_agent(node: Node, above: Place) -> Place:
    return Place(node, above.agent, None, None)


def _in_tool(node: Node, above: Place) -> Place:
    tool = above.tool if above.tool is not None and _same_call(above.tool, node) else node
    return Place(above.agent, above.super_agent, tool, None)


def _in_model(node: Node, above: Place) -> Place:
    return Place(above.agent, above.super_agent, above.tool, above.model or node)


_INSIDE: Mapping[SpanRole, Callable[[Node, Place], Place]] = {
    SpanRole.AGENT: _in_agent,
    SpanRole.TOOL: _in_tool,
    SpanRole.MODEL: _in_model,
}


def _same_call(outer: Node, inner: Node) -> bool:
    """Tell whether a tool span inside another is the same call seen again (MCP client and server, a wrapper).

    An agent between the two would have cleared the place: what a sub-agent calls is its own.
    """
    name = inner.facts.get(Field.TOOL_NAME)
    return name is None or name == outer.facts.get(Field.TOOL_NAME)
