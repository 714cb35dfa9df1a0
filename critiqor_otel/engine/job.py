"""A whole job, whatever engine runs its tasks: map the inputs, decide what belongs together, reduce, merge."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from analyzer.cause import Severity
from analyzer.session.model import Note
from critiqor_otel.engine.frames import merged
from critiqor_otel.engine.layout import Joined, ShareRef, join_traces
from critiqor_otel.engine.mapping import Mapped, SegmentRef, map_input
from critiqor_otel.engine.moving import Moved, chain_traces, move_traces
from critiqor_otel.engine.parts import from_the_start
from critiqor_otel.engine.reducing import Purpose, Reduced, reduce_share
from critiqor_otel.engine.store import Store
from critiqor_otel.engine.tasks import Engine, Task, kept_result
from critiqor_otel.formats.inputs import Input, found_from_anywhere, size_of
from critiqor_otel.reconstruct.prepared import Counts
from critiqor_otel.reconstruct.reconstruct import count_notes

__all__ = ["Job", "Outcome", "Progress", "Survey"]

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many bytes of it are done, and how many there are."""


def _silence(_label: str, _done: int, _total: int) -> None:
    pass


def _pass_by(_result: Any) -> None:
    pass


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What the inputs held, before runs are made of it."""

    spans: int
    logs: int
    sessions: int
    passed_over: int
    notes: tuple[Note, ...]
    places: tuple[str, ...]
    """The files that gave evidence, in the order in which they were read."""
    session_files: bool


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What the job found; the products are read from the store."""

    runs: int
    severities: frozenset[Severity]
    notes: tuple[Note, ...]
    """On the input as a whole, beside those of the survey."""
    silent_traces: tuple[str, ...]
    files: tuple[str, ...]
    """Where the products lie."""


class Job:
    """The steps of a job in their order; what is in the store already is not done again."""

    def __init__(self, engine: Engine, store: Store, *, partitions: int, progress: Progress = _silence) -> None:
        """Take what runs the tasks, and where they leave their results."""
        self._engine = engine
        self._store = store
        self._partitions = partitions
        self._progress = progress
        self._mapped: list[Mapped] = []
        self.kept = 0
        """Tasks that were done before, by a job that was stopped."""
        self.done = 0
        """Tasks that were done by this job."""

    def survey(self, inputs: Sequence[Input]) -> Survey:
        """Map the inputs."""
        tasks = [
            Task(f"map-{number:06d}", _map, (found_from_anywhere(one), number, self._partitions), weight=_size(one))
            for number, one in enumerate(inputs)
        ]
        self._mapped = self._results("reading", tasks)
        return Survey(
            spans=sum(one.spans for one in self._mapped),
            logs=sum(one.logs for one in self._mapped),
            sessions=sum(one.sessions for one in self._mapped),
            passed_over=sum(one.passed_over for one in self._mapped),
            notes=tuple(
                note
                for one, found in zip(inputs, self._mapped, strict=True)
                for note in from_the_start(one, found.notes)
            ),
            places=tuple(dict.fromkeys(place for one in self._mapped for place in one.places)),
            session_files=any(one.session_files for one in self._mapped),
        )

    def reduce(self, purpose: Purpose, on_part: Callable[[Reduced], None] = _pass_by) -> Outcome:
        """Make the products of all runs; after `survey`. Each part is told of as soon as it is complete."""
        shares = self._joined()
        moved = self._moved(shares)
        weights = {share.partition: share.weight for share in shares}
        tasks = [
            Task(
                f"reduce-{partition:06d}",
                reduce_share,
                (partition, moved.get(partition, []), purpose),
                weight=weight + sum(ref.length for ref in moved.get(partition, ())),
            )
            for partition, weight in weights.items()
        ]
        tasks.sort(key=lambda task: -task.weight)  # the heaviest first: it ends the job when it comes last
        found: list[Reduced] = self._results("diagnosing", tasks, on_part)
        found.sort(key=lambda one: one.partition)
        counts = Counts()
        for one in found:
            counts.add(one.counts)
        notes = [note for one in found for note in one.notes]
        return Outcome(
            runs=sum(one.runs for one in found),
            severities=frozenset(severity for one in found for severity in one.severities),
            notes=(*notes, *count_notes(counts)),
            silent_traces=tuple(sorted(trace_id for one in found for trace_id in one.silent_traces)),
            files=tuple(one.file for one in found),
        )

    def products(self, outcome: Outcome) -> Iterator[bytes]:
        """Yield the product of each run, in order of run id."""
        return (frame.content for frame in merged(outcome.files, self._store))

    def _joined(self) -> Sequence[ShareRef]:
        """Return what there is to do in each partition, when the messages of suspects have been compared."""
        shares = self._join(None)
        suspected = [
            Task(f"chain-{share.partition:06d}", chain_traces, (share.partition,), weight=share.weight)
            for share in shares
            if share.suspected
        ]
        return self._join(self._results("comparing", suspected)) if suspected else shares

    def _join(self, chained: list[str] | None) -> Sequence[ShareRef]:
        indexes = [one.index for one in self._mapped]
        weight = sum(one.index_bytes for one in self._mapped)
        name = "join-000000" if chained is None else "join-000001"
        task = Task(name, join_traces, (indexes, self._partitions, chained), weight=weight, alone=True)
        found: list[Joined] = self._results("joining", [task])
        return found[0].shares

    def _moved(self, shares: Sequence[ShareRef]) -> dict[int, list[SegmentRef]]:
        """Return, by the partition where they are reduced, the segments that were moved there."""
        moves = [
            Task(f"move-{share.partition:06d}", move_traces, (share.partition,), weight=share.weight)
            for share in shares
            if share.leaving
        ]
        found: list[Moved] = self._results("gathering", moves)
        by_partition: dict[int, list[SegmentRef]] = {}
        for moved in found:
            for ref in moved.segments:
                by_partition.setdefault(ref.partition, []).append(ref)
        return by_partition

    def _results(self, label: str, tasks: Sequence[Task], on_result: Callable[[Any], None] = _pass_by) -> list[Any]:
        """Return the results in the order of the tasks; those that were kept are not worked out again."""
        if not tasks:
            return []
        there = self._store.names()
        results: dict[str, Any] = {}
        for task in tasks:
            if f"{task.name}.done" in there and (kept := kept_result(task.name, self._store)) is not None:
                results[task.name] = kept
                self.kept += 1
                on_result(kept)
        total = sum(task.weight for task in tasks)
        done = sum(task.weight for task in tasks if task.name in results)
        self._progress(label, done, total)
        for task, result in self._engine.run([task for task in tasks if task.name not in results], self._store):
            results[task.name] = result
            self.done += 1
            on_result(result)
            done += task.weight
            self._progress(label, done, total)
        return [results[task.name] for task in tasks]


def _map(one: Input, number: int, partitions: int, *, store: Store) -> Mapped:
    return map_input(one, number, partitions=partitions, store=store)


def _size(one: Input) -> int:
    return (size_of(one.path) if one.end is None else one.end) - one.start
