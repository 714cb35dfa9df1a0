from typing import Any

import pytest
from msgspec import structs

from analyzer.cause import Severity
from analyzer.diagnosis import diagnose
from analyzer.evaluation import (
    CausalGraph,
    CausalGraphEdge,
    EvaluationEvidence,
    FailureCause,
    ToolOutput,
    build_causal_graph,
    explain_failure_chain,
)
from analyzer.evaluation.chain_words import phrase, steps_after
from analyzer.session.model import Event, Session

SESSION_TYPES = (
    "infinite_tool_loop",
    "memory_degradation",
    "ignoring_tool_outputs",
    "context_pollution",
    "cost_explosion",
    "skill_failure",
)


def test_the_documented_sample_reads_as_documented_decision_explain() -> None:
    graph = build_causal_graph([{"event": "note", "text": "Prompt ambiguity found"}], "hallucinated_answer")

    assert graph.explain() == (
        "Prompt was ambiguous -> Agent selected incorrect tool -> Evidence was missing -> Final answer hallucinated"
    )


@pytest.mark.parametrize("failure", SESSION_TYPES)
def test_a_session_type_has_a_chain_of_its_own_decision_the_six_types(failure: str) -> None:
    graph = build_causal_graph([], failure)

    assert graph.failure_event == failure
    assert graph.causal_graph[0].node == "agent_execution_started"
    assert "unclassified_failure" not in str(graph.to_dict())
    assert len(graph.causal_graph) >= 3


@pytest.mark.parametrize("failure", [*SESSION_TYPES, "tool_misuse", "ignored_tool_output", "runtime_failures", "odd"])
def test_every_step_reads_as_a_sentence(failure: str) -> None:
    for step in steps_after(failure, saw_tool=True):
        assert phrase(step)[0].isupper()
        assert "_" not in phrase(step)


def test_a_chain_starts_with_an_ambiguous_prompt_where_the_trace_tells_of_one() -> None:
    graph = build_causal_graph([{"event": "start"}, {"event": "x", "why": "prompt-ambiguity!"}], "cost_explosion")

    assert graph.causal_graph[0] == CausalGraphEdge("prompt_ambiguity", "repeated_reasoning_or_calls", "x")


def test_the_names_of_fields_are_evidence_too() -> None:
    trace = [{"event": "step", "tool": "search"}]
    graph = build_causal_graph(trace, "runtime_failures")

    assert [edge.evidence for edge in graph.causal_graph] == ["", "step", ""]


def test_outputs_of_evidence_are_evidence_that_a_tool_returned() -> None:
    evidence = EvaluationEvidence(tool_outputs=[ToolOutput("t", 1)])

    assert "Tool returned evidence" in build_causal_graph(evidence, "ignored_tool_output").explain()
    assert "Tool returned evidence" not in build_causal_graph([], "ignored_tool_output").explain()


@pytest.mark.parametrize(
    ("failure", "name"),
    [
        (FailureCause("cost_explosion", Severity.HIGH, -1, ""), "cost_explosion"),
        ({"failure_event": "a"}, "a"),
        ({"type": "b", "failure_event": "a"}, "b"),
        ({}, "unknown_failure"),
        (None, "unknown_failure"),
    ],
)
def test_a_failure_may_be_given_in_any_form(failure: Any, name: str) -> None:
    assert build_causal_graph([], failure).failure_event == name


@pytest.mark.parametrize("trace", [None, 5, "text", {"event": "tool"}, [1, None]], ids=repr)
def test_what_is_no_trace_is_an_empty_one(trace: Any) -> None:
    assert build_causal_graph(trace, "x") == build_causal_graph([], "x")


def test_a_graph_with_a_run_id_is_remembered() -> None:
    graph = build_causal_graph([], "unsupported_claims", run_id="run-7")

    assert explain_failure_chain("run-7") == explain_failure_chain(graph) == graph.explain()


def test_a_run_nobody_built_a_graph_of_has_no_chain() -> None:
    assert explain_failure_chain("never-seen") == ""


def test_old_graphs_are_forgotten_first() -> None:
    for number in range(1025):
        build_causal_graph([], "x", run_id=f"bounded-{number}")

    assert explain_failure_chain("bounded-0") == ""
    assert explain_failure_chain("bounded-1") != ""


def test_a_graph_without_edges_is_told_by_its_failure() -> None:
    assert CausalGraph("cost_explosion").explain() == "Cost explosion"


def test_empty_evidence_and_no_run_id_are_not_written() -> None:
    graph = CausalGraph("x", [CausalGraphEdge("a", "b"), CausalGraphEdge("b", "c", "tool_start")])

    assert graph.to_dict() == {
        "failure_event": "x",
        "causal_graph": [{"node": "a", "leads_to": "b"}, {"node": "b", "leads_to": "c", "evidence": "tool_start"}],
    }


def looping_session(calls: int = 3) -> Session:
    events: list[Event] = []
    for number in range(calls):
        common = {"tool_name": "search", "tool_call_id": f"c{number}"}
        call = Event(event_id=f"call_{number}", event="tool_call", event_type="tool_call", time_ns=2 * number, **common)
        result = Event(
            event_id=f"out_{number}", event="tool_output", event_type="tool_result", time_ns=2 * number + 1, **common
        )
        events += (
            structs.replace(call, payload={"input": {"q": "hours"}}),
            structs.replace(result, payload={"result": "none"}, status="ok"),
        )
    return Session(run_id="looping", events=tuple(events))


@pytest.mark.parametrize(
    "form",
    [lambda session: session, diagnose, lambda session: diagnose(session).to_dict()],
    ids=["session", "diagnosis", "document"],
)
def test_the_chain_of_a_diagnosed_run_is_the_path_through_its_graph(form: Any) -> None:
    graph = build_causal_graph(form(looping_session()))

    assert graph.explain() == "search (call_0) -> search (call_1) -> search (call_2) -> Infinite tool loop"
    assert [edge.evidence for edge in graph.causal_graph] == ["call_0", "call_1", "call_2"]
    assert (graph.failure_event, graph.run_id) == ("infinite_tool_loop", "looping")
    assert explain_failure_chain("looping") == graph.explain()


def test_a_cause_of_a_diagnosis_names_its_own_path() -> None:
    verdict = diagnose(looping_session(5))

    graph = build_causal_graph(verdict, verdict.failure_causes[0], run_id="mine")

    assert len(graph.causal_graph) == 5
    assert graph.causal_graph[-1].leads_to == "infinite_tool_loop"
    assert graph.run_id == "mine"


def test_a_failure_that_a_run_does_not_have_is_told_by_its_steps() -> None:
    graph = build_causal_graph(diagnose(looping_session()), "cost_explosion")

    assert graph.causal_graph[-1].leads_to == "cost_spike"


def test_a_run_without_failures_has_no_chain() -> None:
    graph = build_causal_graph(diagnose(Session(run_id="quiet")))

    assert (graph.causal_graph, graph.explain()) == ([], "No failure")


def test_a_long_path_takes_linear_time() -> None:
    assert len(build_causal_graph(looping_session(5000)).causal_graph) == 5000
