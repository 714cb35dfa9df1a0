import json
import re
from xml.etree import ElementTree as ET

import pytest
from captured import SCENARIOS, sessions_of
from flat_sessions import answered, session_of
from planted import KINDS, plant

from analyzer.causality.drawing import DRAWINGS, draw
from analyzer.causality.focus import MOST_NODES, focus
from analyzer.causality.graph import Edge, Node, RunGraph
from analyzer.diagnosis import diagnose

HOSTILE = 'a"b\\c</g>\n--> |x| #\u2028\x00 \ud83d ]]> {{é}}'


def hostile() -> RunGraph:
    nodes = (Node(HOSTILE, "tool_call", "event", HOSTILE), Node("failure_x", "failure", "failure", "x"))
    return RunGraph(nodes, (Edge(HOSTILE, "failure_x", "causes", "evidence"),))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_led_to_the_main_failure_of_a_capture_fits_a_page(scenario: str) -> None:
    for session in sessions_of(scenario):
        verdict = diagnose(session)
        if verdict.main_node is None:
            continue
        view = focus(verdict.causal_graph, verdict.main_node)
        ids = [node.id for node in view.nodes]

        assert verdict.main_node in ids
        assert len(ids) == len(set(ids)) <= MOST_NODES
        assert {edge.source for edge in view.edges} | {edge.target for edge in view.edges} <= set(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_the_view_of_a_failure_holds_its_root(kind: str) -> None:
    verdict = diagnose(plant(kind, 2).session)
    found = next(found for found in verdict.roots.failures if found.failure == verdict.main_node)
    path = found.candidates[0].path

    view = focus(verdict.causal_graph, found.failure, path)

    assert len(view.nodes) <= MOST_NODES
    assert path[0] in {node.id for node in view.nodes} or len(verdict.causal_graph.nodes) > len(view.nodes)
    assert found.failure in {edge.target for edge in view.edges}


def test_a_loop_of_many_calls_is_one_node_with_a_count() -> None:
    verdict = diagnose(session_of(*answered(*["a"] * 500)))

    view = focus(verdict.causal_graph, "failure_infinite_tool_loop")

    assert "search x500" in [node.label for node in view.nodes]


def test_of_a_failure_that_is_not_there_nothing_is_shown() -> None:
    assert focus(hostile(), "failure_y") == RunGraph()


def test_json_holds_nodes_and_edges_with_ids_of_their_own() -> None:
    document = json.loads(draw(hostile(), "json"))

    assert [edge["id"] for edge in document["edges"]] == ["e0"]
    assert document["edges"][0]["relation"] == "causes"
    assert document["nodes"][1] == {"id": "failure_x", "type": "failure", "kind": "failure", "label": "x"}


def test_graphml_is_well_formed_whatever_stands_in_labels() -> None:
    tree = ET.fromstring(draw(hostile(), "graphml"))  # noqa: S314  # our own text

    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert len(tree.findall(f".//{space}node")) == 2
    edge = tree.find(f".//{space}edge")
    assert edge is not None
    assert edge.get("source") in {node.get("id") for node in tree.findall(f".//{space}node")}


def test_dot_closes_every_quote() -> None:
    text = draw(hostile(), "dot")

    assert text.startswith("digraph run {")
    for line in text.splitlines():
        assert re.sub(r'"(?:[^"\\]|\\.)*"', "", line).count('"') == 0


def test_mermaid_labels_hold_no_sign_of_its_own_language() -> None:
    lines = draw(hostile(), "mermaid").splitlines()

    assert lines[0] == "flowchart LR"
    assert re.fullmatch(r'  n0\["[^"\[\]{}|<>]*"\]', lines[1])
    assert lines[3] == "  n0 -->|causes| n1"


@pytest.mark.parametrize("form", DRAWINGS)
def test_every_form_draws_an_empty_graph(form: str) -> None:
    assert draw(RunGraph(), form)
