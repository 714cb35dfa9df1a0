import json
import re

import pytest
from command import CLEAN, LOOP, Critiqor


def test_what_led_to_the_main_failure_is_drawn(critiqor: Critiqor) -> None:
    done = critiqor("show", LOOP, "--graph", "json")

    document = json.loads(done.out)
    assert done.code == 0
    assert {node["label"] for node in document["nodes"]} >= {"infinite_tool_loop", "search_docs x5"}
    assert "precedes" not in {edge["relation"] for edge in document["edges"]}


@pytest.mark.parametrize(
    ("form", "beginning"), [("dot", "digraph run {"), ("mermaid", "flowchart LR"), ("graphml", "<?xml")]
)
def test_each_form_begins_as_its_readers_expect(critiqor: Critiqor, form: str, beginning: str) -> None:
    assert critiqor("show", LOOP, "--graph", form).out.startswith(beginning)


def test_the_whole_graph_holds_every_event_and_relations_can_be_left_out(critiqor: Critiqor) -> None:
    whole = json.loads(critiqor("show", LOOP, "--graph", "json", "--whole").out)
    without = json.loads(critiqor("show", LOOP, "--graph", "json", "--whole", "--without", "precedes").out)

    assert len(whole["nodes"]) == len(without["nodes"]) > 20
    assert "precedes" in {edge["relation"] for edge in whole["edges"]}
    assert "precedes" not in {edge["relation"] for edge in without["edges"]}


def test_of_a_run_without_failure_the_whole_graph_is_drawn(critiqor: Critiqor) -> None:
    assert len(json.loads(critiqor("show", CLEAN, "--graph", "json").out)["nodes"]) > 10


def test_a_form_that_is_none_is_named(critiqor: Critiqor) -> None:
    done = critiqor("show", LOOP, "--graph", "png")

    assert done.code == 2
    assert "png" in done.err


def test_many_runs_begin_with_what_they_share(critiqor: Critiqor) -> None:
    loops = sorted(LOOP.parents[1].glob("*/repeat_identical_calls.otlp.jsonl"))[:6]

    done = critiqor("diagnose", *loops, CLEAN)

    lines = done.out.splitlines()
    assert re.match(r"\d of \d runs: infinite_tool_loop \(", lines[0])
    assert any(line.startswith("RUN") for line in lines)


def test_one_run_shares_nothing(critiqor: Critiqor) -> None:
    assert critiqor("diagnose", LOOP).out.startswith("RUN")
