"""The usage examples in the documentation of EvidenceRecorder, as written but for the package's name."""

from typing import Any

import pytest

from critiqor_otel import CritiqorResult, EvaluationEvidence, EvidenceRecorder

USAGE = """
from critiqor_otel import Critiqor, monitor

agent = Critiqor(your_agent)

with monitor("What is 2 + 2?") as recorder:
    recorder.record_tool_call("calculator", {"expression": "2 + 2"})
    result = your_agent.run("What is 2 + 2?")
    recorder.record_tool_output("calculator", "4")
    evidence = recorder.finish(result, "What is 2 + 2?")

critiqor_result = agent.evaluate(
    prompt="What is 2 + 2?",
    response=result,
    tool_calls=evidence.tool_calls,
    tool_outputs=evidence.tool_outputs,
    evidence_level="trace_available",
)
"""

WRAPPING = """
calculator = recorder.wrap_tool("calculator", raw_calculator_fn)
result = calculator("2 + 2")  # automatically recorded
"""

METHODS = """
recorder.record_llm_call("gpt-4o", {"prompt_tokens": 120, "completion_tokens": 80, "total_tokens": 200})
recorder.record_event("state_transition", state="done")
recorder.record_tool_output("calculator", "", call_id="c1", error="division by zero")
evidence = recorder.finish()
"""


class Agent:
    def run(self, prompt: str) -> str:
        return f"The answer to {prompt} is 4"


def run(example: str, **names: Any) -> dict[str, Any]:
    exec(example, names)  # noqa: S102  # examples above
    return names


def test_the_usage_of_monitor() -> None:
    names = run(USAGE, your_agent=Agent())

    evidence, result = names["evidence"], names["critiqor_result"]
    assert isinstance(evidence, EvaluationEvidence)
    assert isinstance(result, CritiqorResult)
    assert [event["event"] for event in evidence.trace] == ["agent_start", "tool_start", "tool_end", "agent_finish"]
    assert (evidence.evidence_level, result.evidence_level) == ("fully_instrumented", "trace_available")
    assert result.evidence.tool_calls == evidence.tool_calls
    assert evidence.metrics.latency is not None


def test_the_usage_of_wrap_tool() -> None:
    def raw_calculator(expression: str) -> str:
        return {"2 + 2": "4"}[expression]

    with EvidenceRecorder("What is 2 + 2?") as recorder:
        names = run(WRAPPING, recorder=recorder, raw_calculator_fn=raw_calculator)
        with pytest.raises(KeyError):
            names["calculator"]("2 + 3")

    assert names["result"] == "4"
    assert [(call.tool, call.args["args"]) for call in recorder.tool_calls] == [
        ("calculator", ["2 + 2"]),
        ("calculator", ["2 + 3"]),
    ]
    assert [output.error is None for output in recorder.tool_outputs] == [True, False]


def test_the_methods_without_a_block() -> None:
    names = run(METHODS, recorder=EvidenceRecorder("2 / 0?"))

    evidence = names["evidence"]
    assert evidence.metrics.token_usage == {"prompt_tokens": 120, "completion_tokens": 80, "total_tokens": 200}
    assert list(evidence.metrics.errors) == ["division by zero"]
    assert (evidence.prompt, evidence.tool_outputs[0].call_id, evidence.metrics.latency) == ("2 / 0?", "c1", None)
