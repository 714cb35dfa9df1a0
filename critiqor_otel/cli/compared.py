"""What stands on one side of a comparison: the runs of a path or an id, with all that is known of them."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from analyzer.diagnosis import Profile, diagnose
from analyzer.evaluation.benchmark import benchmark_run
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.runs import as_record
from analyzer.report.differences import ComparedRun, compared_run
from critiqor_otel.cli.configuration import read_options
from critiqor_otel.cli.evaluations import holds_verdicts, read_evaluations
from critiqor_otel.cli.histories import is_store, open_history
from critiqor_otel.cli.reading import read_runs
from critiqor_otel.cli.side import Side
from critiqor_otel.errors import UnreadableInputError

__all__ = ["Compared", "Judging", "read_compared"]


class Judging(msgspec.Struct, frozen=True, kw_only=True):
    """How evidence is judged, and where ids are looked for."""

    runs: str
    profile: str
    config: str | None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison."""

    name: str
    record: EvaluationRecord
    """The run, or the averages of several."""
    runs: list[ComparedRun]


def read_compared(given: str, judging: Judging, *, side: Side) -> Compared:
    """Return the runs that a path holds or an id names.

    Raises:
        click.UsageError: it is no path, and no run has that id.
        UnreadableInputError: the path holds no run.
    """
    path = Path(given)
    if not path.exists():
        return _of_records(given, [_by_id(given, judging, side)], side)
    if is_store(path) or holds_verdicts(path):
        return _of_records(given, read_evaluations((given,), side=side, profile=judging.profile), side)
    return _of_evidence(given, judging, side)


def _by_id(run_id: str, judging: Judging, side: Side) -> EvaluationRecord:
    with open_history(judging.runs, side=side) as history:
        ids = [run.run_id for run in history.runs() if run.run_id.startswith(run_id)]
        record = history.record(ids[0] if len(ids) == 1 else run_id)
    if record is not None:
        return record
    if ids:
        raise click.UsageError(f"{len(ids)} runs in the history of {judging.runs} begin with {run_id!r}")
    raise click.UsageError(f"{run_id!r} is no path, and the history of {judging.runs} holds no run of that id")


def _of_records(name: str, records: Sequence[EvaluationRecord], side: Side) -> Compared:
    runs = [ComparedRun(run_id=record.run_id, causes=tuple(record.failure_causes)) for record in records]
    return Compared(name=name, record=_averaged(name, records, side), runs=runs)


def _of_evidence(name: str, judging: Judging, side: Side) -> Compared:
    settings = read_options(judging.config)
    found = read_runs((name,), side=side)
    if not found.sessions:
        raise UnreadableInputError(found.emptiness((name,)))
    records: list[EvaluationRecord] = []
    runs: list[ComparedRun] = []
    for session in side.follow(found.sessions, label="diagnosing"):
        verdict = diagnose(session, profile=Profile(judging.profile), options=settings)
        if verdict.trust_score is None:
            side.say(f"{session.run_id}: there is too little evidence for a trust score; it counts as 0")
        records.append(as_record(verdict.to_dict()))
        runs.append(compared_run(verdict, session))
    return Compared(name=name, record=_averaged(name, records, side), runs=runs)


def _averaged(name: str, records: Sequence[EvaluationRecord], side: Side) -> EvaluationRecord:
    if len(records) == 1:
        return records[0]
    side.say(f"{name} holds {len(records)} runs: their averages are compared")
    return as_record(benchmark_run(list(records)))
