"""What is wrong with a trace is mended and said."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from analyzer.session.model import Event, Session
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span

MakeSpan = Callable[..., Span]


def one_session(*spans: Span) -> Session:
    (session,) = reconstruct(spans).sessions
    return session


def codes(session: Session) -> list[str]:
    return [note.code for note in session.notes]


def types(session: Session) -> list[str]:
    return [event.event_type for event in session.events]


def of_type(session: Session, event_type: str) -> Event:
    (event,) = [event for event in session.events if event.event_type == event_type]
    return event


def test_a_span_delivered_twice_is_one_span(agent: MakeSpan, tool: MakeSpan) -> None:
    found = reconstruct([agent(1), tool(2, 1), tool(2, 1), tool(2, 1)])

    assert types(found.sessions[0]) == ["agent_start", "tool_call", "tool_result", "agent_end"]
    assert found.repeats == 2
    assert [note.code for note in found.notes] == ["duplicate-spans"]


def test_a_value_that_is_no_number_makes_no_other_version_of_a_span(agent: MakeSpan, tool: MakeSpan) -> None:
    session = one_session(agent(1), *(tool(2, 1, odd=float("nan")) for _ in range(2)))

    assert codes(session) == []


def test_of_two_versions_of_a_span_the_one_that_ended_later_counts(agent: MakeSpan, tool: MakeSpan) -> None:
    early = tool(2, 1, at=(0, 0.5), failed="499 client closed request")
    late = tool(2, 1, at=(0, 0.9))

    for order in ([early, late], [late, early]):
        session = one_session(agent(1), *order)

        assert of_type(session, "tool_result").status == "ok"
        assert "span-versions" in codes(session)


def test_a_span_that_names_itself_as_parent_becomes_a_root(agent: MakeSpan, tool: MakeSpan) -> None:
    session = one_session(agent(1), tool(2, 2))

    assert "self-parent" in codes(session)
    assert "tool_call" in types(session)


def test_a_ring_of_parents_is_cut_at_its_earliest_span(agent: MakeSpan, span: MakeSpan, tool: MakeSpan) -> None:
    session = one_session(agent(1), span(2, 3, at=(0.2, 0.6)), tool(3, 2, at=(0.3, 0.5), failed="boom"))

    assert "parent-cycle" in codes(session)
    assert of_type(session, "tool_result").error == "boom"


def test_a_span_whose_parent_never_came_is_kept(agent: MakeSpan, tool: MakeSpan) -> None:
    session = one_session(agent(1), tool(2, 77))

    assert codes(session) == ["orphan-span"]
    assert of_type(session, "tool_call").payload["otel"]["parent_span_id"] == f"{77:016x}"


def test_an_end_before_the_start_never_gives_a_negative_duration(agent: MakeSpan, tool: MakeSpan) -> None:
    session = one_session(agent(1), tool(2, 1, at=(0.8, 0.2)))

    assert of_type(session, "tool_result").duration_ms == 600.0
    assert "swapped-times" in codes(session)


def test_a_span_without_times_takes_those_of_its_parent(agent: MakeSpan, tool: MakeSpan) -> None:
    session = one_session(agent(1, at=(5, 9)), tool(2, 1, at=(None, None)))

    assert of_type(session, "tool_call").time_ns == of_type(session, "agent_start").time_ns
    assert "no-time" in codes(session)


@pytest.mark.parametrize("parent", [1, None])
def test_an_end_before_the_start_that_a_span_borrows_gives_no_negative_duration(
    parent: int | None, agent: MakeSpan, tool: MakeSpan
) -> None:
    session = one_session(agent(1, at=(5, 9)), tool(2, parent, at=(None, 3)))

    assert of_type(session, "tool_result").duration_ms == 0
    assert "no-time" in codes(session)


def test_a_child_that_starts_before_its_parent_is_moved_with_all_below_it(
    agent: MakeSpan, span: MakeSpan, tool: MakeSpan
) -> None:
    session = one_session(agent(1, at=(3, 9)), span(2, 1, at=(0, 2)), tool(3, 2, at=(1, 1.5)))
    start = of_type(session, "agent_start").time_ns
    call = of_type(session, "tool_call")

    assert start is not None
    assert call.time_ns == start + 1_000_000_000
    assert of_type(session, "tool_result").duration_ms == 500.0
    assert codes(session) == ["clock-skew"]


def test_an_agent_that_never_ended_is_told_apart_from_one_that_did(agent: MakeSpan, tool: MakeSpan) -> None:
    session = one_session(agent(1, at=(0, None)), tool(2, 1))

    assert "agent_end" not in types(session)
    assert of_type(session, "agent_start").payload["unfinished"] is True
    assert codes(session) == ["unended-span"]


def test_a_span_without_an_end_that_tells_its_outcome_has_ended(
    agent: MakeSpan, chat: MakeSpan, tool: MakeSpan
) -> None:
    session = one_session(
        agent(1, at=(0, 9)),
        chat(2, 1, at=(1, None), gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=2),
        tool(3, 1, at=(2, None), gen_ai__tool__call__result="found"),
        tool(4, 1, at=(3, None), failed="boom"),
        tool(5, 1, at=(4, None)),
    )
    results = [event for event in session.events if event.event_type == "tool_result"]

    assert of_type(session, "after_provider_response").payload["usage"]["input_tokens"] == 40
    assert [(result.status, result.payload.get("result")) for result in results] == [("ok", "found"), ("error", None)]
    assert sorted(codes(session)) == ["no-end-time"] * 3 + ["unended-span"]


def test_an_open_span_that_holds_ended_ones_ends_with_the_last_of_them(
    agent: MakeSpan, tool: MakeSpan, span: MakeSpan
) -> None:
    session = one_session(
        agent(1, at=(0, 9)), tool(2, 1, at=(1, None), gen_ai__tool__call__result="found"), span(3, 2, at=(2, 4))
    )

    assert of_type(session, "tool_result").duration_ms == 3000.0


@pytest.mark.parametrize(("unit", "name"), [(1_000_000, "milliseconds"), (1_000, "microseconds")])
def test_times_in_a_coarser_unit_are_read_as_such(unit: int, name: str, agent: MakeSpan) -> None:
    exact = agent(1, at=(0, 9))
    session = one_session(structs.replace(exact, start_ns=exact.start_ns // unit, end_ns=exact.end_ns // unit))

    assert [event.time_ns for event in session.events] == [exact.start_ns, exact.end_ns]
    assert codes(session) == ["time-unit"] * 2
    assert name in session.notes[0].message


def test_an_end_no_calendar_has_is_unknown(agent: MakeSpan, tool: MakeSpan) -> None:
    late = structs.replace(tool(2, 1, gen_ai__tool__call__result="found"), end_ns=2**64 - 1)
    session = one_session(agent(1), late)

    assert of_type(session, "tool_result").duration_ms == 0
    assert codes(session) == ["time-beyond", "no-end-time"]


@pytest.mark.parametrize(("lost", "noted"), [(7, ["lost-spans"]), (0, []), ("7", [])])
def test_what_an_exporter_had_lost_is_said_of_the_run(lost: Any, noted: list[str], agent: MakeSpan) -> None:
    assert codes(one_session(agent(1, **{"critiqor.lost_spans": lost}))) == noted


def test_many_notes_of_one_kind_are_folded(agent: MakeSpan, tool: MakeSpan) -> None:
    session = one_session(agent(1), *(tool(number, 900 + number) for number in range(2, 27)))

    assert codes(session) == ["orphan-span"] * 11
    assert session.notes[-1].message == "and 15 more of these"


def test_a_chain_of_twenty_thousand_spans_keeps_every_span(span: MakeSpan) -> None:
    deep = 20_000

    def link(number: int) -> Span:
        operation: dict[str, Any] = {"gen_ai__operation__name": "invoke_agent" if number == 1 else "execute_tool"}
        return span(
            number,
            number - 1 or None,
            at=(number / deep, 3 - number / deep),
            failed="bottom failed" if number == deep else None,
            gen_ai__tool__name="recurse",
            **operation,
        )

    session = one_session(*(link(number) for number in range(deep, 0, -1)))

    assert len({event.span for event in session.events}) == deep
    assert of_type(session, "tool_result").error == "bottom failed"
