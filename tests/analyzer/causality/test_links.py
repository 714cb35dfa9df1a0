import pytest
from flat_sessions import answered, call, output, plugin, session_of
from planted import KINDS, plant

from analyzer.causality.links import LINKS
from analyzer.diagnosis import Profile, diagnose
from analyzer.options import Options
from analyzer.session.model import Session


def edges(session: Session, relation: str) -> list[tuple[str, str, str]]:
    graph = diagnose(session).causal_graph
    return [(edge.source, edge.target, edge.rule) for edge in graph.edges if edge.relation == relation]


def test_a_call_that_brings_nothing_new_repeats_the_one_before() -> None:
    assert edges(session_of(*answered("a", "a")), "repeats") == [("event_0", "event_2", "same-call-again")]
    assert edges(session_of(*answered("a", "b")), "repeats") == []


def test_an_output_informs_the_call_that_takes_its_value() -> None:
    session = session_of(
        call("find_user", {"name": "Ann"}, tool_call_id="a"),
        output({"user_id": "ann_9381_xk"}, "find_user", tool_call_id="a"),
        call("get_user", {"user_id": "ann_9381_xk"}, tool_call_id="b"),
    )

    assert edges(session, "informs") == [("event_1", "event_2", "value-in-arguments")]


def test_a_change_blocks_the_call_of_another_tool_on_the_same_thing() -> None:
    session = session_of(
        call("cancel_order", {"order": "ORD-55812"}, tool_call_id="a"),
        output("cancelled", "cancel_order", tool_call_id="a"),
        call("ship_order", {"order": "ORD-55812"}, tool_call_id="b"),
        output(None, "ship_order", tool_call_id="b", error="Error: the order is closed", status="error"),
    )

    assert edges(session, "blocks") == [("event_0", "event_2", "changed-before")]


def test_a_look_up_blocks_nothing() -> None:
    session = session_of(
        call("get_order", {"order": "ORD-55812"}, tool_call_id="a"),
        output("open", "get_order", tool_call_id="a"),
        call("ship_order", {"order": "ORD-55812"}, tool_call_id="b"),
        output(None, "ship_order", tool_call_id="b", error="Error: the order is closed", status="error"),
    )

    assert edges(session, "blocks") == []


def test_work_is_delegated_to_the_agent_that_a_message_is_for() -> None:
    session = session_of(
        plugin("message_sent", agent="planner", to="searcher", text="Find the opening hours."),
        plugin("message_sent", agent="searcher", text="They open at nine."),
        plugin("message_sent", agent="searcher", text="And close at five."),
    )

    assert edges(session, "delegates") == [("event_0", "event_1", "handed-over")]


def test_the_largest_output_exhausts_the_context() -> None:
    session = session_of(
        call("read", {"page": 1}, tool_call_id="a"),
        output("short", "read", tool_call_id="a"),
        call("read", {"page": 2}, tool_call_id="b"),
        output("long " * 500, "read", tool_call_id="b"),
        {"event": "context_event", "saturation": 96},
    )

    assert edges(session, "exhausts") == [("event_3", "event_4", "largest-output")]


@pytest.mark.parametrize("kind", KINDS)
def test_edges_go_forward_and_none_is_there_twice(kind: str) -> None:
    graph = diagnose(plant(kind, 7).session).causal_graph
    place = {node.id: position for position, node in enumerate(graph.nodes)}
    ends = [(edge.source, edge.target, edge.relation) for edge in graph.edges]

    assert len(place) == len(graph.nodes)
    assert len(set(ends)) == len(ends)
    assert all(place[edge.source] < place[edge.target] for edge in graph.edges)


def test_each_rule_says_what_it_ties_and_when() -> None:
    rules = LINKS[Profile.STANDARD]

    assert all(rule.cause and rule.effect and rule.holds for rule in rules)
    assert len({(rule.relation, rule.name) for rule in rules}) == len(rules)
    assert {rule.relation for rule in rules} == {
        *("precedes", "causes", "reinforces", "produces", "informs", "retries"),
        *("contains", "repeats", "exhausts", "delegates", "blocks"),
    }


def test_a_graph_can_leave_relations_out() -> None:
    graph = diagnose(session_of(*answered(*"aaa"))).causal_graph

    assert "precedes" in {edge.relation for edge in graph.edges}
    assert "precedes" not in {edge.relation for edge in graph.without("precedes").edges}


def test_a_failure_whose_node_an_event_is_named_like_gets_another_name() -> None:
    graph = diagnose(
        session_of(*answered(*"aaa"), {"event": "decision", "event_id": "failure_infinite_tool_loop"})
    ).causal_graph

    ids = [node.id for node in graph.nodes]
    assert len(set(ids)) == len(ids)


def test_a_setting_leaves_out_which_event_came_next() -> None:
    graph = diagnose(session_of(*answered(*"aaa")), options=Options(precedes=False)).causal_graph

    assert {edge.relation for edge in graph.edges} == {"produces", "repeats", "causes", "reinforces"}
