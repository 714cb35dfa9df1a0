"""What critiqor 0.1.4 was recorded to answer, and the answers that were decided otherwise, each with its reason."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analyzer.cause import FailureCause, Severity
from analyzer.evaluation import (
    EvaluationEvidence,
    EvaluationRecord,
    MemoryRoster,
    analyze_trends,
    benchmark_run,
    build_causal_graph,
    calculate_evaluation_confidence,
    certify_run,
    check_policy,
    compare_runs,
    detect_failure_causes,
    generate_insights,
    generate_leaderboard,
    recommend_deployment,
    register_agent,
    submit_run,
    trust_from_run,
)

CASES = Path(__file__).parents[1] / "cases" / "critiqor-v1-evaluation"
NAMES = sorted(path.name.removesuffix(".input.json") for path in CASES.glob("*.input.json"))


def detect(value: Any) -> Any:
    evidence = EvaluationEvidence.from_dict(value)
    causes = detect_failure_causes(evidence)
    confidence = calculate_evaluation_confidence(evidence, causes)
    return {
        "evidence_level": evidence.evidence_level,
        "evaluation_confidence": confidence,
        "failures": [
            {
                "type": cause.type,
                "severity": cause.severity,
                "impact": cause.impact,
                "trust_penalty": cause.root_cause.trust_penalty if cause.root_cause else None,
                "has_recommendation": bool(cause.recommendation),
            }
            for cause in causes
        ],
        "deployment_at_trust_90": recommend_deployment(90, confidence, causes),
    }


def deploy(value: Any) -> Any:
    return [
        recommend_deployment(
            trust, confidence, [FailureCause(kind, Severity(severity), -1, "") for kind, severity in causes]
        )
        for trust, confidence, causes in value
    ]


def certify(value: Any) -> Any:
    found = [certify_run(item["run"], item["percentile"]) for item in value]
    return [
        {
            "level": one.certification_level,
            "trust_score": one.trust_score,
            "percentile": one.percentile,
            "criteria": one.to_dict()["criteria"],
        }
        for one in found
    ]


def policy(value: Any) -> Any:
    result = check_policy(value["run"], value["policy"])
    return {
        "passed": result.passed,
        "deployment_recommendation": result.deployment_recommendation,
        "failed_checks": 0 if result.passed else len(result.messages),
    }


def trends(value: Any) -> Any:
    found = analyze_trends(value["runs"], value["window"]).to_dict()
    del found["summary"]
    return found


def compare(value: Any) -> Any:
    found = compare_runs(*value).to_dict()
    del found["summary"]
    return found


def graph(trace: Any, failure: Any) -> Any:
    found = build_causal_graph(trace, failure)
    return {
        "failure_event": found.failure_event,
        "edges": [[edge.node, edge.leads_to, edge.evidence] for edge in found.causal_graph],
    }


def leaderboard(value: Any) -> Any:
    roster = MemoryRoster()
    for agent_id, category, scores in value["agents"]:
        register_agent(agent_id, agent_id.upper(), category, roster=roster)
        for score in scores:
            submit_run(agent_id, {"trust_score": score}, roster=roster)
    return generate_leaderboard(value["category"], roster=roster).to_dict()


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "benchmark": lambda value: [
        benchmark_run(item["run"], [{"trust_score": score} for score in item["history"]]).percentile for item in value
    ],
    "certify_many": certify,
    "compare": lambda value: [compare(pair) for pair in value],
    "deploy": deploy,
    "detect": detect,
    "graph": lambda value: graph(value["trace"], value["failure"]),
    "graphs": lambda value: [graph(value["trace"], failure) for failure in value["failures"]],
    "insights": lambda value: [list(generate_insights(runs).primary_drivers) for runs in value],
    "leaderboard": leaderboard,
    "levels": lambda value: [EvaluationEvidence.from_dict(item).evidence_level for item in value],
    "policy": policy,
    "record": lambda value: [EvaluationRecord.from_dict(item).to_dict() for item in value],
    "trends": trends,
    "trends_many": lambda value: [trends(item) for item in value],
    "trust": lambda value: [trust_from_run(item) for item in value],
}

AMBITION = "the policy let it pass, its own numbers do not call it safe: review_recommended"

# Case → place in the answer → (what is answered here, the decision behind it).
DECISIONS: dict[str, dict[tuple[Any, ...], tuple[Any, str]]] = {
    "certify_blocks": {
        (2, "level"): ("none", "critical blocks everywhere"),
        (2, "criteria", "high_severity_failures"): (True, "critical blocks everywhere"),
    },
    "certify_evidence": {
        (0, "level"): ("silver", "gold needs a trace: the table's evidence requirements are enforced")
    },
    "graph_empty_trace": {
        (1, "edges"): (
            [
                ["agent_execution_started", "tool_call", ""],
                ["tool_call", "tool_failure_or_no_progress", ""],
                ["tool_failure_or_no_progress", "retry_same_action", ""],
                ["retry_same_action", "loop_flagged", ""],
            ],
            "build_causal_graph knows infinite_tool_loop and the other session types",
        )
    },
    "graph_types": {
        (8, "edges"): (
            [
                ["agent_execution_started", "tool_call", ""],
                ["tool_call", "tool_failure_or_no_progress", "tool_start"],
                ["tool_failure_or_no_progress", "retry_same_action", "tool_start"],
                ["retry_same_action", "loop_flagged", ""],
            ],
            "build_causal_graph knows infinite_tool_loop and the other session types",
        )
    },
    "policy_critical_passes": {
        ("passed",): (False, "critical blocks everywhere"),
        ("deployment_recommendation",): ("unsafe_for_production", "critical blocks everywhere"),
        ("failed_checks",): (1, "critical blocks everywhere"),
    },
    "policy_defaults": {("deployment_recommendation",): ("review_recommended", AMBITION)},
    "policy_high_allowed": {("deployment_recommendation",): ("review_recommended", AMBITION)},
    "policy_missing_scores_pass": {("deployment_recommendation",): ("review_recommended", AMBITION)},
    "record_from_dict": {
        (2, "failure_causes", 0, "severity"): ("critical", "critical is a severity, not a misspelt medium"),
        (3,): (EvaluationRecord.from_dict({}).to_dict(), "bad values are coerced, never a traceback"),
        (4,): (EvaluationRecord.from_dict({}).to_dict(), "bad values are coerced, never a traceback"),
        (5,): (EvaluationRecord.from_dict({}).to_dict(), "bad values are coerced, never a traceback"),
    },
}


def answered(name: str) -> Any:
    given = json.loads((CASES / f"{name}.input.json").read_text())
    return json.loads(json.dumps(OPERATIONS[given["op"]](given["value"])))


def recorded(name: str) -> Any:
    return json.loads((CASES / f"{name}.expected.json").read_text())["result"]


def put(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return the document with another value in one place, which must be there and hold something else."""
    if not place:
        assert document != value, "a decision that agrees with the recording is none"
        return value
    key, *rest = place
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[key] = put(document[key], tuple(rest), value)
    return copy


def test_all_recorded_cases_are_here() -> None:
    assert len(NAMES) == 48


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DECISIONS])
def test_the_answer_is_the_recorded_one(name: str) -> None:
    assert answered(name) == recorded(name)


@pytest.mark.parametrize(
    "name", sorted(DECISIONS), ids=lambda name: f"{name}: {next(iter(DECISIONS[name].values()))[1]}"
)
def test_the_answer_differs_from_the_recorded_one_only_where_it_was_decided(name: str) -> None:
    expected = recorded(name)
    for place, (value, _) in DECISIONS[name].items():
        expected = put(expected, place, value)

    assert answered(name) == expected
