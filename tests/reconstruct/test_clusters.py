"""Which traces are looked at together, told from ties that were gathered anywhere."""

import random
from collections.abc import Callable

import pytest

from critiqor_otel.reconstruct.clusters import Chain, clusters
from critiqor_otel.reconstruct.reconstruct import tell
from critiqor_otel.reconstruct.ties import Ties, gathered, ties_of_session
from critiqor_otel.span import Span

MakeSpan = Callable[..., Span]


def ties_of(*spans: Span) -> dict[str, Ties]:
    found: dict[str, Ties] = {}
    tell(spans, [], found)
    return found


def together(found: dict[str, Ties]) -> list[list[int]]:
    """Return the sets, their traces by number."""
    sets: dict[str, list[int]] = {}
    for trace_id, leader in sorted(clusters(found).items()):
        sets.setdefault(leader, []).append(int(trace_id, 16))
    return sorted(sets.values())


def test_traces_that_share_a_name_on_any_span_are_together(agent: MakeSpan, tool: MakeSpan) -> None:
    spans = [
        agent(1, trace=1, gen_ai__conversation__id="a"),
        agent(1, trace=2),
        tool(2, 1, trace=2, session__id="a"),
        agent(1, trace=3, gen_ai__conversation__id="b"),
    ]

    assert together(ties_of(*spans)) == [[1, 2], [3]]


def test_a_link_joins_also_a_trace_that_another_file_holds(agent: MakeSpan) -> None:
    one, other = ties_of(agent(1, trace=1, links=((2, 1),))), ties_of(agent(1, trace=2))

    assert together(gathered((*one.values(), *other.values()))) == [[1, 2]]


@pytest.mark.parametrize("seed", range(5))
def test_ties_add_up_to_the_same_however_the_spans_were_divided(agent: MakeSpan, tool: MakeSpan, seed: int) -> None:
    spans = [agent(1, trace=trace, gen_ai__conversation__id=f"c{trace // 2}") for trace in range(1, 9)]
    spans += [tool(2 + number, 1, trace=1 + number % 8, at=(number, number + 1)) for number in range(30)]
    whole = ties_of(*spans)
    random.Random(seed).shuffle(spans)

    parts = [ties_of(*spans[start::3]) for start in range(3)]

    assert gathered(one for part in parts for one in part.values()) == whole


def test_a_silent_trace_goes_with_the_nearest_of_its_service(span: MakeSpan, agent: MakeSpan) -> None:
    setup = {"name": "create_agent x", "gen_ai__operation__name": "create_agent"}
    spans = [
        agent(1, trace=1, at=(0, 10)),
        agent(1, trace=2, at=(100, 110)),
        agent(1, trace=3, at=(21, 30), service="other"),
        span(1, trace=4, at=(20, 21), **setup),
        span(1, trace=5, at=(98, 99), **setup),
        span(1, trace=6, at=(50, 51), service="nobody's", **setup),
    ]

    assert together(ties_of(*spans)) == [[1, 4], [2, 5], [3], [6]]


def test_a_conversation_joins_whoever_answered_and_whoever_carries_on(chat: MakeSpan) -> None:
    found = ties_of(*(chat(1, trace=trace) for trace in (1, 2, 3)))
    names = sorted(found)
    chains = [Chain(names[0], (), (b"x",)), Chain(names[1], (b"w", b"x"), (b"y",)), Chain(names[2], (b"z",), ())]

    assert clusters(found, chains) == {names[0]: names[0], names[1]: names[0], names[2]: names[2]}


def test_a_session_file_is_with_its_trace_and_with_what_it_carries_on(agent: MakeSpan) -> None:
    found = ties_of(agent(1, trace=1, gen_ai__conversation__id="talk"))
    found |= gathered([ties_of_session("talk~2", "talk"), ties_of_session("else", None)])

    sets = clusters(found)

    assert sets["session talk~2"] == sets[f"{1:032x}"]
    assert sets["session else"] == "session else"
