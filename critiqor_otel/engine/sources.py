"""Which files did each run come from? Told to people only: what is computed must not depend on it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from analyzer.session.model import Session
from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.span import Batch, LogRecord, Span

__all__ = ["Source", "add_source", "files_of"]


class Source(msgspec.Struct):
    """A file, and how much of the evidence that was gathered next came from it."""

    place: str
    spans: int = 0
    logs: int = 0
    run_ids: list[str] = []
    """The runs that its session files tell of."""


def add_source(sources: list[Source], batch: Batch) -> None:
    """Count what a batch holds to its file."""
    if batch.place is None or not (batch.spans or batch.logs or batch.sessions):
        return
    if not sources or sources[-1].place != batch.place:
        sources.append(Source(batch.place))
    source = sources[-1]
    source.spans += len(batch.spans)
    source.logs += len(batch.logs)
    source.run_ids += (session.run_id if session.continues is None else session.continues for session in batch.sessions)


def files_of(
    sessions: Iterable[Session], sources: Sequence[Source], spans: Iterable[Span], logs: Iterable[LogRecord]
) -> dict[str, tuple[str, ...]]:
    """Return the files of each run, sorted, by run id."""
    if len({source.place for source in sources}) == 1:
        return {session.run_id: (sources[0].place,) for session in sessions}
    by_run: dict[str, set[str]] = {}
    by_trace: dict[str, set[str]] = {}
    remaining, records = iter(spans), iter(logs)
    for source in sources:
        traces = {span.trace_id for span in islice(remaining, source.spans)}
        traces.update(_traces(islice(records, source.logs)))
        for trace_id in traces:
            by_trace.setdefault(trace_id, set()).add(source.place)
        for run_id in source.run_ids:
            by_run.setdefault(run_id, set()).add(source.place)
    return {session.run_id: _sorted(session, by_run, by_trace) for session in sessions}


def _traces(records: Iterable[LogRecord]) -> Iterator[str]:
    for record in records:
        made = span_of_record(record) if record.trace_id is None else None
        trace_id = record.trace_id if made is None else made.trace_id
        if trace_id is not None:
            yield trace_id


def _sorted(session: Session, by_run: Mapping[str, set[str]], by_trace: Mapping[str, set[str]]) -> tuple[str, ...]:
    found = set(by_run.get(session.run_id, ()))
    for trace_id in session.trace_ids:
        found |= by_trace.get(trace_id, set())
    return tuple(sorted(found))
