from typing import Any

import pytest

from analyzer.cause import Severity
from analyzer.evaluation import (
    EvaluationEvidence,
    FailureCause,
    RuntimeMetrics,
    ToolCall,
    ToolOutput,
    calculate_evaluation_confidence,
    detect_failure_causes,
    recommend_deployment,
)


def types(evidence: EvaluationEvidence) -> list[str]:
    return [cause.type for cause in detect_failure_causes(evidence)]


def asked(times: int, *results: Any, ids: bool = False) -> EvaluationEvidence:
    calls = [ToolCall("search", {"q": "hours"}, f"c{number}" if ids else None) for number in range(times)]
    outputs = [ToolOutput("search", result, f"c{number}" if ids else None) for number, result in enumerate(results)]
    return EvaluationEvidence("p", "Opening hours unknown today", calls, outputs)


def test_three_equal_calls_that_return_the_same_are_a_loop() -> None:
    (cause,) = (cause for cause in detect_failure_causes(asked(3, [], [], [])) if cause.type.endswith("_loop"))

    assert (cause.severity, cause.impact) == (Severity.HIGH, -20)
    assert cause.description == "search was called 3 times with equal arguments and returned the same every time."


def test_five_turns_of_a_loop_are_critical_and_name_their_calls() -> None:
    cause = detect_failure_causes(asked(5, *["none"] * 5, ids=True))[0]

    assert (cause.type, cause.severity, cause.impact) == ("infinite_tool_loop", Severity.CRITICAL, -28)
    assert cause.evidence == ("c0", "c1", "c2", "c3", "c4")


@pytest.mark.parametrize("results", [["a", "b", "c"], ["a", "a"], []], ids=["progress", "one unknown", "all unknown"])
def test_equal_calls_that_learn_or_whose_results_are_not_known_are_redundant_only(results: list[str]) -> None:
    assert types(asked(3, *results))[0] == "redundant_tool_calls"


def test_outputs_of_parallel_calls_are_told_apart_by_id_not_by_order() -> None:
    calls = [ToolCall("f", {}, "a"), ToolCall("g", {}, "b"), ToolCall("f", {}, "c"), ToolCall("f", {}, "d")]
    outputs = [ToolOutput("f", 1, "d"), ToolOutput("f", 1, "c"), ToolOutput("g", 2, "b"), ToolOutput("f", 1, "a")]

    assert "infinite_tool_loop" in types(EvaluationEvidence(tool_calls=calls, tool_outputs=outputs))


@pytest.mark.parametrize("result", ["", "…", "\u5317\u4eac", [""], {}])
def test_an_output_without_a_letter_or_digit_is_not_ignored(result: Any) -> None:
    assert types(EvaluationEvidence(response="Open", tool_outputs=[ToolOutput("search", result)])) == []


def test_each_repeated_call_is_a_cause_of_its_own_in_order_of_its_first() -> None:
    calls = [ToolCall(tool, {"n": number}) for number in (1, 2) for tool in ("b", "a", "b", "a")]

    described = [cause.description for cause in detect_failure_causes(EvaluationEvidence(tool_calls=calls))[:2]]

    assert described == [
        "b was called 2 times with equal arguments.",
        "a was called 2 times with equal arguments.",
    ]


def test_one_and_its_text_are_equal_arguments_and_order_does_not_matter() -> None:
    calls = [ToolCall("s", {"a": 1, "b": 2}), ToolCall("s", {"b": "2", "a": "1"})]

    assert "redundant_tool_calls" in types(EvaluationEvidence(tool_calls=calls))


@pytest.mark.parametrize(
    ("output", "response", "ignored"),
    [
        ("Mild weather report", "It will be mild", False),
        ("Storms expected along northern coasts tomorrow", "Storms tomorrow", False),
        ("Storms expected along northern coasts tomorrow", "Tomorrow is fine", True),
        ("Mild weather report", "   ", False),
        (None, "It will be mild", False),
        ("   ", "It will be mild", False),
        ({"forecast": "sunny spells"}, "Sunny spells all day", False),
    ],
)
def test_an_output_is_used_when_enough_of_its_words_return(output: Any, response: str, *, ignored: bool) -> None:
    evidence = EvaluationEvidence(response=response, tool_outputs=[ToolOutput("t", output)])

    assert ("ignored_tool_output" in types(evidence)) is ignored


def test_an_output_that_failed_is_not_ignored() -> None:
    evidence = EvaluationEvidence(response="Nothing here", tool_outputs=[ToolOutput("t", "Mild weather", error="boom")])

    assert "ignored_tool_output" not in types(evidence)


def test_negative_retries_do_not_pay_for_errors() -> None:
    evidence = EvaluationEvidence(metrics=RuntimeMetrics(retries=-9, errors=["boom"]))

    assert detect_failure_causes(evidence)[0].impact == -10


@pytest.mark.parametrize(
    ("response", "factual"),
    [
        ("It costs $5.", True),
        ("About 99% agree", True),
        ("According to people", True),
        ("The latest news", True),
        ("Reporters sourced it", False),
        ("Room b12 is the 2nd", False),
    ],
)
def test_numbers_and_words_of_fact_need_evidence(response: str, *, factual: bool) -> None:
    assert ("unsupported_claims" in types(EvaluationEvidence(response=response))) is factual


def test_certainty_on_good_evidence_is_fine() -> None:
    evidence = EvaluationEvidence(response="Certainly mild.", tool_outputs=[ToolOutput("t", "Mild weather report")])

    assert "confidence_mismatch" not in types(evidence)


def test_evidence_may_be_given_as_its_dict() -> None:
    evidence = {"response": "ok", "tool_calls": ["a"]}

    assert [cause.type for cause in detect_failure_causes(evidence)] == ["missing_tool_outputs"]
    assert calculate_evaluation_confidence(evidence) == 78


def test_every_cause_says_why_and_what_helps() -> None:
    evidence = EvaluationEvidence(
        response="Definitely 99%.",
        tool_calls=[ToolCall("a"), ToolCall("a")],
        metrics=RuntimeMetrics(retries=1),
    )
    for cause in detect_failure_causes(evidence):
        assert cause.root_cause is not None
        assert cause.root_cause.trust_penalty == cause.impact
        assert cause.recommendation == cause.root_cause.recommended_fix != ""


def test_a_critical_failure_is_unsafe_whatever_the_scores_decision_critical_blocks_everywhere() -> None:
    critical = FailureCause("infinite_tool_loop", Severity.CRITICAL, -30, "")

    assert recommend_deployment(100, 100, [critical]) == "unsafe_for_production"


def test_a_critical_failure_lowers_confidence_as_a_high_one_does() -> None:
    evidence = EvaluationEvidence(tool_outputs=["x"])
    causes = [FailureCause("x", severity, -1, "") for severity in Severity]

    assert calculate_evaluation_confidence(evidence, causes) == 78 + 4 - 2 * 4


def test_many_calls_take_linear_time() -> None:
    calls = [ToolCall("s", {"n": number % 1000}) for number in range(20_000)]
    outputs = [ToolOutput("s", number) for number in range(20_000)]

    assert len(detect_failure_causes(EvaluationEvidence(tool_calls=calls, tool_outputs=outputs))) == 1000
