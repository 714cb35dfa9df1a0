"""Tokens once: what each span reports, and which of the reports count.

Usage counts on the outermost span of a model call, or else on the spans inside it. What an agent reports is a sum of
its calls and counts only where none of them reports anything (spec: OTel GenAI lets invoke_agent carry sums).
"""

from collections.abc import Iterable, Mapping, Sequence

from analyzer.timeline.tokens import whole_input
from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.reconstruct.draft import known
from critiqor_otel.reconstruct.node import Node

__all__ = ["Usage", "counted_usage", "usage_of"]

Usage = dict[str, int]
"""input_tokens (cached input included), output_tokens, total, cached_input_tokens, cache_write_tokens,
reasoning_tokens; those that are known."""

_REPORTS = (
    *(Field.CACHED_INPUT_TOKENS, Field.CACHE_WRITE_TOKENS, Field.REASONING_TOKENS),
    *(Field.INPUT_TOKENS, Field.OUTPUT_TOKENS, Field.TOTAL_TOKENS, Field.UNCACHED_INPUT_TOKENS),
)
_ANY = frozenset(_REPORTS)


def usage_of(facts: Facts) -> Usage | None:
    """Return what a span reports of tokens, or None when it reports nothing."""
    if facts.lacks(_ANY):
        return None
    cached, written, reasoning, given, output, total, uncached = facts.each(_REPORTS)
    if given is None and uncached is not None:
        given = uncached + (cached or 0) + (written or 0)
    if given is None and output is None and total is None:
        return None
    if given is not None:
        given = whole_input(given, output, total, cached=(cached or 0) + (written or 0))
    if given is not None and output is not None:
        total = given + output
    return known(
        input_tokens=given,
        output_tokens=output,
        total=total,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=reasoning,
    )


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
    return sums


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
