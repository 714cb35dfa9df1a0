"""Every documented type: to a dict and back, odd dicts, and contents that can't be changed."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, fields
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cause import Confidence, Severity
from analyzer.evaluation import (
    AgentProfile,
    AgentType,
    BenchmarkResult,
    CausalGraph,
    CausalGraphEdge,
    CertificationLevel,
    CritiqorResult,
    DeploymentRecommendation,
    EvaluationEvidence,
    EvaluationRecord,
    EvidenceLevel,
    FailureCause,
    Leaderboard,
    LeaderboardEntry,
    PolicyCheckResult,
    ReliabilityCertification,
    ReliabilityInsight,
    RootCause,
    RunComparison,
    RunSummary,
    RuntimeMetrics,
    ToolCall,
    ToolOutput,
    TrendAnalysis,
    TrendDirection,
    TrustLevel,
)
from analyzer.session.model import SpanRef

text = st.text(max_size=12)
some = st.none() | text
whole = st.integers()
number = st.none() | st.floats(allow_nan=False, allow_infinity=False)
scores = st.dictionaries(text, whole, max_size=4)
json_values = st.recursive(
    st.none() | st.booleans() | whole | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(text, json_values, max_size=3)


def word(alias: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(get_args(alias))


root_causes = st.builds(RootCause, text, text, whole, text)
causes = st.builds(
    FailureCause,
    type=text,
    severity=st.sampled_from(Severity),
    impact=whole,
    description=text,
    root_cause=st.none() | root_causes,
    recommendation=text,
    confidence=st.sampled_from(Confidence),
    basis=st.sampled_from(("observed", "derived")),
    rule=some,
    evidence=st.lists(text, max_size=2),
    spans=st.lists(st.builds(SpanRef, text, text), max_size=2),
    marks=st.lists(text, max_size=2),
    fingerprint=text,
)
calls = st.builds(ToolCall, text, objects, some, number)
outputs = st.builds(ToolOutput, text, json_values, some, some, number)
metrics = st.builds(RuntimeMetrics, number, objects, whole, st.lists(text, max_size=2))
evidences = st.builds(
    EvaluationEvidence,
    text,
    text,
    st.lists(calls, max_size=2),
    st.lists(outputs, max_size=2),
    st.lists(objects, max_size=2),
    metrics,
    word(EvidenceLevel),
)
records = st.builds(
    EvaluationRecord,
    text,
    text,
    text,
    scores,
    st.lists(causes, max_size=2),
    whole,
    word(EvidenceLevel),
    whole,
    word(DeploymentRecommendation),
)
results = st.builds(
    CritiqorResult,
    whole,
    word(TrustLevel),
    scores,
    st.lists(causes, max_size=2),
    word(EvidenceLevel),
    whole,
    word(DeploymentRecommendation),
    evidences,
)
edges = st.builds(CausalGraphEdge, text, text, text)
entries = st.builds(LeaderboardEntry, whole, text, whole, whole, text, text, whole)

DOCUMENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    AgentProfile: st.builds(AgentProfile, text, text, text.filter(bool), objects),
    BenchmarkResult: st.builds(
        BenchmarkResult, text, word(AgentType), whole, whole, whole, scores, st.lists(results, max_size=2)
    ),
    CausalGraph: st.builds(CausalGraph, text, st.lists(edges, max_size=3), some),
    CausalGraphEdge: edges,
    CritiqorResult: results,
    EvaluationEvidence: evidences,
    EvaluationRecord: records,
    FailureCause: causes,
    Leaderboard: st.builds(Leaderboard, text, st.lists(entries, max_size=3)),
    LeaderboardEntry: entries,
    PolicyCheckResult: st.builds(
        PolicyCheckResult, st.booleans(), word(DeploymentRecommendation), st.lists(text, max_size=3)
    ),
    ReliabilityCertification: st.builds(
        ReliabilityCertification, word(CertificationLevel), whole, whole, text, objects
    ),
    ReliabilityInsight: st.builds(ReliabilityInsight, text, st.lists(text, max_size=3)),
    RootCause: root_causes,
    RunComparison: st.builds(RunComparison, whole, scores, text),
    RunSummary: st.builds(
        RunSummary,
        run_id=text,
        agent_id=text,
        timestamp=text,
        status=some,
        trust_score=st.none() | whole,
        readiness=some,
        primary_failure=some,
        exit_code=st.none() | whole,
        latency=number,
        tokens=st.none() | whole,
        path=some,
    ),
    RuntimeMetrics: metrics,
    ToolCall: calls,
    ToolOutput: outputs,
    TrendAnalysis: st.builds(TrendAnalysis, word(TrendDirection), whole, whole, whole, whole, text),
}
TYPES = sorted(DOCUMENTS, key=lambda kind: kind.__name__)
each_type = pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)


@each_type
@given(data=st.data())
def test_a_document_read_back_from_its_dict_is_the_same(kind: type[Any], data: st.DataObject) -> None:
    value = data.draw(DOCUMENTS[kind])

    assert kind.from_dict(value.to_dict()) == value


@each_type
@settings(max_examples=20)
@given(data=st.data())
def test_a_document_survives_json(kind: type[Any], data: st.DataObject) -> None:
    value = data.draw(DOCUMENTS[kind])

    assert kind.from_dict(json.loads(json.dumps(value.to_dict(), allow_nan=False))) == value


@each_type
@given(data=st.data())
def test_any_json_value_reads_as_some_document(kind: type[Any], data: st.DataObject) -> None:
    names = st.sampled_from([field.name for field in fields(kind)])
    payload = data.draw(json_values | st.dictionaries(names, json_values | st.just([{}, None, 1, "x"]), max_size=6))

    value = kind.from_dict(payload)

    assert kind.from_dict(value.to_dict()) == value
    json.dumps(value.to_dict(), allow_nan=False)


@each_type
@settings(max_examples=20)
@given(data=st.data())
def test_the_dict_of_a_document_is_plain_and_its_own(kind: type[Any], data: st.DataObject) -> None:
    value = data.draw(DOCUMENTS[kind])
    before = copy.deepcopy(value)

    scramble(value.to_dict())

    assert value == before


def scramble(item: Any) -> None:
    """Change everything that a plain document is made of."""
    if isinstance(item, dict):
        assert type(item) is dict
        for inner in item.values():
            scramble(inner)
        item["changed"] = True
    elif isinstance(item, list):
        assert type(item) is list
        for inner in item:
            scramble(inner)
        item.append("changed")


@each_type
@settings(max_examples=20)
@given(data=st.data())
def test_a_document_can_be_copied_and_pickled(kind: type[Any], data: st.DataObject) -> None:
    value = data.draw(DOCUMENTS[kind])

    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301  # our own bytes


@each_type
@settings(max_examples=20)
@given(data=st.data())
def test_no_field_of_a_document_can_be_set(kind: type[Any], data: st.DataObject) -> None:
    value = data.draw(DOCUMENTS[kind])

    for field in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(value, field.name, None)


def test_a_document_does_not_follow_changes_to_what_it_was_made_from() -> None:
    arguments = {"filter": {"tags": ["a"]}}
    calls = [ToolCall("search", arguments)]
    evidence = EvaluationEvidence(tool_calls=calls)

    arguments["filter"]["tags"].append("b")
    calls.clear()

    assert evidence.to_dict()["tool_calls"] == [{"tool": "search", "args": {"filter": {"tags": ["a"]}}}]


CHANGES: dict[str, Any] = {
    "append a call": lambda evidence: evidence.tool_calls.append(ToolCall("x")),
    "change an argument": lambda evidence: evidence.tool_calls[0].args.update(a=2),
    "append to an argument": lambda evidence: evidence.tool_calls[0].args["a"].append(2),
    "sort an argument": lambda evidence: evidence.tool_calls[0].args["a"].sort(),
    "take from an event": lambda evidence: evidence.trace[0].pop("event"),
    "set in an event": lambda evidence: evidence.trace[0].__setitem__("event", "other"),
    "insert an error": lambda evidence: evidence.metrics.errors.insert(0, "x"),
    "clear the usage": lambda evidence: evidence.metrics.token_usage.clear(),
    "extend an output": lambda evidence: evidence.tool_outputs[0].output["rows"].extend([1]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_contents_refuse_changes(change: Any) -> None:
    evidence = EvaluationEvidence(
        tool_calls=[ToolCall("search", {"a": [1]})],
        tool_outputs=[ToolOutput("search", {"rows": []})],
        trace=[{"event": "x"}],
        metrics=RuntimeMetrics(errors=["boom"], token_usage={"total": 1}),
    )
    before = evidence.to_dict()

    with pytest.raises(TypeError, match="can't be changed"):
        change(evidence)

    assert evidence.to_dict() == before


def test_contents_read_as_the_lists_and_dicts_that_the_documentation_promises() -> None:
    call = ToolCall("search", {"ids": [1, 2]})

    assert isinstance(call.args, dict)
    assert call.args == {"ids": [1, 2]}
    assert json.dumps(call.args) == '{"ids": [1, 2]}'
    assert EvaluationEvidence(tool_calls=[call]).tool_calls == [call]


def test_a_failure_cause_keeps_no_list_it_was_given() -> None:
    evidence: Any = ["event_1"]
    cause = FailureCause("x", Severity.LOW, -1, "", evidence=evidence)

    evidence.append("event_2")

    assert cause.evidence == ("event_1",)


def test_values_json_has_no_spelling_for_are_written_as_text() -> None:
    output = ToolOutput("t", {"when": complex(1, 2), "nan": float("nan"), 3: {"b", "a"}, "object": object()})

    assert output.to_dict()["output"] == {"when": "(1+2j)", "nan": "nan", "3": ["a", "b"], "object": "<object>"}


def test_an_object_whose_text_raises_costs_only_its_text() -> None:
    class Hostile:
        def __str__(self) -> str:
            raise RuntimeError

    written = ToolOutput("t", [Hostile(), 1]).to_dict()["output"]

    assert written[1] == 1
    assert "Hostile" in written[0]


def test_nesting_without_end_is_cut_and_said() -> None:
    deep: Any = "bottom"
    for _ in range(20_000):
        deep = [deep]
    endless: list[Any] = []
    endless += [endless, endless]

    assert "[depth_limit]" in json.dumps(ToolOutput("t", deep).to_dict())
    assert ToolOutput("t", endless).to_dict()["output"] == ["[depth_limit]", "[depth_limit]"]
