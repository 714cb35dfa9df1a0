from typing import Any

import pytest

from analyzer.cause import Confidence, Severity
from analyzer.evaluation import (
    AgentProfile,
    BenchmarkResult,
    CritiqorResult,
    EvaluationEvidence,
    EvaluationRecord,
    FailureCause,
    PolicyCheckResult,
    RootCause,
    RuntimeMetrics,
    ToolCall,
    ToolOutput,
)


@pytest.mark.parametrize(
    ("payload", "call"),
    [
        ({"tool": "a", "args": {"x": 1}, "id": "c1", "timestamp": 2.5}, ToolCall("a", {"x": 1}, "c1", 2.5)),
        ({"name": "a", "call_id": 7}, ToolCall("a", {}, "7")),
        ({"args": "oslo"}, ToolCall("tool", {"args": "oslo"})),
        ({"tool": "a", "args": None, "timestamp": "soon"}, ToolCall("a")),
        ({"tool": "a", "timestamp": "1.5"}, ToolCall("a", timestamp=1.5)),
        ("search", ToolCall("search")),
    ],
)
def test_a_call_is_read_from_what_stands_for_it(payload: Any, call: ToolCall) -> None:
    assert ToolCall.from_dict(payload) == call


@pytest.mark.parametrize(
    ("payload", "output"),
    [
        ({"tool": "a", "output": None}, ToolOutput("a", None)),
        ({"tool": "a", "result": [1], "id": "c1", "error": 3}, ToolOutput("a", [1], "c1", "3")),
        ({"output": 1, "result": 2}, ToolOutput("tool", 1)),
        ({}, ToolOutput("tool", "")),
        ([1, 2], ToolOutput("tool", [1, 2])),
    ],
)
def test_an_output_is_read_from_what_stands_for_it(payload: Any, output: ToolOutput) -> None:
    assert ToolOutput.from_dict(payload) == output


@pytest.mark.parametrize(
    ("payload", "metrics"),
    [
        ({"errors": "boom"}, RuntimeMetrics(errors=["boom"])),
        ({"errors": None}, RuntimeMetrics()),
        ({"errors": 3}, RuntimeMetrics(errors=["3"])),
        ({"retries": "two", "latency": "fast", "token_usage": 5}, RuntimeMetrics()),
        ({"retries": "2", "latency": 0}, RuntimeMetrics(latency=0, retries=2)),
        (None, RuntimeMetrics()),
    ],
)
def test_metrics_that_cannot_be_read_are_their_defaults(payload: Any, metrics: RuntimeMetrics) -> None:
    assert RuntimeMetrics.from_dict(payload) == metrics


def test_a_call_without_id_and_time_is_written_without_them() -> None:
    assert ToolCall("a").to_dict() == {"tool": "a", "args": {}}
    assert ToolOutput("a", None).to_dict() == {"tool": "a", "output": None}
    assert ToolOutput("a", 1, error="").to_dict() == {"tool": "a", "output": 1, "error": ""}


def test_evidence_takes_the_dicts_of_its_parts() -> None:
    given: Any = {"tool_calls": [{"tool": "a"}], "tool_outputs": ["text"], "metrics": {"retries": 1}, "trace": ["x"]}

    evidence = EvaluationEvidence(**given)

    assert evidence.tool_calls == [ToolCall("a")]
    assert evidence.tool_outputs == [ToolOutput("tool", "text")]
    assert evidence.trace == [{"event": "x"}]
    assert evidence.metrics == RuntimeMetrics(retries=1)


@pytest.mark.parametrize("level", [None, "", "excellent", 3])
def test_an_unknown_level_is_inferred(level: Any) -> None:
    assert EvaluationEvidence(tool_calls=[ToolCall("a")], evidence_level=level).evidence_level == "trace_available"


def test_a_known_level_is_kept() -> None:
    evidence = EvaluationEvidence(tool_calls=[ToolCall("a")], evidence_level="response_only")

    assert evidence.evidence_level == "response_only"


def test_a_cause_is_written_as_documented() -> None:
    bare = FailureCause("x", Severity.HIGH, -10, "d")
    full = FailureCause("x", Severity.HIGH, -10, "d", RootCause("why", "then", -10, "fix"), "fix")

    assert bare.to_dict() == {"type": "x", "severity": "high", "impact": -10, "description": "d"}
    assert full.to_dict() == {
        **bare.to_dict(),
        "root_cause": {"description": "why", "impact": "then", "trust_penalty": -10, "recommended_fix": "fix"},
        "recommendation": "fix",
    }


def test_a_cause_of_a_diagnosis_reads_back_with_all_it_says() -> None:
    cause = FailureCause.from_dict(
        {
            "type": "infinite_tool_loop",
            "severity": "critical",
            "confidence": "low",
            "basis": "derived",
            "rule": "equal-calls",
            "impact": -30,
            "evidence": ["event_1"],
            "spans": [{"trace_id": "0" * 32, "span_id": "1" * 16}],
            "root_cause": "the tool never changes its answer",
            "recommendation": None,
            "fingerprint": "f",
        }
    )

    assert (cause.severity, cause.confidence, cause.basis) == (Severity.CRITICAL, Confidence.LOW, "derived")
    assert cause.root_cause == RootCause("the tool never changes its answer", "", -30, "")
    assert cause.recommendation == ""
    assert cause.spans[0].span_id == "1" * 16


def test_a_record_leaves_out_what_is_no_score_and_no_cause() -> None:
    record = EvaluationRecord.from_dict(
        {"scores": {"a": "9", "b": 9.9, "c": float("nan"), "d": 10**400, 1: 2}, "failure_causes": ["x", {"type": "y"}]}
    )

    assert record.scores == {"b": 9, "1": 2}
    assert [cause.type for cause in record.failure_causes] == ["y"]


@pytest.mark.parametrize("value", ["abc", None, [], {}, float("inf"), "9" * 5000, 10**5000], ids="abcdefg")
def test_a_trust_score_that_cannot_be_read_is_zero(value: Any) -> None:
    assert EvaluationRecord.from_dict({"trust_score": value}).trust_score == 0


def test_a_profile_is_called_by_its_id_until_it_has_a_name() -> None:
    assert AgentProfile("a-1") == AgentProfile("a-1", "a-1", "general", {})
    assert AgentProfile.from_dict({"agent_id": "a-1", "name": None}).name == "a-1"
    assert AgentProfile("a-1", "Ada").name == "Ada"


def test_only_true_has_passed() -> None:
    assert not PolicyCheckResult.from_dict({"passed": "yes"}).passed


def test_an_unknown_trust_level_follows_the_score() -> None:
    levels = [CritiqorResult.from_dict({"confidence": score}).trust_level for score in (75, 74, 50, 49)]

    assert levels == ["High", "Moderate", "Moderate", "Low"]


def test_a_benchmark_of_an_unknown_agent_type_is_general() -> None:
    assert BenchmarkResult.from_dict({"agent_type": "cooking"}).agent_type == "general"
