"""Any run that a function of the evaluation may be given, seen as one evaluation record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from analyzer.evaluation.diagnosed import is_diagnosis, record_of_diagnosis
from analyzer.evaluation.origin import Origin
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.result import BenchmarkResult, CritiqorResult, trust_level
from analyzer.evaluation.words import DEPLOYMENT_RECOMMENDATIONS, DIMENSIONS, EVIDENCE_LEVELS
from analyzer.lenient import as_counts, as_mapping, as_numbers, is_mapping

__all__ = ["as_record", "as_result", "mean", "mean_scores", "trust_from_run"]

_NO_EVIDENCE = 55  # how sure an evaluation by the answer alone is of itself (specification §4.3)

_UNSTAMPED = Origin(now=str, new_id=str)  # a run that is only looked at has no time of its own

_Word = TypeVar("_Word", bound=str)


def trust_from_run(run: Any) -> int:
    """Return the trust score of a run of any form, 0 for what is none.

    A dict gives its first number of `trust_score` and `confidence`, else the mean of its `scores` or of the
    dimensions in its `critique`; text is no number here.
    """
    if isinstance(run, EvaluationRecord | BenchmarkResult | CritiqorResult):
        return run.trust_score
    if not is_mapping(run):
        return _trust_of_object(run)
    if is_diagnosis(run):
        return record_of_diagnosis(run).trust_score
    stated = as_numbers({name: run.get(name) for name in ("trust_score", "confidence")})
    if stated:
        return int(next(iter(stated.values())))
    return mean(list((as_counts(run.get("scores")) or as_counts(_critique(run))).values()))


def as_record(run: Any) -> EvaluationRecord:
    """Return a run as a record: a result, a benchmark, a diagnosis, a dict of any of them; anything else is empty.

    A benchmark stands for its weakest evidence, its worst recommendation and the causes of all its results.
    """
    if isinstance(run, EvaluationRecord):
        return run
    if isinstance(run, CritiqorResult):
        return run.to_record("", "", origin=_UNSTAMPED)
    if isinstance(run, BenchmarkResult):
        return _of_benchmark(run)
    if not is_mapping(run):
        found = _dict_of(run)
        return as_record(found) if found else EvaluationRecord.from_dict({})
    return _of_dict(run)


def as_result(run: Any) -> CritiqorResult:
    """Return a run as an evaluation result; what is not one already has no evidence to show."""
    if isinstance(run, CritiqorResult):
        return run
    record = as_record(run)
    return CritiqorResult(
        confidence=record.trust_score,
        trust_level=trust_level(record.trust_score),
        scores=record.scores,
        failure_causes=record.failure_causes,
        evidence_level=record.evidence_level,
        evaluation_confidence=record.evaluation_confidence,
        deployment_recommendation=record.deployment_recommendation,
    )


def mean(values: Sequence[float]) -> int:
    """Return the mean, rounded half to even; 0 for none."""
    return round(sum(map(Fraction, values)) / len(values)) if values else 0


def mean_scores(runs: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the rounded mean a dimension, over the runs that have it, in order of first appearance."""
    found: dict[str, list[int]] = {}
    for scores in runs:
        for dimension, score in scores.items():
            found.setdefault(dimension, []).append(score)
    return {dimension: mean(values) for dimension, values in found.items()}


def _of_dict(run: Mapping[str, Any]) -> EvaluationRecord:
    if is_diagnosis(run):
        return record_of_diagnosis(run)
    if "run_count" in run and "results" in run:
        return _of_benchmark(BenchmarkResult.from_dict(run))
    record = EvaluationRecord.from_dict(run)
    return replace(
        record,
        trust_score=trust_from_run(run) or record.trust_score,
        scores=record.scores or as_counts(_critique(run)),
    )


def _of_benchmark(benchmark: BenchmarkResult) -> EvaluationRecord:
    records = [as_record(result) for result in benchmark.results]
    return EvaluationRecord(
        run_id="",
        agent_id="",
        timestamp="",
        scores=benchmark.scores,
        failure_causes=[cause for record in records for cause in record.failure_causes],
        trust_score=benchmark.trust_score,
        evidence_level=_weakest(EVIDENCE_LEVELS, [record.evidence_level for record in records], "response_only"),
        evaluation_confidence=mean([record.evaluation_confidence for record in records] or [_NO_EVIDENCE]),
        deployment_recommendation=_weakest(
            DEPLOYMENT_RECOMMENDATIONS, [record.deployment_recommendation for record in records], "review_recommended"
        ),
    )


def _weakest(ranks: tuple[_Word, ...], found: list[_Word], default: _Word) -> _Word:
    return min(found, key=ranks.index, default=default)


def _trust_of_object(run: Any) -> int:
    found = _dict_of(run)
    return trust_from_run(found) if found else 0


def _dict_of(run: Any) -> Mapping[str, Any]:
    to_dict = getattr(run, "to_dict", None)
    return as_mapping(to_dict()) if callable(to_dict) else {}


def _critique(run: Mapping[str, Any]) -> dict[str, Any]:
    found = as_mapping(run.get("critique"))
    return {dimension: found[dimension] for dimension in DIMENSIONS if dimension in found}
