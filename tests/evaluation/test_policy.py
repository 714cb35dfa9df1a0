from typing import Any

import pytest

from analyzer.evaluation import check_policy, check_rules, unknown_rules

GOOD = {"trust_score": 90, "evaluation_confidence": 90, "scores": {"hallucination": 90, "tool_reliability": 85}}


def with_failure(severity: str) -> dict[str, Any]:
    return {**GOOD, "failure_causes": [{"type": "infinite_tool_loop", "severity": severity}]}


def test_a_good_run_is_safe_and_told_so_in_one_message() -> None:
    result = check_policy(GOOD, {"minimum_trust_score": 90})

    assert (result.passed, result.deployment_recommendation, len(result.messages)) == (True, "safe_to_deploy", 1)


@pytest.mark.parametrize("policy", [None, {}, {"block_high_severity_failures": False}])
def test_a_critical_failure_never_passes_decision_critical_blocks_everywhere(policy: Any) -> None:
    result = check_policy(with_failure("critical"), policy)

    assert (result.passed, result.deployment_recommendation) == (False, "unsafe_for_production")
    assert "infinite_tool_loop (critical)" in result.messages[0]


@pytest.mark.parametrize(
    "run", [{**GOOD, "trust_score": 70}, {**GOOD, "evaluation_confidence": 60}, with_failure("high")]
)
def test_a_lax_policy_makes_no_weak_run_safe_decision_policy_can_say_review(run: Any) -> None:
    result = check_policy(run, {"block_high_severity_failures": False})

    assert (result.passed, result.deployment_recommendation) == (True, "review_recommended")
    assert "should be reviewed" in result.messages[0]


def test_a_run_recorded_as_unsafe_is_to_be_reviewed_at_least() -> None:
    result = check_policy({**GOOD, "deployment_recommendation": "unsafe_for_production"})

    assert (result.passed, result.deployment_recommendation) == (True, "review_recommended")


def test_a_limit_that_cannot_be_checked_is_said() -> None:
    result = check_policy({**GOOD, "scores": {}}, {"minimum_tool_reliability": 50})

    assert (result.passed, result.deployment_recommendation) == (True, "review_recommended")
    assert "tool reliability is not known" in result.messages[0]


@pytest.mark.parametrize("limit", ["strict", [], float("nan")], ids=repr)
def test_a_limit_that_is_no_number_fails(limit: Any) -> None:
    result = check_policy(GOOD, {"minimum_trust_score": limit})

    assert not result.passed
    assert "minimum_trust_score is no number" in result.messages[0]


def test_limits_may_be_fractions_and_text() -> None:
    assert check_policy(GOOD, {"minimum_trust_score": "89.5", "maximum_hallucination_risk": 10.0}).passed


@pytest.mark.parametrize("written", [False, "false", "No", 0])
def test_a_policy_may_let_high_failures_pass(written: Any) -> None:
    assert check_policy(with_failure("high"), {"block_high_severity_failures": written}).passed


def test_every_rule_is_told_with_its_value_and_limit_in_order() -> None:
    rules = check_rules(GOOD, {"maximum_hallucination_risk": 5, "minimum_evaluation_confidence": 80})

    assert [(rule.name, rule.value, rule.limit, rule.passed) for rule in rules] == [
        ("minimum_trust_score", 90, 0, True),
        ("maximum_hallucination_risk", 10, 5, False),
        ("block_high_severity_failures", "none", True, True),
        ("minimum_evaluation_confidence", 90, 80, True),
    ]


def test_keys_that_name_no_rule_are_told() -> None:
    assert unknown_rules({"min_trust": 3, "minimum_trust_score": 1, "a": 1}) == ["a", "min_trust"]
