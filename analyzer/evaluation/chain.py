"""By which steps did one failure come about? The documented causal graph of a single failure.

The graph of a whole run (`RunGraph`) is that of a diagnosis. This one is a chain: through that graph where there is a
diagnosis, else of named steps from the start to the consequence, each tied to the first trace event that speaks of it.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

from analyzer.cause import FailureCause
from analyzer.evaluation.chain_words import AMBIGUOUS, first_step, phrase, steps_after
from analyzer.evaluation.evidence import EvaluationEvidence
from analyzer.evaluation.frozen import FrozenList, document
from analyzer.evaluation.run_chain import events_of, main_failure, steps_to, verdict_of
from analyzer.lenient import as_mapping, as_optional_text, as_sequence, as_text, is_mapping, is_sequence

__all__ = ["CausalGraph", "CausalGraphEdge", "build_causal_graph", "explain_failure_chain"]

_UNKNOWN = "unknown_failure"
_NO_FAILURE = "no_failure"
_REMEMBERED = 1024  # graphs kept for explain_failure_chain; the oldest goes first


@dataclass(frozen=True, slots=True)
class CausalGraphEdge:
    """One step led to the next."""

    node: str
    leads_to: str
    evidence: str = ""
    """The name of the first trace event that speaks of `node`, its event id in a diagnosed run; empty without one."""

    def to_dict(self) -> dict[str, Any]:
        """Return the edge as a JSON-serialisable dict, without empty evidence."""
        return document(
            {"node": self.node, "leads_to": self.leads_to, "evidence": self.evidence or None},
            unless_none=frozenset(("evidence",)),
        )

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the edge of a dict; what is missing is empty."""
        found = as_mapping(payload)
        return cls(*(as_text(found.get(name, "")) for name in ("node", "leads_to", "evidence")))


@dataclass(frozen=True, slots=True)
class CausalGraph:
    """The chain that led to one failure."""

    failure_event: str
    """The failure type."""
    causal_graph: Sequence[CausalGraphEdge] = ()
    run_id: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "causal_graph", FrozenList(self.causal_graph))

    def explain(self) -> str:
        """Return the chain in words, step by step from its first edge; the failure's name when it has no edge."""
        if not self.causal_graph:
            return phrase(self.failure_event)
        nodes = [self.causal_graph[0].node, *(edge.leads_to for edge in self.causal_graph)]
        return " -> ".join(map(phrase, nodes))

    def to_dict(self) -> dict[str, Any]:
        """Return the graph as a JSON-serialisable dict, without a run id when there is none."""
        return document(
            {"failure_event": self.failure_event, "causal_graph": self.causal_graph, "run_id": self.run_id},
            unless_none=frozenset(("run_id",)),
        )

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the graph of a dict; what is missing is empty."""
        found = as_mapping(payload)
        return cls(
            failure_event=as_text(found.get("failure_event", "")),
            causal_graph=tuple(map(CausalGraphEdge.from_dict, as_sequence(found.get("causal_graph")))),
            run_id=as_optional_text(found.get("run_id")),
        )


def build_causal_graph(trace: Any, failure_event: Any = None, run_id: str | None = None) -> CausalGraph:
    """Return the chain to a failure (its type, cause or dict), tied to the events of a trace or of evidence.

    With a diagnosis, or a session, which is then diagnosed, the chain is the path through the graph of that run, from
    event to event; the failure is its main one unless another is named. A graph with a run id is remembered for
    `explain_failure_chain`, the last 1,024 of them.
    """
    verdict = None if isinstance(trace, EvaluationEvidence) else verdict_of(trace)
    if verdict is None:
        events, has_outputs = _events(trace)
        graph = _by_template(events, failure_event, run_id, has_outputs=has_outputs)
    else:
        graph = _of_run(verdict, failure_event, run_id)
    if graph.run_id is not None:
        _remember(graph.run_id, graph)
    return graph


def explain_failure_chain(run: str | CausalGraph) -> str:
    """Return the chain of a graph, or of the last graph built with that run id, in words; empty when there is none."""
    graph = _GRAPHS.get(run) if isinstance(run, str) else run
    return "" if graph is None else graph.explain()


_GRAPHS: OrderedDict[str, CausalGraph] = OrderedDict()


def _of_run(verdict: Mapping[str, Any], failure_event: Any, run_id: str | None) -> CausalGraph:
    named = main_failure(verdict) if failure_event is None else failure_event
    own_id = as_optional_text(verdict.get("run_id")) if run_id is None else run_id
    if named is None:
        return CausalGraph(_NO_FAILURE, (), own_id)
    failure = _failure_type(named)
    steps = steps_to(verdict, named, failure)
    if not steps:
        return _by_template(events_of(verdict), named, own_id, has_outputs=False)
    return CausalGraph(failure, [CausalGraphEdge(*step) for step in steps], own_id)


def _by_template(events: Sequence[Any], failure_event: Any, run_id: str | None, *, has_outputs: bool) -> CausalGraph:
    failure = _failure_type(failure_event)
    texts = [(as_text(event.get("event", "")), _normal(_spoken(event))) for event in events]
    first = AMBIGUOUS if any("prompt ambiguity" in text for _, text in texts) else first_step(failure)
    saw_tool = has_outputs or any("tool" in name.lower() for name, _ in texts)
    nodes = [first, *(step for step in steps_after(failure, saw_tool=saw_tool) if step != first)]
    edges = [CausalGraphEdge(node, leads_to, _evidence(node, texts)) for node, leads_to in pairwise(nodes)]
    return CausalGraph(failure, edges, run_id)


def _remember(run_id: str, graph: CausalGraph) -> None:
    _GRAPHS[run_id] = graph
    _GRAPHS.move_to_end(run_id)
    if len(_GRAPHS) > _REMEMBERED:
        _GRAPHS.popitem(last=False)


def _failure_type(failure: Any) -> str:
    if isinstance(failure, FailureCause):
        return failure.type or _UNKNOWN
    if is_mapping(failure):
        return as_text(failure.get("type") or failure.get("failure_event") or _UNKNOWN)
    return failure if isinstance(failure, str) and failure else _UNKNOWN


def _events(trace: Any) -> tuple[list[Any], bool]:
    if isinstance(trace, EvaluationEvidence):
        return list(trace.trace), bool(trace.tool_outputs)
    return [event for event in trace if is_mapping(event)] if is_sequence(trace) else [], False


def _spoken(event: Any) -> str:
    """Return names and values: the names count as said, as recorded."""
    return " ".join(as_text(part) for field in event.items() for part in field if part is not None)


def _normal(text: str) -> str:
    """Return the text in lower case, as words of letters and digits with one space between."""
    return " ".join("".join(char if char.isalnum() else " " for char in text.lower()).split())


def _evidence(node: str, texts: list[tuple[str, str]]) -> str:
    # Substrings, as recorded: "or" of retry_or_timeout finds an "error" (specification §4.2).
    words = node.split("_")
    return next((name for name, text in texts if any(word in text for word in words)), "")
