"""A run's spans become its session: every span tells its events, in the order in which they happened."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from analyzer.session.model import Agent, Event, EventKind, Note, Session, SourceLayer
from critiqor_otel.conventions.carriage import OUR_SCOPE
from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.reconstruct.account import Account
from critiqor_otel.reconstruct.draft import Draft
from critiqor_otel.reconstruct.events import Events
from critiqor_otel.reconstruct.grouping import Run
from critiqor_otel.reconstruct.node import Node, all_notes, walk
from critiqor_otel.reconstruct.otel_record import Shared, otel_record
from critiqor_otel.reconstruct.processes import adopt_processes
from critiqor_otel.reconstruct.replayed import CarriedRun, carried_run

__all__ = ["assemble"]

_NOTES_PER_CODE = 10


def assemble(run: Run) -> Session:
    """Return the session those spans tell of, its events in time order."""
    members = {id(node) for unit in run.units for node in unit.nodes}
    roots = [node for unit in run.units for node in unit.nodes if id(node.parent) not in members]
    roots.sort(key=lambda node: node.sort_key)
    roots = adopt_processes(roots, [node for unit in run.units for node in unit.nodes])
    nodes = list(walk(roots))
    carried = carried_run(nodes)
    if carried is not None and carried.is_whole:
        return carried.session(run.run_id)
    rebuilt = _rebuilt(run, nodes, roots, carried)
    return rebuilt if carried is None else carried.joined(rebuilt)


def _rebuilt(run: Run, nodes: Sequence[Node], roots: Sequence[Node], carried: CarriedRun | None) -> Session:
    """Return the session that the spans imply; those that carry events are there, and tell nothing."""
    account = Account(nodes)
    shared = Shared() if carried is None else Shared(carried.list_of("resources"), carried.list_of("scopes"))
    silent = frozenset[int]() if carried is None else carried.carriers
    events = _Writing(nodes, Events(account), shared, silent).events(roots)
    partial = [node.facts for node in nodes if not node.facts.lacks(_IN_PART)]
    in_part = sorted({fact for facts in partial for fact in facts.get(Field.CARRIED_IN_PART) or ()})
    extra: dict[str, Any] = {"resources": shared.resources, "scopes": shared.scopes, "carried_in_part": in_part}
    return Session(
        run_id=run.run_id,
        events=events,
        agent=_agent(nodes),
        trace_ids=tuple(sorted({node.span.trace_id for node in nodes})),
        notes=tuple(_fold([*run.notes, *all_notes(nodes)])),
        extra={key: value for key, value in extra.items() if value},
    )


class _Writing:
    """Puts the drafts of all spans in order and gives them ids and times."""

    def __init__(self, nodes: Sequence[Node], events: Events, shared: Shared, silent: frozenset[int]) -> None:
        counts = Counter(node.span.span_id for node in nodes)
        self._ambiguous = {span_id for span_id, count in counts.items() if count > 1}
        self._events = events
        self._shared = shared
        self._silent = silent
        self._written: list[Event] = []

    def events(self, roots: Sequence[Node]) -> tuple[Event, ...]:
        self._walk(roots)
        self._written.sort(key=_time_of)  # stable: the walk is the causal order
        return tuple(self._written)

    def _walk(self, roots: Sequence[Node]) -> None:
        """Let each node tell its start, all below it, and its end."""
        events, silent = self._events, self._silent
        stack = list(reversed(roots))
        around: list[Node] = []  # nodes whose children are being told
        while stack:
            node = stack[-1]
            if not (around and around[-1] is node):
                if id(node) not in silent:
                    self._tell(node, events.at_start(node), node.start_ns)
                if node.children:
                    around.append(node)
                    stack += reversed(node.children)
                    continue
            else:
                around.pop()
            stack.pop()
            if id(node) not in silent:
                self._tell(node, events.at_end(node), node.start_ns if node.end_ns is None else node.end_ns)

    def _tell(self, node: Node, drafts: Iterable[Draft], time_ns: int | None) -> None:
        ref, told = node.ref, node.told
        prefix = f"{ref.trace_id}-{ref.span_id}" if ref.span_id in self._ambiguous else ref.span_id
        for draft in drafts:
            if told == 0:
                draft.payload["otel"] = otel_record(node, self._shared)
            self._written.append(
                Event(
                    event_id=f"{prefix}:{told}",
                    event=draft.event,
                    event_type=draft.event_type,
                    time_ns=time_ns if draft.at_ns is None else draft.at_ns,
                    source_layer=_LAYERS.get(draft.event, _ELSEWHERE),
                    tool_name=draft.tool_name,
                    tool_call_id=draft.tool_call_id,
                    status=draft.status,
                    duration_ms=_duration_ms(node) if draft.timed else None,
                    error=draft.error,
                    payload=draft.payload,
                    span=ref,
                )
            )
            told += 1
        node.told = told


_IN_PART = frozenset({Field.CARRIED_IN_PART})
_TOOL_SIDE: tuple[str, ...] = (EventKind.TOOL_CALL, EventKind.TOOL_OUTPUT)
_LAYERS: dict[str, SourceLayer] = dict.fromkeys(_TOOL_SIDE, SourceLayer.TOOL_HOOKS)
_ELSEWHERE = SourceLayer.EXTENSION_API


def _time_of(event: Event) -> int:
    return event.time_ns or 0


def _duration_ms(node: Node) -> float | None:
    if node.start_ns is None or node.end_ns is None:
        return None
    return (node.end_ns - node.start_ns) / 1e6


def _agent(nodes: Sequence[Node]) -> Agent:
    """Return who ran: the first agent that has a name, else the first that other spans name, and who told of it."""
    agents = [node for node in nodes if node.role is SpanRole.AGENT]
    first = next(filter(_agent_name, agents), None) or next(filter(_agent_name, nodes), next(iter(agents), None))
    if first is None:
        return Agent()
    scope = first.span.scope.name
    return Agent(
        name=_agent_name(first),
        framework=None if scope == OUR_SCOPE else scope or None,
        version=first.facts.get(Field.AGENT_VERSION),
    )


def _agent_name(node: Node) -> str | None:
    name: str | None = node.facts.get(Field.AGENT_NAME)
    return name


def _fold(notes: Sequence[Note]) -> Iterator[Note]:
    """Yield the notes; of many of one code the first few and the number of the others."""
    counts: Counter[str] = Counter()
    for note in notes:
        counts[note.code] += 1
        if counts[note.code] <= _NOTES_PER_CODE:
            yield note
    for code, count in sorted(counts.items()):
        if count > _NOTES_PER_CODE:
            yield Note(code=code, message=f"and {count - _NOTES_PER_CODE} more of these")
