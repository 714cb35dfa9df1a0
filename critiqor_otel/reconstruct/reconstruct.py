"""The road from spans and log records to sessions."""

from collections.abc import Iterable

from msgspec import Struct

from analyzer.session.model import Note, Session
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.reconstruct.assemble import assemble
from critiqor_otel.reconstruct.duplicates import deduplicate
from critiqor_otel.reconstruct.grouping import GroupBy, group, silent_runs
from critiqor_otel.reconstruct.logs import join_logs
from critiqor_otel.reconstruct.node import Node, Trace
from critiqor_otel.reconstruct.repairs import mend
from critiqor_otel.span import LogRecord, Span

__all__ = ["Reconstruction", "reconstruct"]


class Reconstruction(Struct, frozen=True):
    """The sessions in order of run id, what was passed over, and how many deliveries were repeats."""

    sessions: tuple[Session, ...]
    notes: tuple[Note, ...]
    repeats: int
    silent_traces: tuple[str, ...]
    """Traces in which no agent speaks."""


def reconstruct(
    spans: Iterable[Span],
    logs: Iterable[LogRecord] = (),
    *,
    group_by: GroupBy | None = None,
    keep_silent: bool = False,
) -> Reconstruction:
    """Return the sessions that spans and records tell of, whatever order they come in.

    With `keep_silent`, traces in which no agent speaks become sessions too.
    """
    distinct = deduplicate(spans)
    joined = join_logs(distinct.spans, logs)
    traces: dict[str, list[Node]] = {}
    for found, from_log in ((joined.spans, False), (joined.from_records, True)):
        for address, span in found.items():
            node = Node(span, facts_of(span), from_log=from_log)
            if address in distinct.versions:
                node.note("span-versions", "it was delivered in different versions; the one that ended last was taken")
            traces.setdefault(span.trace_id, []).append(node)
    whole = [Trace(trace_id, nodes) for trace_id, nodes in sorted(traces.items())]
    for trace in whole:
        mend(trace)
    grouped = group(whole, group_by)
    kept = silent_runs(grouped.silent) if keep_silent else []
    notes = [*joined.notes, *grouped.notes, *_repeats(distinct.repeats), *_annotations(distinct.annotations)]
    return Reconstruction(
        sessions=tuple(assemble(run) for run in (*grouped.runs, *kept)),
        notes=tuple(notes),
        repeats=distinct.repeats,
        silent_traces=() if keep_silent else tuple(sorted({unit.trace_id for unit in grouped.silent})),
    )


def _repeats(count: int) -> list[Note]:
    if not count:
        return []
    return [Note(code="duplicate-spans", message=f"{count} spans were delivered more than once; each was taken once")]


def _annotations(count: int) -> list[Note]:
    if not count:
        return []
    return [Note(code="annotation-spans", message=f"{count} spans tell verdicts of ours; they are no evidence")]
