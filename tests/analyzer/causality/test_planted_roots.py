import json
from functools import cache
from itertools import pairwise

import pytest
from planted import KINDS, Planted, plant, unharmed

from analyzer.diagnosis import diagnose
from analyzer.verdict import Diagnosis

VARIATIONS = 50


@cache
def planted(kind: str, number: int) -> Planted:
    return plant(kind, number)


def steps(found: Planted, verdict: Diagnosis) -> list[int]:
    place = {event.event_id: event.payload["step"] for event in found.session.events}
    return list(dict.fromkeys(place[candidate.event_id] for candidate in verdict.roots.candidates))


@pytest.mark.parametrize("kind", KINDS)
def test_the_planted_step_comes_first(kind: str) -> None:
    runs = [planted(kind, number) for number in range(VARIATIONS)]
    ranked = [steps(run, diagnose(run.session)) for run in runs]

    first = [run.step in found[:1] for run, found in zip(runs, ranked, strict=True)]
    among_three = [run.step in found[:3] for run, found in zip(runs, ranked, strict=True)]

    assert sum(first) >= 0.95 * VARIATIONS, [
        run.session.run_id for run, hit in zip(runs, first, strict=True) if not hit
    ]
    assert all(among_three)


def test_each_run_of_a_kind_is_another_run() -> None:
    texts = {
        str([event.payload for event in planted(kind, number).session.events]) for kind in KINDS for number in range(9)
    }

    assert len(KINDS) == 20
    assert len(texts) == 20 * 9


@pytest.mark.parametrize("kind", KINDS)
def test_each_step_of_a_proof_is_an_edge_of_the_graph(kind: str) -> None:
    verdict = diagnose(planted(kind, 0).session)
    edges = {(edge.source, edge.target) for edge in verdict.causal_graph.edges if edge.relation != "precedes"}

    for found in verdict.roots.failures:
        for candidate in found.candidates:
            path = candidate.path
            assert all(pair in edges for pair in pairwise(path)), path


@pytest.mark.parametrize("number", range(VARIATIONS))
def test_where_nothing_was_lost_there_is_no_root(number: int) -> None:
    roots = diagnose(unharmed(number)).to_dict()["roots"]

    assert roots == {"primary": None, "candidates": [], "failures": []}


def test_the_same_run_has_the_same_roots() -> None:
    session = planted("misread", 3).session

    once, again = (json.dumps(diagnose(session).to_dict()["roots"]) for _ in range(2))

    assert once == again


def test_the_primary_root_tells_why_in_words_and_names_what_would_be_gone_without_it() -> None:
    run = planted("changed_too_early", 1)
    primary = diagnose(run.session).roots.primary

    assert primary is not None
    assert "nothing later mended" in primary.explanation
    assert primary.failures == ("failure_unhandled_tool_error",)
    assert primary.path[-1] == "failure_unhandled_tool_error"
    assert primary.confidence == "high"
