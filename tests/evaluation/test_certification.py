from typing import Any

import pytest

from analyzer.evaluation import BenchmarkResult, CritiqorResult, benchmark_run, certify_run

BEST: dict[str, Any] = {
    "trust_score": 96,
    "evaluation_confidence": 95,
    "evidence_level": "fully_instrumented",
    "deployment_recommendation": "safe_to_deploy",
}


@pytest.mark.parametrize(
    ("evidence", "level"),
    [("response_only", "silver"), ("trace_available", "gold"), ("fully_instrumented", "platinum")],
)
def test_evidence_bounds_the_level_decision_the_table_is_enforced(evidence: str, level: str) -> None:
    assert certify_run({**BEST, "evidence_level": evidence}, 96).certification_level == level


def test_a_critical_failure_gets_no_level_decision_critical_blocks_everywhere() -> None:
    run = {**BEST, "failure_causes": [{"type": "cost_explosion", "severity": "critical"}]}

    certification = certify_run(run)

    assert certification.certification_level == "none"
    assert certification.criteria["high_severity_failures"] is True


def test_a_benchmark_is_certified_by_its_own_numbers_decision_certify_run_takes_benchmarks() -> None:
    benchmark = benchmark_run([BEST, {**BEST, "evidence_level": "trace_available"}], [50, 60, 99])

    certification = certify_run(benchmark)

    assert (certification.trust_score, certification.percentile) == (96, 67)
    assert certification.certification_level == "bronze"
    assert certify_run(benchmark, 90).certification_level == "gold"


def test_a_benchmark_is_certified_the_same_from_its_dict() -> None:
    benchmark = benchmark_run(BEST, [50])

    assert certify_run(benchmark.to_dict()) == certify_run(benchmark)


def test_a_benchmark_is_as_bad_as_its_worst_run() -> None:
    results = [
        CritiqorResult(96, "High", {}, (), "fully_instrumented", 95, "safe_to_deploy"),
        CritiqorResult(96, "High", {}, (), "fully_instrumented", 95, "unsafe_for_production"),
    ]

    assert certify_run(BenchmarkResult("b", "general", 96, 100, 2, {}, results)).certification_level == "none"


def test_a_benchmark_without_results_shows_no_more_than_an_answer_does() -> None:
    certification = certify_run(BenchmarkResult("b", "general", 96, 96, 3, {}))

    assert certification.certification_level == "bronze"
    assert certification.criteria["evidence_level"] == "response_only"


@pytest.mark.parametrize(
    ("percentile", "badge"),
    [
        (96, "![Critiqor: platinum Top 4%](https://img.shields.io/badge/Critiqor-platinum%20Top%204%25-blueviolet)"),
        (100, "![Critiqor: platinum Top 1%](https://img.shields.io/badge/Critiqor-platinum%20Top%201%25-blueviolet)"),
        (10, "![Critiqor: not certified](https://img.shields.io/badge/Critiqor-not%20certified-lightgrey)"),
    ],
)
def test_the_badge_says_level_and_place(percentile: int, badge: str) -> None:
    assert certify_run(BEST, percentile).markdown_badge == badge
