"""Where does a run, or a suite of runs, stand among earlier ones?"""

from collections.abc import Sequence
from typing import Any

from analyzer.evaluation.result import BenchmarkResult
from analyzer.evaluation.runs import as_result, mean, mean_scores, trust_from_run
from analyzer.evaluation.words import AgentType
from analyzer.lenient import as_number, is_sequence

__all__ = ["benchmark_run", "percentile_of"]


def benchmark_run(
    current: Any, history: Sequence[Any] = (), *, name: str = "benchmark", agent_type: AgentType = "general"
) -> BenchmarkResult:
    """Return a run, or the averages of a list of runs, with its percentile among the runs of the history.

    History entries are runs of any form, or bare trust scores. Without a history the percentile is 100.
    """
    if isinstance(current, BenchmarkResult):
        results, trust, scores = list(current.results), current.trust_score, dict(current.scores)
        name, agent_type = current.name, current.agent_type
    else:
        results = [as_result(run) for run in (current if is_sequence(current) else [current])]
        trust = mean([result.trust_score for result in results])
        scores = mean_scores(result.scores for result in results)
    return BenchmarkResult(
        name=name,
        agent_type=agent_type,
        trust_score=trust,
        percentile=percentile_of(trust, [_score(run) for run in history]),
        run_count=len(results),
        scores=scores,
        results=results,
    )


def percentile_of(score: int, scores: Sequence[int]) -> int:
    """Return the share of the scores that are no higher, in percent, rounded half to even; 100 among none."""
    if not scores:
        return 100
    return mean([100 * (other <= score) for other in scores])


def _score(run: Any) -> int:
    number = as_number(run)
    return trust_from_run(run) if number is None else int(number)
