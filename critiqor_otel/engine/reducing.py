"""The last step of many: the runs of one partition, assembled and diagnosed one set of traces after another.

`reduce_share` is a plain function of a partition; it holds the packed records of its partition and one set of
traces unpacked. Any scheduler may run it, anywhere, again and again: the same call leaves the same file.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import msgspec

from analyzer.cause import Severity
from analyzer.report.report import RunReport
from analyzer.session.model import Note, Session
from critiqor_otel.engine.collecting import collecting
from critiqor_otel.engine.frames import Frame, key_of, write_frames
from critiqor_otel.engine.layout import read_share
from critiqor_otel.engine.mapping import SegmentRef
from critiqor_otel.engine.moving import Parts, read_segments
from critiqor_otel.engine.packing import Unpacked, unpack
from critiqor_otel.engine.store import Store
from critiqor_otel.reconstruct.grouping import GroupBy
from critiqor_otel.reconstruct.prepared import Counts, prepare
from critiqor_otel.reconstruct.reconstruct import rebuild
from critiqor_otel.spool.continuations import join_continuations

__all__ = ["Judged", "Purpose", "Reduced", "reduce_share"]


class Judged(msgspec.Struct, frozen=True):
    """One run with its verdict, as it is handed to what makes the product."""

    report: RunReport
    session: Session
    places: tuple[str, ...]
    """The session files that it came from."""


class Purpose(msgspec.Struct, frozen=True, kw_only=True):
    """What is made of the runs. The functions travel to workers, so they stand at the top of a module."""

    judge: Callable[[Session], RunReport]
    product: Callable[[Judged], bytes]
    """What is kept of a run."""
    group_by: GroupBy | None = None
    many_files: bool = False
    """Several files gave evidence."""
    beside: Callable[[int, Store], AbstractContextManager[Callable[[Judged], None]]] | None = None
    """What takes each run of a partition too, and writes files of its own."""


class Reduced(msgspec.Struct):
    """What a reduce task found; the products lie in the store as `reduce-NUMBER.frames`."""

    partition: int
    file: str
    spans: int = 0
    runs: int = 0
    severities: list[Severity] = []
    """Those of its failures, each once, the least first."""
    counts: Counts = msgspec.field(default_factory=Counts)
    notes: list[Note] = []
    silent_traces: list[str] = []


def reduce_share(partition: int, moved: list[SegmentRef], purpose: Purpose, *, store: Store) -> Reduced:
    """Make runs of a share's records and of those that were moved to it, and leave a product a run in the store.

    The products stand in order of run id; the rest is returned.
    """
    name = f"reduce-{partition:06d}.frames"
    found = Reduced(partition, name)
    seen: set[Severity] = set()
    frames: list[Frame] = []
    with collecting() as collect, _beside(partition, purpose, store) as also:
        waiting = _by_set(partition, moved, store)
        for leader in sorted(waiting):
            parts = waiting.pop(leader)
            size = len(parts)
            for judged in _judged(parts, purpose, found):
                seen.update(cause.severity for cause in judged.report.diagnosis.failure_causes)
                also(judged)
                frames.append(Frame(key_of(judged.session.run_id), purpose.product(judged)))
            collect(size)
    frames.sort(key=lambda frame: frame.key)
    with store.writing(name) as file:
        write_frames(frames, file)
    found.runs = len(frames)
    found.severities = sorted(seen, key=lambda severity: severity.rank)
    return found


def _beside(partition: int, purpose: Purpose, store: Store) -> AbstractContextManager[Callable[[Judged], None]]:
    return nullcontext(_pass_by) if purpose.beside is None else purpose.beside(partition, store)


def _pass_by(_run: Judged) -> None:
    pass


def _by_set(partition: int, moved: list[SegmentRef], store: Store) -> dict[str, Parts]:
    found: dict[str, Parts] = {}
    share = read_share(partition, store)
    leaders, leaving = share.leaders, share.leaving
    for segment in read_segments([*share.segments, *moved], store):
        for record in segment.records:
            trace_id = record.trace_id
            if trace_id not in leaving:
                found.setdefault(leaders.get(trace_id, trace_id), []).append((segment, record))
    return found


def _judged(parts: Parts, purpose: Purpose, found: Reduced) -> Iterator[Judged]:
    sessions, places, origins = _assembled(parts, purpose, found)
    parts.clear()  # what was packed, and what it was unpacked to, is told by the sessions from here on
    sessions.reverse()
    while sessions:
        session = sessions.pop()
        report = purpose.judge(session)
        files = origins.of(session)
        if files:
            report = msgspec.structs.replace(report, files=files, among_many=purpose.many_files)
        yield Judged(report, session, tuple(places.get(session.run_id, ())))


def _assembled(
    parts: Parts, purpose: Purpose, found: Reduced
) -> tuple[list[Session], dict[str, list[str]], "_Origins"]:
    """Return the sessions in order of run id, the session files of each, and where each has its evidence from."""
    held = unpack(parts)
    prepared = prepare(held.spans, held.logs)
    rebuilt = rebuild(prepared.traces, group_by=purpose.group_by)
    for trace in prepared.traces:
        trace.let_go()
    found.spans += len(held.spans)
    found.counts.add(prepared.counts)
    found.notes += rebuilt.notes
    found.silent_traces += rebuilt.silent_traces
    return join_continuations((*rebuilt.sessions, *held.sessions)), _places(held), _Origins(parts, held)


def _places(held: Unpacked) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for session, place in zip(held.sessions, held.places, strict=True):
        if place is not None:
            found.setdefault(session.run_id, []).append(place)
    return found


class _Origins:
    """The files that gave evidence of each trace, and of each run in a session file."""

    def __init__(self, parts: Parts, held: Unpacked) -> None:
        self._of_trace: dict[str, set[str]] = {}
        self._of_run: dict[str, set[str]] = {}
        for segment, record in parts:
            if segment.place is not None:
                self._of_trace.setdefault(record.trace_id, set()).add(segment.place)
        for session, place in zip(held.sessions, held.places, strict=True):
            if place is not None:
                run_id = session.run_id if session.continues is None else session.continues
                self._of_run.setdefault(run_id, set()).add(place)

    def of(self, session: Session) -> tuple[str, ...]:
        """Return the files of a run, sorted."""
        found = set(self._of_run.get(session.run_id, ()))
        for trace_id in session.trace_ids:
            found |= self._of_trace.get(trace_id, set())
        return tuple(sorted(found))
