"""What the documentation shows, as written, and the names it promises."""

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import analyzer.evaluation
from analyzer import cause
from analyzer.evaluation import (
    Critiqor,
    EvaluationEvidence,
    EvaluationRecord,
    FailureSeverity,
    ToolCall,
    ToolOutput,
    analyze_trends,
    build_causal_graph,
    certify_run,
    check_policy,
    load_evaluations,
    save_evaluation,
    trust_from_run,
)
from analyzer.evaluation.runs import as_record


def your_agent(prompt: str) -> str:
    return f"The answer to {prompt} is 4"


def test_the_evaluation_of_recorded_evidence_runs_as_written() -> None:
    result = your_agent("What is 2 + 2?")
    evidence = EvaluationEvidence(
        prompt="What is 2 + 2?",
        response=result,
        tool_calls=[ToolCall("calculator", {"expression": "2 + 2"})],
        tool_outputs=[ToolOutput("calculator", "4")],
        evidence_level="fully_instrumented",
    )

    agent = Critiqor(your_agent)
    critiqor_result = agent.evaluate(
        prompt="What is 2 + 2?",
        response=result,
        tool_calls=evidence.tool_calls,
        tool_outputs=evidence.tool_outputs,
        evidence_level="trace_available",
    )

    assert critiqor_result.evidence_level == "trace_available"
    assert critiqor_result.evidence.tool_calls == evidence.tool_calls


def test_an_agent_s_runs_are_kept_gated_followed_and_certified(tmp_path: Path) -> None:
    path = tmp_path / "critiqor_evaluations.jsonl"
    agent = Critiqor(your_agent)
    for _ in range(3):
        save_evaluation(agent.evaluate("2 + 2"), path, agent_id="adder")

    runs = load_evaluations(path, agent_id="adder")

    assert check_policy(runs[-1], {"minimum_trust_score": 80}).deployment_recommendation == "review_recommended"
    assert analyze_trends(runs, window=2).trust_trend == "stable"
    assert certify_run(runs[-1]).certification_level == "bronze"
    assert build_causal_graph(agent.evaluate("2 + 2").evidence, runs[0].failure_causes[0]).explain()


def test_the_example_of_the_page_runs_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text()
    monkeypatch.chdir(tmp_path)

    exec(page.split("```python\n")[1].split("```")[0], {})  # noqa: S102  # our own page

    assert capsys.readouterr().out == "safe_to_deploy The run meets every rule and may be deployed.\n"


def test_a_record_is_rebuilt_from_its_dict() -> None:
    payload = Critiqor().evaluate("p", "fine").to_record().to_dict()

    assert EvaluationRecord.from_dict(payload).to_dict() == payload


def test_every_promised_name_is_there_and_one_class_each() -> None:
    missing = [name for name in analyzer.evaluation.__all__ if not hasattr(analyzer.evaluation, name)]

    assert missing == []
    assert analyzer.evaluation.FailureCause is cause.FailureCause
    assert analyzer.evaluation.RootCause is cause.RootCause


def test_severities_are_those_of_the_diagnosis() -> None:
    assert get_args(FailureSeverity) == tuple(cause.Severity)


def test_any_object_that_can_be_written_as_a_run_is_one() -> None:
    class Verdict:
        def to_dict(self) -> dict[str, Any]:
            return {"run_id": "r", "trust_score": 40, "readiness_level": "unsafe_for_production"}

    record = EvaluationRecord.from_dict({"trust_score": 12})

    assert trust_from_run(Verdict()) == 40
    assert as_record(Verdict()).deployment_recommendation == "unsafe_for_production"
    assert (trust_from_run(record), as_record(record)) == (12, record)


def test_importing_the_evaluation_loads_no_opentelemetry() -> None:
    script = (
        "import sys, analyzer.evaluation; print([n for n in ('opentelemetry', 'google', 'grpc') if n in sys.modules])"
    )

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"
