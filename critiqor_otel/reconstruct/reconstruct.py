"""The road from spans and log records to sessions.

Three steps, each of which an engine may run elsewhere: `tell` says what ties traces together, `clusters` which of them
must be looked at together, and `rebuild` makes the runs of one such set. `reconstruct` is the three on one input.
"""

from collections.abc import Iterable, Mapping
from itertools import chain

from msgspec import Struct

from analyzer.session.model import Note, Session
from critiqor_otel.conventions.carriage import ANNOTATION
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.reconstruct.assemble import assemble
from critiqor_otel.reconstruct.chaining import chain_of
from critiqor_otel.reconstruct.clusters import Chain, clusters, may_chain
from critiqor_otel.reconstruct.grouping import GroupBy, group, silent_runs
from critiqor_otel.reconstruct.node import Trace
from critiqor_otel.reconstruct.prepared import Counts, prepare
from critiqor_otel.reconstruct.ties import Ties, add_ties, gathered
from critiqor_otel.span import LogRecord, Span

__all__ = ["Rebuilt", "Reconstruction", "count_notes", "rebuild", "reconstruct", "tell"]


class Reconstruction(Struct, frozen=True):
    """The sessions in order of run id, what was passed over, and how many deliveries were repeats."""

    sessions: tuple[Session, ...]
    notes: tuple[Note, ...]
    repeats: int
    silent_traces: tuple[str, ...]
    """Traces in which no agent speaks."""


class Rebuilt(Struct, frozen=True):
    """The runs of one set of traces."""

    sessions: tuple[Session, ...]
    kept: tuple[Session, ...]
    """Traces in which no agent speaks, where they are wanted as runs."""
    notes: tuple[Note, ...]
    silent_traces: tuple[str, ...]


def reconstruct(
    spans: Iterable[Span],
    logs: Iterable[LogRecord] = (),
    *,
    group_by: GroupBy | None = None,
    keep_silent: bool = False,
    others: Iterable[Ties] = (),
) -> Reconstruction:
    """Return the sessions that spans and records tell of, whatever order they come in.

    With `keep_silent`, traces in which no agent speaks become sessions too. `others` are the ties of what else is among
    the input: of session files.
    """
    spans, logs = list(spans), list(logs)
    known: dict[int, Facts] = {}
    ties = gathered(others)
    if logs or len({span.trace_id for span in spans}) > 1:  # the ties of one trace have nothing to tie it to
        tell(spans, logs, ties, known)
    prepared = prepare(spans, logs, known)
    sets = clusters(ties, _chains(prepared.traces, ties))
    rebuilt = [
        rebuild(traces, group_by=group_by, keep_silent=keep_silent) for traces in _divided(prepared.traces, sets)
    ]
    for trace in prepared.traces:
        trace.let_go()
    return Reconstruction(
        sessions=(*_sorted(one.sessions for one in rebuilt), *_sorted(one.kept for one in rebuilt)),
        notes=(*(note for one in rebuilt for note in one.notes), *count_notes(prepared.counts)),
        repeats=prepared.counts.repeats,
        silent_traces=tuple(sorted(chain.from_iterable(one.silent_traces for one in rebuilt))),
    )


def tell(
    spans: Iterable[Span], logs: Iterable[LogRecord], ties: dict[str, Ties], known: dict[int, Facts] | None = None
) -> None:
    """Add what spans and records say of the ties of their traces; keep the facts by the id() of the span, if asked."""
    for span in spans:
        if ANNOTATION in span.attributes:
            continue
        facts = facts_of(span)
        add_ties(ties, span, facts)
        if known is not None:
            known[id(span)] = facts
    for record in logs:
        made = span_of_record(record)
        if made is not None:
            add_ties(ties, made, facts_of(made))


def rebuild(traces: Iterable[Trace], *, group_by: GroupBy | None = None, keep_silent: bool = False) -> Rebuilt:
    """Return the runs of a set of traces that no tie leaves."""
    grouped = group(traces, group_by)
    kept = silent_runs(grouped.silent) if keep_silent else []
    return Rebuilt(
        sessions=tuple(map(assemble, grouped.runs)),
        kept=tuple(map(assemble, kept)),
        notes=grouped.notes,
        silent_traces=() if keep_silent else tuple(sorted({unit.trace_id for unit in grouped.silent})),
    )


def count_notes(counts: Counts) -> list[Note]:
    """Return the notes on what was left out of the whole input."""
    notes = [_homeless(name, count) for name, count in sorted(counts.homeless.items())]
    if counts.repeats:
        message = f"{counts.repeats} spans were delivered more than once; each was taken once"
        notes.append(Note(code="duplicate-spans", message=message))
    if counts.annotations:
        message = f"{counts.annotations} spans tell verdicts of ours; they are no evidence"
        notes.append(Note(code="annotation-spans", message=message))
    return notes


def _homeless(name: str, count: int) -> Note:
    records = "1 log record" if count == 1 else f"{count} log records"
    called = f"named {name!r} belonging" if name else "without a name belonging"
    message = f"{records} {called} to no span and to no session here, and left out"
    return Note(code="log-without-span", message=message)


def _chains(traces: Iterable[Trace], ties: Mapping[str, Ties]) -> Iterable[Chain]:
    for trace in traces:
        found = ties.get(trace.trace_id)
        if found is not None and may_chain(found):
            yield chain_of(trace)


def _divided(traces: Iterable[Trace], sets: Mapping[str, str]) -> list[list[Trace]]:
    divided: dict[str, list[Trace]] = {}
    for trace in traces:
        divided.setdefault(sets.get(trace.trace_id, trace.trace_id), []).append(trace)
    return [members for _, members in sorted(divided.items())]


def _sorted(parts: Iterable[tuple[Session, ...]]) -> list[Session]:
    return sorted(chain.from_iterable(parts), key=lambda session: session.run_id)
