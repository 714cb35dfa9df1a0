"""Benchmarks, trends, comparisons and insights."""

from typing import Any

import pytest

from analyzer.evaluation import (
    BenchmarkResult,
    Critiqor,
    EvaluationRecord,
    analyze_trends,
    benchmark_run,
    compare_runs,
    generate_insights,
    trust_from_run,
)


def scored(*scores: int) -> list[dict[str, Any]]:
    return [{"trust_score": score, "scores": {"reasoning": score}} for score in scores]


def test_a_benchmark_is_a_result_with_its_percentile_decision_the_documented_type() -> None:
    result = benchmark_run({"trust_score": 75, "scores": {"reasoning": 70}}, scored(60, 80, 90))

    assert isinstance(result, BenchmarkResult)
    assert (result.trust_score, result.percentile, result.run_count) == (75, 33, 1)
    assert result.scores == {"reasoning": 70}
    assert result.results[0].confidence == 75


def test_a_benchmark_of_a_suite_is_its_average_where_the_dimension_is_known() -> None:
    runs = [*scored(70, 81), {"trust_score": 90, "scores": {"consistency": 50}}]

    result = benchmark_run(runs, [80, 81], name="nightly", agent_type="coding")

    assert (result.name, result.agent_type, result.run_count) == ("nightly", "coding", 3)
    assert (result.trust_score, result.percentile) == (80, 50)
    assert result.scores == {"reasoning": 76, "consistency": 50}


def test_a_benchmark_is_placed_anew_among_another_history() -> None:
    first = benchmark_run(scored(70, 80), name="nightly")

    assert benchmark_run(first, [10, 90]).percentile == 50
    assert benchmark_run(first, [10, 90]).name == "nightly"


def test_a_trend_is_the_average_change_a_run_decision_not_last_less_first() -> None:
    trend = analyze_trends(scored(50, 90, 56, 62))

    assert (trend.trust_trend, trend.trust_change, trend.reasoning_change) == ("improving", 4, 4)
    assert trend.summary == "Trust is improving over 4 runs: from 50 to 62, +4.0 a run on average."


def test_a_trend_takes_records_and_results_alike() -> None:
    result = Critiqor().evaluate("p", "fine")
    record = EvaluationRecord.from_dict({"trust_score": 10})

    assert analyze_trends([record, result]).trust_change == result.trust_score - 10


@pytest.mark.parametrize("window", [None, 0, 3, 99, -1])
def test_a_window_that_holds_all_runs_is_all_runs(window: Any) -> None:
    assert analyze_trends(scored(10, 20, 40), window).trust_change == 15


def test_a_comparison_says_what_improved_and_what_declined() -> None:
    before = {"trust_score": 70, "scores": {"reasoning": 70, "calibration": 90, "consistency": 50}}
    after = {"trust_score": 78, "scores": {"reasoning": 75, "calibration": 60, "consistency": 54}}

    comparison = compare_runs(before, after)

    assert comparison.changes == {"calibration": -30, "consistency": 4, "reasoning": 5}
    assert comparison.summary == "Trust went from 70 to 78 (+8); improved: reasoning; declined: calibration."


def test_insights_name_the_drivers_with_their_counts() -> None:
    runs = [{"trust_score": 80, "failure_causes": [{"type": "a"}, {"type": "b"}]}, {"failure_causes": [{"type": "b"}]}]

    insight = generate_insights(runs)

    assert insight.primary_drivers == ["b", "a"]
    assert insight.summary.endswith("Most frequent failures in 2 runs: b (2), a (1).")
    assert " in 1 run: " in generate_insights([{"trust_score": 50}]).summary


def test_a_diagnosis_is_a_run_too() -> None:
    diagnosis = {"run_id": "r", "trust_score": 49, "readiness_level": "unsafe_for_production", "scores": {"x": 1}}

    assert trust_from_run(diagnosis) == 49
    assert trust_from_run({"executive_summary": {"trust_score": 88, "readiness_level": "ready_for_runtime"}}) == 88


@pytest.mark.parametrize("run", [None, 5, "text", [], object()], ids=["none", "number", "text", "list", "object"])
def test_what_is_no_run_has_no_trust(run: Any) -> None:
    assert trust_from_run(run) == 0
    assert compare_runs(run, run).trust_change == 0


@pytest.mark.parametrize("place", ["scores", "critique"])
def test_the_mean_of_scores_is_that_of_their_whole_numbers(place: str) -> None:
    assert trust_from_run({place: {"reasoning": 80.5, "consistency": 85}}) == 82
