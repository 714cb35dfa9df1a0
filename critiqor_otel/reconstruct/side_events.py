"""What spans beside agents, models and tools tell: memory, skills, plans, context, retries, processes, evaluations."""

from collections.abc import Iterator

from analyzer.session.model import EventKind
from analyzer.session.shapes import is_list
from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.records import spans_of_events
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.reconstruct.account import Account
from critiqor_otel.reconstruct.draft import Draft, known
from critiqor_otel.reconstruct.node import Node
from critiqor_otel.reconstruct.values import as_json

__all__ = [
    "EXTRAS",
    "context",
    "decision",
    "evaluation",
    "extras",
    "memory_end",
    "memory_start",
    "process_end",
    "process_start",
    "retries",
    "retry",
    "retry_of",
    "skill",
]

_Drafts = Iterator[Draft]


def memory_start(_: Account, node: Node) -> _Drafts:
    """Yield a memory operation or retrieval as it begins."""
    operation = _operation(node)
    yield Draft(
        event=EventKind.MEMORY_EVENT,
        event_type=f"memory_{operation}",
        payload=known(operation=operation, query=node.facts.get(Field.QUERY), store=node.facts.get(Field.STORE)),
    )


def memory_end(_: Account, node: Node) -> _Drafts:
    """Yield a memory operation or retrieval with its outcome."""
    if node.end_ns is None:
        return
    operation = _operation(node)
    records = as_json(node.facts.get(Field.RECORDS))
    count = node.facts.get(Field.RECORD_COUNT)
    if count is None and is_list(records):
        count = len(records)
    failure = node.failure
    yield Draft(
        event=EventKind.MEMORY_EVENT,
        event_type=f"memory_{operation}",
        status="ok" if failure is None else "error",
        error=None if failure is None else failure.message or failure.error_type,
        payload=known(
            operation=operation,
            records=records,
            record_count=count,
            outcome="error" if failure is not None else _outcome(operation, count),
        ),
        timed=True,
    )


def _operation(node: Node) -> str:
    return node.facts.get(Field.MEMORY_OPERATION) or ("retrieve" if node.role is SpanRole.RETRIEVER else "search")


_LOOK_UPS = frozenset({"search", "get", "retrieve"})


def _outcome(operation: str, count: int | None) -> str | None:
    if operation not in _LOOK_UPS or count is None:
        return None
    return "hit" if count else "miss"


def skill(_: Account, node: Node) -> _Drafts:
    """Yield the loading of a skill, or of a resource of one."""
    resource = node.facts.get(Field.SKILL_RESOURCE)
    yield Draft(
        event=EventKind.SKILL_EVENT,
        event_type="skill_load" if resource is None else "skill_read",
        payload=known(skill=node.facts.get(Field.SKILL_NAME), resource=resource, invoked=True),
    )


def decision(account: Account, node: Node) -> _Drafts:
    """Yield a plan or another decision."""
    yield Draft(
        event=EventKind.DECISION,
        event_type="plan",
        payload=known(agent=account.agent_name(node), reason=node.facts.get(Field.REASON)),
    )


def context(_: Account, node: Node) -> _Drafts:
    """Yield the state of the context window; saturation in percent where both numbers are known."""
    used, window = node.facts.get(Field.CONTEXT_USED), node.facts.get(Field.CONTEXT_WINDOW)
    compacted = bool(node.facts.get(Field.CONTEXT_COMPACTED))
    yield Draft(
        event=EventKind.CONTEXT_EVENT,
        event_type="compaction" if compacted else "context",
        payload=known(
            used=used,
            window=window,
            saturation=100 * used / window if used is not None and window else None,
            action="compaction" if compacted else None,
            reason=node.facts.get(Field.REASON),
        ),
    )


def retry(_: Account, node: Node) -> _Drafts:
    """Yield another attempt."""
    yield retry_of(node.facts, node)


def retries(node: Node) -> _Drafts:
    """Yield each further attempt that an event of the span tells of."""
    for inner in spans_of_events(node.span):
        facts = facts_of(inner)
        if facts.role is SpanRole.RETRY:
            draft = retry_of(facts, node)
            if (node.start_ns or 0) <= inner.start_ns <= (node.end_ns or inner.start_ns):
                draft.at_ns = inner.start_ns
            yield draft


def retry_of(facts: Facts, node: Node) -> Draft:
    """Return another attempt at what the facts tell of, else at what its span does."""
    tool, model = facts.get(Field.TOOL_NAME), facts.get(Field.MODEL)
    if tool is None and model is None:
        tool = node.facts.get(Field.TOOL_NAME) if node.role is SpanRole.TOOL else None
        model = node.facts.get(Field.MODEL) if node.role is SpanRole.MODEL else None
    return Draft(
        event=EventKind.RETRY_EVENT,
        event_type="retry",
        tool_name=tool,
        payload=known(attempt=facts.get(Field.ATTEMPT), reason=facts.get(Field.REASON), model=model),
    )


def process_start(_: Account, node: Node) -> _Drafts:
    """Yield the start of a process."""
    yield Draft(
        event=EventKind.PROCESS_START,
        event_type="process_start",
        payload=known(command=as_json(node.facts.get(Field.INPUT)), in_call=node.place.tool is not None or None),
    )


def process_end(_: Account, node: Node) -> _Drafts:
    """Yield the end of a process with its exit code."""
    if node.end_ns is not None:
        yield Draft(
            event=EventKind.PROCESS_END,
            event_type="process_end",
            payload=known(exit_code=node.facts.get(Field.EXIT_CODE), in_call=node.place.tool is not None or None),
            timed=True,
        )


def evaluation(_: Account, node: Node) -> _Drafts:
    """Yield an evaluation of the run by somebody else."""
    yield _evaluation(node.facts)


def _evaluation(facts: Facts) -> Draft:
    return Draft(
        event="evaluation",
        event_type="evaluation",
        payload=known(
            name=facts.get(Field.EVALUATION_NAME),
            score=facts.get(Field.EVALUATION_SCORE),
            label=facts.get(Field.EVALUATION_LABEL),
            reason=facts.get(Field.REASON),
        ),
    )


EXTRAS = frozenset({Field.CONTEXT_COMPACTED})
"""Facts that a span of any role may have to tell beside its own events; what else it may tell are span events."""


def extras(node: Node) -> _Drafts:
    """Yield what a span of any role may tell beside its own events."""
    if node.role is not SpanRole.CONTEXT and node.facts.get(Field.CONTEXT_COMPACTED):
        yield Draft(event=EventKind.CONTEXT_EVENT, event_type="compaction", payload={"action": "compaction"})
    for inner in spans_of_events(node.span):
        facts = facts_of(inner)
        if facts.role is SpanRole.EVALUATION:
            yield _evaluation(facts)
