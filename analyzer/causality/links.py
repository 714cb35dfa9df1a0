"""Which rules tie one thing of a run to another: the table of link rules."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from analyzer.causality.graph import Relation
from analyzer.cause import FailureCause
from analyzer.profile import Profile
from analyzer.session.accessors import name_of, payload_of
from analyzer.session.model import SpanRef
from analyzer.session.shapes import is_object
from analyzer.timeline.index import Timeline
from analyzer.timeline.repeats import Lesson

__all__ = ["LINKS", "Failure", "LinkRule", "Pairs"]

_SCOPES = frozenset(("agent_start", "turn_start"))
_SCOPE_ENDS = {"agent_end": "agent_start", "agent_finish": "agent_start", "turn_end": "turn_start"}


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure cause as a node of the graph."""

    node: str
    cause: FailureCause


Pairs: TypeAlias = Iterator[tuple[str, str]]
"""Source and target: ids of events or of failure nodes."""


@dataclass(frozen=True, slots=True)
class LinkRule:
    """One way in which things hang together."""

    relation: Relation
    name: str
    find: Callable[[Timeline, Sequence[Failure]], Pairs]
    """Yields the pairs in order; the source is never later than the target (but for the recorded rules)."""


def _in_order(timeline: Timeline, _: Sequence[Failure]) -> Pairs:
    return ((first.event_id, second.event_id) for first, second in pairwise(timeline.events))


def _listed(timeline: Timeline, _: Sequence[Failure]) -> Pairs:
    """Follow the list; an empty id yields no edge (critiqor 0.1.4)."""
    return (
        (first.event_id, second.event_id)
        for first, second in pairwise(timeline.events)
        if first.event_id and second.event_id
    )


def _named_evidence(timeline: Timeline, failures: Sequence[Failure]) -> Pairs:
    return (pair for pair in _evidence(timeline, failures) if pair[0])


def _evidence(_: Timeline, failures: Sequence[Failure]) -> Pairs:
    return ((event_id, failure.node) for failure in failures for event_id in failure.cause.evidence)


def _evidence_pairs(_: Timeline, failures: Sequence[Failure]) -> Pairs:
    return (pair for failure in failures for pair in pairwise(failure.cause.evidence) if all(pair))


def _evidence_in_time(timeline: Timeline, failures: Sequence[Failure]) -> Pairs:
    """Tie each piece of evidence to the next in time; what two failures share is tied once."""
    tied: set[tuple[str, str]] = set()
    for failure in failures:
        ids = sorted(set(failure.cause.evidence), key=timeline.position_of.__getitem__)
        for pair in pairwise(ids):
            if pair not in tied:
                tied.add(pair)
                yield pair


def _outputs(timeline: Timeline, _: Sequence[Failure]) -> Pairs:
    for call in timeline.calls:
        if call.output_id is not None and call.output_position > call.position:
            yield call.event_id, call.output_id


def _failed_then_again(timeline: Timeline, _: Sequence[Failure]) -> Pairs:
    for repetition in timeline.repetitions:
        for lesson, (call, again) in zip(repetition.lessons, pairwise(repetition.calls), strict=False):
            if lesson is Lesson.FAILED:
                yield call.event_id, again.event_id


def _told_retries(timeline: Timeline, _: Sequence[Failure]) -> Pairs:
    for retry in timeline.retries:
        if retry.call is None:
            continue
        call = timeline.calls[retry.call]
        is_later = timeline.position_of[retry.event.event_id] > call.position
        yield (call.event_id, retry.event.event_id) if is_later else (retry.event.event_id, call.event_id)


def _spans_inside(timeline: Timeline, _: Sequence[Failure]) -> Pairs:
    """Tie the first event of a span to the first event of each span inside."""
    first: dict[SpanRef, tuple[int, str]] = {}
    for position, event in enumerate(timeline.events):
        if event.span is not None:
            first.setdefault(event.span, (position, event.event_id))
    for position, event in enumerate(timeline.events):
        if event.span is None or first[event.span][0] != position:
            continue
        otel = payload_of(event).get("otel")
        parent_id = otel.get("parent_span_id") if is_object(otel) else None
        parent = first.get(SpanRef(event.span.trace_id, parent_id)) if isinstance(parent_id, str) else None
        if parent is not None and parent[0] < position:
            yield parent[1], event.event_id


def _events_inside(timeline: Timeline, _: Sequence[Failure]) -> Pairs:
    """Tie the innermost open agent or turn to each event that came from no span."""
    open_scopes: list[tuple[str, str]] = []
    for event in timeline.events:
        if event.span is not None:
            continue
        name = name_of(event)
        if open_scopes:
            yield open_scopes[-1][1], event.event_id
        if name in _SCOPES:
            open_scopes.append((name, event.event_id))
        elif name in _SCOPE_ENDS:
            _close(open_scopes, _SCOPE_ENDS[name])


def _close(open_scopes: list[tuple[str, str]], started: str) -> None:
    while open_scopes:
        if open_scopes.pop()[0] == started:
            return


LINKS: Mapping[Profile, tuple[LinkRule, ...]] = {
    Profile.STANDARD: (
        LinkRule("precedes", "next-in-time", _in_order),
        LinkRule("produces", "output-of-call", _outputs),
        LinkRule("retries", "failed-then-again", _failed_then_again),
        LinkRule("retries", "retry-event", _told_retries),
        LinkRule("contains", "span-inside", _spans_inside),
        LinkRule("contains", "event-inside", _events_inside),
        LinkRule("causes", "evidence", _evidence),
        LinkRule("reinforces", "next-evidence", _evidence_in_time),
    ),
    Profile.CRITIQOR_V1: (
        LinkRule("precedes", "next-in-list", _listed),
        LinkRule("causes", "evidence", _named_evidence),
        LinkRule("reinforces", "next-evidence", _evidence_pairs),
    ),
}
"""The rules of each profile, in the order in which their edges are listed."""
