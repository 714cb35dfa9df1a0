"""Tokens are counted once, and a failure is told where it began."""

from collections.abc import Callable

import pytest

from analyzer.profile import Profile
from analyzer.session.model import Event, Session
from analyzer.timeline.index import build_timeline
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span, SpanEvent

MakeSpan = Callable[..., Span]


def one_session(*spans: Span) -> Session:
    (session,) = reconstruct(spans).sessions
    return session


def reported(session: Session) -> list[tuple[int | None, int | None]]:
    return [
        (event.payload["usage"].get("input_tokens"), event.payload["usage"].get("output_tokens"))
        for event in session.events
        if event.event == "token_usage" and "usage" in event.payload
    ]


def errors(session: Session) -> list[Event]:
    return [event for event in session.events if event.event == "error_event"]


def used(given: int, answered: int) -> dict[str, int]:
    return {"gen_ai__usage__input_tokens": given, "gen_ai__usage__output_tokens": answered}


@pytest.mark.parametrize(
    "result",
    [
        '{"content": [{"type": "text", "text": "no such city"}], "isError": true}',
        '{"type": "tool", "content": "no such city", "tool_call_id": "c", "status": "error"}',
        "content='no such city' name='search' tool_call_id='c' status='error'",
    ],
)
def test_a_result_that_says_the_call_failed_is_no_success_for_want_of_a_status(
    result: str, agent: MakeSpan, tool: MakeSpan
) -> None:
    session = one_session(agent(1), tool(2, 1, gen_ai__tool__call__result=result))
    timeline = build_timeline(session, Profile.STANDARD)

    assert [(call.status, call.error) for call in timeline.calls] == [("error", "no such city")]


@pytest.mark.parametrize(("parts", "counted"), [((10, 20), 2), ((10, 21), 3)], ids=["its calls", "others"])
def test_a_sum_on_an_agent_is_not_added_to_its_calls_that_lie_beside_it(
    parts: tuple[int, int], counted: int, agent: MakeSpan, chat: MakeSpan
) -> None:
    calls = (chat(number, 9, at=(number, number + 1), **used(given, 1)) for number, given in enumerate(parts, 2))
    earlier = chat(8, 9, at=(0, 1), **used(500, 50))

    session = one_session(agent(1, 9, at=(1, 5), **used(30, 2)), *calls, earlier)

    assert len(reported(session)) == counted + 1


def test_a_total_below_its_own_parts_is_none(agent: MakeSpan, chat: MakeSpan) -> None:
    odd = {"gen_ai__usage__input_tokens": 3000, "gen_ai__usage__output_tokens": -5, "gen_ai__usage__total_tokens": 2995}
    (call,) = [event for event in one_session(agent(1), chat(2, 1, **odd)).events if event.event == "token_usage"]

    assert call.payload["usage"] == {"input_tokens": 3000}


def test_a_sum_on_the_agent_is_not_added_to_its_calls(agent: MakeSpan, chat: MakeSpan) -> None:
    session = one_session(agent(1, **used(30, 3)), chat(2, 1, **used(10, 1)), chat(3, 1, **used(20, 2)))

    assert reported(session) == [(10, 1), (20, 2)]


@pytest.mark.parametrize(
    "usage",
    [
        {"gen_ai__usage__input_tokens": 1000, "gen_ai__usage__cache_read__input_tokens": 900},
        {"gen_ai__usage__input_tokens": 100, "gen_ai__usage__cache_read_input_tokens": 900},
        {
            "gen_ai__usage__input_tokens": 600,
            "gen_ai__usage__cache_read_input_tokens": 400,
            "gen_ai__usage__total_tokens": 1050,
        },
    ],
)
def test_cached_input_is_counted_once_whether_it_stands_in_the_input_or_beside_it(
    usage: dict[str, int], agent: MakeSpan, chat: MakeSpan
) -> None:
    session = one_session(agent(1), chat(2, 1, gen_ai__usage__output_tokens=50, **usage))

    assert reported(session) == [(1000, 50)]


def test_a_sum_on_the_agent_counts_where_its_calls_report_nothing(agent: MakeSpan, chat: MakeSpan) -> None:
    session = one_session(agent(1, **used(30, 3)), chat(2, 1), chat(3, 1))

    assert reported(session) == [(30, 3)]


def test_of_nested_sums_only_the_topmost_counts(agent: MakeSpan) -> None:
    session = one_session(agent(1, **used(30, 3)), agent(2, 1, **used(10, 1)), agent(3, 1, **used(20, 2)))

    assert reported(session) == [(30, 3)]


def test_a_sub_agent_that_only_sums_is_counted_beside_calls_elsewhere(agent: MakeSpan, chat: MakeSpan) -> None:
    session = one_session(agent(1), chat(2, 1, **used(10, 1)), agent(3, 1, at=(2, 3), **used(20, 2)))

    assert sorted(reported(session)) == [(10, 1), (20, 2)]


def test_a_model_call_inside_a_model_call_is_the_same_call(agent: MakeSpan, chat: MakeSpan) -> None:
    session = one_session(agent(1), chat(2, 1, **used(10, 1)), chat(3, 2, **used(10, 1)), chat(4, 3, **used(10, 1)))

    assert reported(session) == [(10, 1)]
    assert [event.event_type for event in session.events].count("after_provider_response") == 1


def test_usage_that_only_the_inner_span_has_counts(agent: MakeSpan, chat: MakeSpan) -> None:
    session = one_session(agent(1), chat(2, 1), chat(3, 2, **used(10, 1)))

    assert reported(session) == [(10, 1)]


def test_a_call_that_reported_nothing_has_no_usage(agent: MakeSpan, chat: MakeSpan) -> None:
    session = one_session(agent(1), chat(2, 1, **used(10, 1)), chat(3, 1, at=(2, 3)))
    answers = [event for event in session.events if event.event_type == "after_provider_response"]

    assert ["usage" in event.payload for event in answers] == [True, False]


def test_a_negative_count_reads_as_absent_and_is_noted(agent: MakeSpan, chat: MakeSpan) -> None:
    session = one_session(agent(1), chat(2, 1, **used(10, -5)))

    assert reported(session) == [(10, None)]
    assert [note.code for note in session.notes] == ["bad-value"]


def test_an_error_that_travels_up_is_told_once_where_it_began(agent: MakeSpan, span: MakeSpan, chat: MakeSpan) -> None:
    session = one_session(agent(1, failed="boom"), span(2, 1, failed="boom"), chat(3, 2, failed="boom"))
    (error,) = errors(session)

    assert error.span is not None
    assert error.span.span_id == f"{3:016x}"
    assert session.events[-1].status == "error"


def test_a_parent_with_an_error_of_its_own_tells_it_too(agent: MakeSpan, chat: MakeSpan) -> None:
    session = one_session(agent(1, failed="budget spent"), chat(2, 1, failed="boom"))

    assert [error.error for error in errors(session)] == ["boom", "budget spent"]


def test_a_failed_tool_tells_its_error_with_its_output_alone(agent: MakeSpan, tool: MakeSpan) -> None:
    thrown = SpanEvent(0, "exception", {"exception.type": "TimeoutError", "exception.message": "after 30 s"})
    session = one_session(agent(1), tool(2, 1, failed="after 30 s", events=(thrown,)))
    (output,) = [event for event in session.events if event.event == "tool_output"]

    assert (output.status, output.error, output.payload["error_type"]) == ("error", "after 30 s", "TimeoutError")
    assert errors(session) == []


def test_an_exception_recorded_twice_on_a_span_is_one_error(agent: MakeSpan, chat: MakeSpan) -> None:
    thrown = SpanEvent(0, "exception", {"exception.type": "ValueError", "exception.message": "bad"})
    session = one_session(agent(1), chat(2, 1, failed="", events=(thrown, thrown)))

    assert len(errors(session)) == 1
