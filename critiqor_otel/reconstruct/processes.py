"""A process span that lies in a trace of its own goes to the tool call that was under way around it."""

from bisect import bisect_right
from collections.abc import Sequence

from critiqor_otel.conventions.convention import SpanRole
from critiqor_otel.reconstruct.node import Node

__all__ = ["adopt_processes"]

_NEAREST = 64  # how many calls before it are looked at; more are hardly ever under way at once


def adopt_processes(roots: list[Node], nodes: Sequence[Node]) -> list[Node]:
    """Return the roots without the processes that found their tool call; those became its children."""
    orphans = [node for node in roots if node.role is SpanRole.PROCESS]
    if not orphans:
        return roots
    tools = sorted((node for node in nodes if node.role is SpanRole.TOOL), key=lambda node: node.sort_key)
    starts = [node.start_ns or 0 for node in tools]
    for orphan in orphans:
        latest = bisect_right(starts, orphan.start_ns or 0)
        around = (tool for tool in reversed(tools[max(0, latest - _NEAREST) : latest]) if _encloses(tool, orphan))
        home = next(around, None)
        if home is not None:
            orphan.parent = home
            home.children.append(orphan)
            orphan.note("process-adopted", "it lay in a trace of its own; it was given to the tool call around it")
    return [node for node in roots if node.parent is None]


def _encloses(tool: Node, process: Node) -> bool:
    return tool.end_ns is not None and (process.end_ns or process.start_ns or 0) <= tool.end_ns
