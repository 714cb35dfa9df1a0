from typing import Any

import pytest

from analyzer.evaluation import Critiqor, EvaluationEvidence, Origin, RuntimeMetrics, ToolCall, ToolOutput, judge
from analyzer.evaluation.critiqor import reliability_scores

CLEAN: dict[str, Any] = {
    "prompt": "Weather?",
    "response": "The mild weather report is ready.",
    "tool_calls": [{"tool": "search", "args": {"query": "alpha"}}],
    "tool_outputs": [{"tool": "search", "output": "Mild weather report"}],
}


@pytest.mark.parametrize(
    ("level", "trust", "confidence", "recommendation"),
    [
        ("response_only", 85, 59, "review_recommended"),
        ("trace_available", 95, 82, "safe_to_deploy"),
        ("fully_instrumented", 100, 97, "safe_to_deploy"),
    ],
)
def test_a_clean_run_is_trusted_as_far_as_its_evidence_reaches(
    level: Any, trust: int, confidence: int, recommendation: str
) -> None:
    result = Critiqor("agent").evaluate(**CLEAN, evidence_level=level)

    assert (result.confidence, result.evaluation_confidence) == (trust, confidence)
    assert result.deployment_recommendation == recommendation
    assert result.failure_causes == []


def test_failures_cap_their_dimensions() -> None:
    result = Critiqor("agent").evaluate(
        "p",
        "Definitely safe. The answer is 99%.",
        [{"tool": "search", "args": {"query": "alpha"}}] * 4,
        [{"tool": "search", "output": "Beta evidence says review is needed."}],
        metrics={"retries": 2, "errors": ["tool timeout"]},
    )

    assert result.scores == {
        "hallucination": 68,
        "reasoning": 100,
        "consistency": 100,
        "task_completion": 72,
        "tool_reliability": 65,
        "execution_efficiency": 55,
        "calibration": 65,
    }
    assert (result.confidence, result.trust_level) == (71, "Moderate")


def test_a_run_without_an_answer_completed_nothing() -> None:
    assert reliability_scores(EvaluationEvidence(response="  "), [])["task_completion"] == 0


def test_missing_outputs_cost_tool_reliability() -> None:
    result = judge(EvaluationEvidence(response="fine", tool_calls=[ToolCall("a")]))

    assert result.scores["tool_reliability"] == 60


def test_a_loop_costs_efficiency_like_the_redundant_calls_it_is() -> None:
    evidence = EvaluationEvidence("p", "Nothing", [ToolCall("a")] * 3, [ToolOutput("a", "")] * 3)

    assert judge(evidence).scores["execution_efficiency"] == 65


def test_an_evaluation_is_the_same_every_time() -> None:
    assert Critiqor("a").evaluate(**CLEAN).to_dict() == Critiqor("b").evaluate(**CLEAN).to_dict()


def test_the_result_carries_its_evidence() -> None:
    evidence = Critiqor().evaluate(**CLEAN, trace=[{"event": "x"}], metrics=RuntimeMetrics(latency=1.5)).evidence

    assert evidence.evidence_level == "fully_instrumented"
    assert evidence.metrics.latency == 1.5


class Echo:
    def run(self, prompt: str) -> str:
        return f"You said {prompt}"


@pytest.mark.parametrize("agent", [Echo(), Echo().run], ids=["object", "callable"])
def test_an_agent_is_asked_when_no_response_is_given(agent: Any) -> None:
    assert Critiqor(agent).evaluate("hello").evidence.response == "You said hello"


def test_an_agent_that_cannot_be_asked_is_named() -> None:
    with pytest.raises(TypeError, match="agent of type str can't be asked"):
        Critiqor("gpt").evaluate("hello")


def test_a_result_becomes_a_record_with_time_and_id_from_outside() -> None:
    result = Critiqor("a").evaluate(**CLEAN)

    record = result.to_record("a", origin=Origin(now=lambda: "2026-01-01T00:00:00+00:00", new_id=lambda: "r-1"))

    assert (record.run_id, record.agent_id, record.timestamp) == ("r-1", "a", "2026-01-01T00:00:00+00:00")
    assert (record.trust_score, record.scores) == (result.trust_score, result.scores)


def test_two_records_of_one_result_have_different_ids() -> None:
    result = Critiqor("a").evaluate(**CLEAN)

    assert result.to_record().run_id != result.to_record().run_id
