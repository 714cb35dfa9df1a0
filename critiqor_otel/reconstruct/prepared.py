"""Spans and records of some traces, in whatever order, as whole traces: each span once, with its records, mended."""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct

from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.reconstruct.duplicates import deduplicate
from critiqor_otel.reconstruct.logs import join_logs
from critiqor_otel.reconstruct.node import Node, Trace
from critiqor_otel.reconstruct.repairs import mend
from critiqor_otel.reconstruct.ties import names_of
from critiqor_otel.span import LogRecord, Span

__all__ = ["Counts", "Prepared", "prepare"]


class Counts(Struct):
    """What was left out of a part of the input, so that the parts can be added up."""

    repeats: int = 0
    """Deliveries of a span that was there already."""
    annotations: int = 0
    """Spans that tell verdicts of ours."""
    homeless: Counter[str] = Counter()
    """Log records that belong to no span and no session, by name."""

    def add(self, other: "Counts") -> None:
        """Add what was left out of another part."""
        self.repeats += other.repeats
        self.annotations += other.annotations
        self.homeless = self.homeless + other.homeless


class Prepared(Struct, frozen=True):
    """The traces in order of id."""

    traces: tuple[Trace, ...]
    counts: Counts


def prepare(
    spans: Iterable[Span], logs: Iterable[LogRecord], known: Mapping[int, Facts] = MappingProxyType({})
) -> Prepared:
    """Return the traces that spans and records tell of; all that is told of a trace must be among them.

    The facts of spans whose ties were told need not be found again; they are known by the id() of the span.
    """
    distinct = deduplicate(spans)
    joined = join_logs(distinct.spans, logs)
    traces: dict[str, list[Node]] = {}
    for found, from_log in ((joined.spans, False), (joined.from_records, True)):
        for address, span in found.items():
            node = Node(span, known.get(id(span)) or _named_facts_of(span), from_log=from_log)
            if address in distinct.versions:
                node.note("span-versions", "it was delivered in different versions; the one that ended last was taken")
            traces.setdefault(span.trace_id, []).append(node)
    whole = tuple(Trace(trace_id, nodes) for trace_id, nodes in sorted(traces.items()))
    for trace in whole:
        mend(trace)
    return Prepared(whole, Counts(distinct.repeats, distinct.annotations, joined.homeless))


def _named_facts_of(span: Span) -> Facts:
    """Return the facts of a span, the names in it read, as where its ties are told: so are the notes on them."""
    facts = facts_of(span)
    names_of(facts)
    return facts
