"""Files in, verdicts out, on this machine: read, reconstruct, join, diagnose.

Each step is a plain function from values to values, so that another engine can run the same steps elsewhere: `gather`
folds batches of any origin, `runs_of` needs all evidence of a run in one place, `diagnosed` treats each run alone.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from analyzer.diagnosis import Profile, diagnose
from analyzer.options import Options
from analyzer.report.report import RunReport, report_run
from analyzer.session.model import Note, Session
from critiqor_otel.engine.sources import Source, add_source
from critiqor_otel.reconstruct.grouping import GroupBy
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.reconstruct.ties import ties_of_session
from critiqor_otel.span import Batch, LogRecord, Span
from critiqor_otel.spool.continuations import join_continuations

__all__ = ["Evidence", "Runs", "diagnosed", "duplicates", "gather", "judged", "runs_of"]

_NO_OPTIONS = Options()


class Evidence(msgspec.Struct, kw_only=True):
    """All that an input held, before anything is made of it."""

    spans: list[Span] = []
    logs: list[LogRecord] = []
    sessions: list[Session] = []
    notes: list[Note] = []
    """On the input: what could not be read, and what was mended on the way."""
    places: dict[str, list[str]] = {}
    """The files that session files came from, by run id."""
    sources: list[Source] = []
    """The files that gave evidence, in the order in which they were read."""
    passed_over: int = 0
    """Pieces without traces and logs, metrics requests for one."""


class Runs(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of an input, and what else it held."""

    sessions: list[Session]
    """One a run, in order of run id, continuations joined."""
    notes: tuple[Note, ...]
    """On the input as a whole; what was found in one run stands in its session."""
    silent_traces: tuple[str, ...]
    """Traces in which no agent speaks."""


def gather(batches: Iterable[Batch]) -> Evidence:
    """Return what the batches hold, together."""
    evidence = Evidence()
    for batch in batches:
        evidence.spans += batch.spans
        evidence.logs += batch.logs
        evidence.sessions += batch.sessions
        for session in batch.sessions:
            if batch.place is not None:
                evidence.places.setdefault(session.run_id, []).append(batch.place)
        evidence.notes += batch.notes
        evidence.passed_over += batch.skipped
        add_source(evidence.sources, batch)
    return evidence


def runs_of(evidence: Evidence, *, group_by: GroupBy | None = None, keep_silent: bool = False) -> Runs:
    """Return the runs that the evidence tells of; the order of files, batches and spans changes nothing.

    With `keep_silent`, a trace in which no agent speaks is a run too.
    """
    others = (ties_of_session(session.run_id, session.continues) for session in evidence.sessions)
    rebuilt = reconstruct(evidence.spans, evidence.logs, group_by=group_by, keep_silent=keep_silent, others=others)
    return Runs(
        sessions=join_continuations((*rebuilt.sessions, *evidence.sessions)),
        notes=(*evidence.notes, *rebuilt.notes),
        silent_traces=rebuilt.silent_traces,
    )


def diagnosed(sessions: Iterable[Session], *, profile: Profile, options: Options = _NO_OPTIONS) -> Iterator[RunReport]:
    """Yield the verdict on each session; they are worked out as they are asked for."""
    return (judged(session, profile=profile, options=options) for session in sessions)


def judged(session: Session, *, profile: Profile, options: Options = _NO_OPTIONS) -> RunReport:
    """Return the verdict on a session, with the evidence behind its main failure."""
    return report_run(diagnose(session, profile=profile, options=options), session)


def duplicates(spans: Iterable[Span], sessions: Iterable[Session]) -> list[int]:
    """Return for each session how many deliveries of its spans were repeats."""
    delivered = Counter((span.trace_id, span.span_id) for span in spans)
    repeated = {address: times - 1 for address, times in delivered.items() if times > 1}
    return [_repeats(session, repeated) for session in sessions]


def _repeats(session: Session, repeated: dict[tuple[str, str], int]) -> int:
    if not repeated:
        return 0
    addresses = {(event.span.trace_id, event.span.span_id) for event in session.events if event.span is not None}
    return sum(repeated.get(address, 0) for address in addresses)
