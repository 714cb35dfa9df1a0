from typing import Any

from drawn_sessions import SESSIONS
from flat_sessions import answered, call, output, session_of
from hypothesis import given

from analyzer.causality.graph import Edge
from analyzer.causality.roots import failures_of, ranked
from analyzer.cause import FailureCause, Severity
from analyzer.diagnosis import Profile, diagnose
from analyzer.session.model import Event, Session, SpanRef
from analyzer.verdict import Diagnosis


def edges(diagnosis: Diagnosis, relation: str) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in diagnosis.causal_graph.edges if edge.relation == relation]


def spanned(number: int, parent: int | None, event_type: str = "turn_start") -> Event:
    otel: dict[str, Any] = {} if parent is None else {"parent_span_id": f"{parent:016x}"}
    return Event(
        event_id=f"e{number}",
        event="state_transition",
        event_type=event_type,
        time_ns=number,
        span=SpanRef(f"{1:032x}", f"{number:016x}"),
        payload={"otel": otel},
    )


@given(SESSIONS)
def test_no_edge_runs_back_in_time_and_none_is_there_twice(session: Session) -> None:
    graph = diagnose(session).causal_graph
    place = {node.id: position for position, node in enumerate(graph.nodes)}
    triples = [(edge.source, edge.target, edge.relation, edge.rule) for edge in graph.edges]

    assert len(place) == len(graph.nodes)
    assert all(place[edge.source] < place[edge.target] for edge in graph.edges)
    assert len(set(triples)) == len(triples)


def test_an_output_is_produced_by_its_call() -> None:
    diagnosis = diagnose(session_of(call(tool_call_id="a"), call(tool_call_id="b"), output(tool_call_id="a")))

    assert edges(diagnosis, "produces") == [("event_0", "event_2")]


def test_a_failed_call_that_is_made_again_is_retried() -> None:
    diagnosis = diagnose(session_of(*answered(ValueError("boom"), "fine")))

    assert edges(diagnosis, "retries") == [("event_0", "event_2")]
    assert diagnosis.evidence_summary.retries == 1


def test_a_retry_that_an_event_tells_of_is_not_counted_again() -> None:
    first, second = answered(ValueError("boom")), answered("fine")
    diagnosis = diagnose(session_of(*first, {"event": "retry_event"}, *second))

    assert diagnosis.evidence_summary.retries == 1
    assert set(edges(diagnosis, "retries")) == {("event_0", "event_2"), ("event_0", "event_3")}


def test_a_span_contains_those_inside() -> None:
    events = (spanned(1, None, "agent_start"), spanned(2, 1), spanned(3, 2), spanned(4, 99))

    diagnosis = diagnose(Session(run_id="r", events=events))

    assert edges(diagnosis, "contains") == [("e1", "e2"), ("e2", "e3")]


def test_a_turn_contains_what_happens_until_it_ends() -> None:
    diagnosis = diagnose(
        session_of(
            {"event": "agent_start"}, {"event": "turn_start"}, call(), {"event": "turn_end"}, {"event": "agent_end"}
        )
    )

    assert edges(diagnosis, "contains") == [
        ("event_0", "event_1"),
        ("event_1", "event_2"),
        ("event_1", "event_3"),
        ("event_0", "event_4"),
    ]


def test_two_failures_of_one_type_are_two_nodes() -> None:
    nodes = diagnose(session_of(*answered(*"aaa"), *answered(*"aaa", tool="other"))).causal_graph.nodes

    assert [node.id for node in nodes if node.kind == "failure"] == [
        "failure_infinite_tool_loop",
        "failure_infinite_tool_loop_2",
    ]


def test_evidence_that_failures_share_reinforces_once() -> None:
    usage = {"event": "token_usage", "usage": {"total": 20_000}}
    graph = diagnose(session_of(*answered(*"aaa"), usage)).causal_graph
    reinforcing = [edge for edge in graph.edges if edge.relation == "reinforces"]

    assert len({edge.target for edge in graph.edges if edge.relation == "causes"}) == 2
    assert len(reinforcing) == len(set(map(pair, reinforcing)))


def pair(edge: Edge) -> tuple[str, str]:
    return edge.source, edge.target


def test_a_failure_is_explained_by_a_path_through_the_graph() -> None:
    diagnosis = diagnose(session_of(*answered(*"aaa")))

    assert diagnosis.primary_diagnosis.causal_chain_explanation == (
        'At 12:00:00 search is called with {"q":"alpha"} (event_0). So it goes 2 times more, '
        "the last time at 12:00:04 (event_4). "
        "That is infinite_tool_loop: The agent repeats a call instead of using what the first one gave."
    )
    assert {("event_0", "event_2"), ("event_2", "event_4")} <= set(edges(diagnosis, "reinforces"))
    assert ("event_4", "failure_infinite_tool_loop") in edges(diagnosis, "causes")


def test_equal_steps_are_told_once_however_many() -> None:
    chain = diagnose(session_of(*answered(*["a"] * 20))).primary_diagnosis.causal_chain_explanation

    assert "So it goes 19 times more" in chain
    assert chain.count("search is called") == 1


def test_a_run_without_failure_says_so() -> None:
    assert diagnose(session_of(call(), output())).primary_diagnosis.causal_chain_explanation == "No failure was found."


def test_the_failure_that_weighs_most_comes_first_and_a_harmless_habit_not_at_all() -> None:
    causes = (
        FailureCause(type="a", severity=Severity.HIGH, impact=-30, description=""),
        FailureCause(type="b", severity=Severity.CRITICAL, impact=-10, description=""),
        FailureCause(type="c", severity=Severity.LOW, impact=0, description="", marks=("progressing",)),
        FailureCause(type="d", severity=Severity.HIGH, impact=-30, description=""),
    )

    def order(profile: Profile) -> list[str]:
        return [failure.cause.type for failure in ranked(failures_of(causes, profile), profile)]

    assert order(Profile.STANDARD) == ["b", "a", "d"]
    assert order(Profile.CRITIQOR_V1) == ["a", "d", "b"]


def test_an_empty_id_is_led_to_but_leads_nowhere_in_the_recorded_profile() -> None:
    lost = {"event": "memory_event", "action": "lost"}
    graph = diagnose(session_of(lost, {**lost, "event_id": ""}, lost), profile=Profile.CRITIQOR_V1).causal_graph

    assert [(edge.source, edge.target, edge.relation) for edge in graph.edges] == [
        ("event_0", "", "precedes"),
        ("event_0", "failure_memory_degradation", "causes"),
        ("event_2", "failure_memory_degradation", "causes"),
        ("event_0", "event_2", "reinforces"),
    ]
