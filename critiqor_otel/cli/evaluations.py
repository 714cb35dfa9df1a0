"""Paths given on the command line become evaluations: traces, runs, verdicts, histories, kept evaluations alike."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analyzer.bulk import bulk_work
from analyzer.diagnosis import Profile
from analyzer.evaluation.diagnosed import RunSummary, is_diagnosis
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.runs import as_record
from analyzer.session.jsontext import read_json
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.cli.configuration import read_options
from critiqor_otel.cli.histories import is_store, read_records
from critiqor_otel.cli.reading import read_runs
from critiqor_otel.cli.side import Side
from critiqor_otel.engine.local import diagnosed
from critiqor_otel.errors import UnreadableInputError

__all__ = ["holds_verdicts", "read_evaluations"]

# What only a verdict or a kept evaluation says near its beginning; inside a trace's texts the quotes are escaped.
_MARKS = (b'"critiqor.diagnosis.', b'"deployment_recommendation"', b'"readiness_level"')
_HEAD = 1 << 16


def read_evaluations(
    paths: Sequence[str], *, side: Side, profile: str = "standard", config: str | None = None
) -> list[EvaluationRecord]:
    """Return the evaluations of the paths, file by file, then those of traces and session files by run id.

    Raises:
        UnreadableInputError: none was found.
        HistoryError: a history can't be read.
    """
    kept: list[EvaluationRecord] = []
    evidence: list[str] = []
    for path in paths:
        if is_store(Path(path)):
            kept += read_records(path, side=side)
        elif holds_verdicts(Path(path)):
            kept += _verdicts(path, side)
        else:
            evidence.append(path)
    if evidence:
        kept += _diagnosed(evidence, side, Profile(profile), config)
    if not kept:
        raise UnreadableInputError(f"no evaluation was found in {', '.join(paths)}")
    return kept


def holds_verdicts(path: Path) -> bool:
    """Tell whether a file holds verdicts or kept evaluations rather than evidence."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False  # whoever reads evidence will say why
    return any(mark in head for mark in _MARKS)


def _verdicts(path: str, side: Side) -> list[EvaluationRecord]:
    data = Path(path).read_bytes()
    try:
        documents: list[Any] = [read_json(data)[0]]
    except ValueError:
        documents = list(_lines(data, path, side))
    return [_record(run, side) for document in documents for run in _runs_of(document)]


def _record(run: Mapping[str, Any], side: Side) -> EvaluationRecord:
    if is_diagnosis(run) and RunSummary.of_diagnosis(run).trust_score is None:
        side.say(f"{run.get('run_id')}: there is too little evidence for a trust score; it counts as 0")
    return as_record(run)


def _lines(data: bytes, path: str, side: Side) -> Iterator[Any]:
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                yield read_json(line)[0]
            except ValueError as error:
                side.say(f"{path}:{number}: a line is no JSON and was left out: {error}")


def _runs_of(document: Any) -> list[Any]:
    if is_object(document) and is_list(document.get("runs")):
        document = document["runs"]
    return [run for run in (document if is_list(document) else [document]) if is_object(run)]


def _diagnosed(paths: list[str], side: Side, profile: Profile, config: str | None) -> list[EvaluationRecord]:
    settings = read_options(config)
    with bulk_work():
        found = read_runs(paths, side=side)
        runs = diagnosed(side.follow(found.sessions, label="diagnosing"), profile=profile, options=settings)
        records = [_record(run.diagnosis.to_dict(), side) for run in runs]
    if not records:
        raise UnreadableInputError(found.emptiness(paths))
    return records
