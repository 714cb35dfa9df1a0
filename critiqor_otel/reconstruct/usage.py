"""Tokens once: what each span reports, and which of the reports count.

Usage counts on the outermost span of a model call, or else on the spans inside it. What an agent reports is a sum of
its calls and counts only where none of them reports anything (spec: OTel GenAI lets invoke_agent carry sums).
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from analyzer.timeline.tokens import whole_input
from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.plans import Form
from critiqor_otel.reconstruct.node import Node

__all__ = ["Usage", "counted_usage", "usage_of"]

Usage = dict[str, int]
"""input_tokens (cached input included), output_tokens, total, cached_input_tokens, cache_write_tokens,
reasoning_tokens; those that are known."""

_REPORTS = Form(
    cached_input_tokens=Field.CACHED_INPUT_TOKENS,
    cache_write_tokens=Field.CACHE_WRITE_TOKENS,
    reasoning_tokens=Field.REASONING_TOKENS,
    input_tokens=Field.INPUT_TOKENS,
    output_tokens=Field.OUTPUT_TOKENS,
    total=Field.TOTAL_TOKENS,
    uncached=Field.UNCACHED_INPUT_TOKENS,
)
_SUMS = frozenset({"input_tokens", "output_tokens", "total"})
_PARTS = ("cached_input_tokens", "cache_write_tokens", "reasoning_tokens")


def usage_of(facts: Facts) -> Usage | None:
    """Return what a span reports of tokens, or None when it reports nothing."""
    told: dict[str, int] = facts.known(_REPORTS)
    if not told:
        return None
    cached = told.get("cached_input_tokens", 0) + told.get("cache_write_tokens", 0)
    uncached = told.pop("uncached", None)
    if uncached is not None and "input_tokens" not in told:
        told["input_tokens"] = uncached + cached
    if _SUMS.isdisjoint(told):
        return None
    return _in_order(told, cached)


def _in_order(told: Usage, cached: int) -> Usage:
    """Return the numbers in the order in which they are written, the total summed up where its parts are known."""
    given, output, total = told.get("input_tokens"), told.get("output_tokens"), told.get("total")
    usage: Usage = {}
    if given is not None:
        usage["input_tokens"] = given = whole_input(given, output, total, cached=cached)
    if output is not None:
        usage["output_tokens"] = output
        total = total if given is None else given + output
    if total is not None and total >= max(given or 0, output or 0):  # else a part that is no count was summed up
        usage["total"] = total
    if not told.keys() <= _SUMS:
        usage |= {name: told[name] for name in _PARTS if name in told}
    return usage


def counted_usage(nodes: Sequence[Node]) -> dict[int, Usage]:
    """Map the id() of the nodes whose reports count to what they report; the nodes come parents first."""
    reports = {id(node): usage for node in nodes if (usage := usage_of(node.facts)) is not None}
    if not reports:
        return {}
    counted = _model_usage(nodes, reports)
    if not counted:
        counted = {id(node): reports[id(node)] for node in nodes if node.role is SpanRole.USAGE and id(node) in reports}
    return counted | _roll_ups(nodes, reports, counted)


_ROLL_UPS = frozenset({SpanRole.AGENT, SpanRole.TURN})


def _roll_ups(nodes: Sequence[Node], reports: Mapping[int, Usage], counted: Mapping[int, Usage]) -> dict[int, Usage]:
    """Return the topmost sums that no counted report below them is part of."""
    if reports.keys() <= counted.keys():
        return {}
    accounted = set(counted)
    for node in reversed(nodes):
        if id(node) in accounted and node.parent is not None:
            accounted.add(id(node.parent))
    sums: dict[int, Usage] = {}
    inside: set[int] = set()
    for node in nodes:
        if node.parent is not None and id(node.parent) in inside:
            inside.add(id(node))
        elif node.role in _ROLL_UPS and id(node) in reports and id(node) not in accounted:
            sums[id(node)] = reports[id(node)]
            inside.add(id(node))
    beside = _Beside(nodes, counted) if sums else None
    return {
        id(node): sums[id(node)]
        for node in nodes
        if id(node) in sums and not (beside and beside.make_up(node, sums[id(node)]))
    }


class _Beside:
    """Counted calls outside every agent, by trace: an agent that lost its context has them beside it, not below."""

    def __init__(self, nodes: Sequence[Node], counted: Mapping[int, Usage]) -> None:
        self._calls: dict[str, list[tuple[int, int, int]]] = {}
        """Of each trace, in order of time: when a call began, and the input and output of all calls up to it."""
        for node in sorted((node for node in nodes if id(node) in counted), key=_start):
            if node.place.agent is None:
                usage, calls = counted[id(node)], self._calls.setdefault(node.span.trace_id, [(-1, 0, 0)])
                _, given, output = calls[-1]
                new = given + usage.get("input_tokens", 0), output + usage.get("output_tokens", 0)
                calls.append((_start(node), *new))

    def make_up(self, agent: Node, total: Usage) -> bool:
        """Tell whether the calls that began in the agent's time sum up to exactly what it reports."""
        calls = self._calls.get(agent.span.trace_id)
        if calls is None or agent.end_ns is None:
            return False
        _, *before = calls[bisect_left(calls, (_start(agent),)) - 1]
        _, *until = calls[bisect_left(calls, (agent.end_ns,)) - 1]
        parts = (until[0] - before[0], until[1] - before[1])
        return parts == (total.get("input_tokens", 0), total.get("output_tokens", 0))


def _start(node: Node) -> int:
    return node.start_ns or 0


def _model_usage(nodes: Iterable[Node], reports: Mapping[int, Usage]) -> dict[int, Usage]:
    """Return the usage of each model call, keyed by its outermost span."""
    usage: dict[int, Usage] = {}
    first: dict[int, Node] = {}
    for node in nodes:
        outer = node.place.model
        if outer is None or id(node) not in reports or node.role is not SpanRole.MODEL:
            continue
        holder = first.setdefault(id(outer), node)
        if holder is node:
            usage[id(outer)] = reports[id(node)]
        elif holder.parent is node.parent:  # siblings inside one call each carry a part of it
            usage[id(outer)] = _add(usage[id(outer)], reports[id(node)])
        elif _tells_the_same(usage[id(outer)], reports[id(node)]):
            usage[id(outer)] = {**reports[id(node)], **usage[id(outer)]}
    return usage


def _tells_the_same(outer: Usage, inner: Usage) -> bool:
    """Tell whether a span inside a model call reports that call again: what it knows beyond the sums is kept."""
    return all(outer.get(part) == inner.get(part) for part in ("input_tokens", "output_tokens"))


def _add(one: Usage, other: Usage) -> Usage:
    return {name: one.get(name, 0) + other.get(name, 0) for name in sorted({*one, *other})}
