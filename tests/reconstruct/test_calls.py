"""Each tool call once, whatever carried it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from analyzer.diagnosis import diagnose
from analyzer.session.model import Event, Session
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span, SpanEvent

MakeSpan = Callable[..., Span]
SECOND = 1_000_000_000
START = 1_760_000_000 * SECOND


def one_session(*spans: Span) -> Session:
    (session,) = reconstruct(spans).sessions
    return session


def calls(session: Session) -> list[Event]:
    return [event for event in session.events if event.event == "tool_call"]


def outputs(session: Session) -> list[Event]:
    return [event for event in session.events if event.event == "tool_output"]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def asks(name: str, call_id: str | None, **arguments: Any) -> dict[str, Any]:
    part = {"type": "tool_call", "name": name, "arguments": arguments, "id": call_id}
    return {"role": "assistant", "parts": [{key: value for key, value in part.items() if value is not None}]}


def told(call_id: str | None, result: Any, name: str | None = None) -> dict[str, Any]:
    part = {"type": "tool_call_response", "id": call_id, "response": result, "name": name}
    return {"role": "tool", "parts": [{key: value for key, value in part.items() if value is not None}]}


Conversation = Callable[..., list[Span]]


@pytest.fixture
def conversation(chat: MakeSpan) -> Conversation:
    """Return a maker of model calls under span 1, a second apart, each sent what came before."""

    def make(*turns: tuple[list[dict[str, Any]], dict[str, Any]]) -> list[Span]:
        sent: list[dict[str, Any]] = []
        spans = []
        for number, (new, answer) in enumerate(turns):
            sent = [*sent, *new]
            spans.append(
                chat(
                    100 + number,
                    1,
                    at=(number, number + 0.5),
                    gen_ai__input__messages=json.dumps(sent),
                    gen_ai__output__messages=json.dumps([answer]),
                )
            )
            sent = [*sent, answer]
        return spans

    return make


def test_a_call_known_from_messages_alone_is_told_once(agent: MakeSpan, conversation: Conversation) -> None:
    turns = conversation(
        ([user("how long?")], asks("search", "c1", q="refunds")),
        ([told("c1", "3 documents")], asks("price", "c2", sku="A")),
        ([told("c2", {"price": 5})], user("done")),
    )
    session = one_session(agent(1, at=(0, 9)), *turns)

    assert [(call.tool_name, call.payload["input"]) for call in calls(session)] == [
        ("search", {"q": "refunds"}),
        ("price", {"sku": "A"}),
    ]
    assert [output.payload["result"] for output in outputs(session)] == ["3 documents", {"price": 5}]
    assert [call.payload["basis"] for call in calls(session)] == ["derived", "derived"]


def test_a_call_that_was_never_answered_has_no_output(agent: MakeSpan, conversation: Conversation) -> None:
    session = one_session(agent(1), *conversation(([user("?")], asks("search", "c1", q=1))))

    assert len(calls(session)) == 1
    assert outputs(session) == []


def test_a_request_and_its_span_are_one_call_by_id(agent: MakeSpan, tool: MakeSpan, conversation: Conversation) -> None:
    turns = conversation(([user("?")], asks("search", "c1", q=1)), ([told("c1", "found")], user("done")))
    span = tool(5, 1, "search", at=(0.6, 0.9), gen_ai__tool__call__id="c1")
    session = one_session(agent(1, at=(0, 9)), *turns, span)
    (call,) = calls(session)
    (output,) = outputs(session)

    assert call.span is not None
    assert call.span.span_id == span.span_id
    assert call.payload["input"] == {"q": 1}
    assert output.payload["result"] == "found"


def test_a_request_and_its_span_are_one_call_without_an_id(
    agent: MakeSpan, tool: MakeSpan, conversation: Conversation
) -> None:
    turns = conversation(
        ([user("?")], asks("search", "c1", q=1)),
        ([told("c1", "one")], asks("search", "c2", q=2)),
        ([told("c2", "two")], user("done")),
    )
    session = one_session(
        agent(1, at=(0, 9)),
        *turns,
        tool(5, 1, "search", at=(0.6, 0.9), gen_ai__tool__call__arguments='{"q": 1}'),
        tool(6, 1, "search", at=(1.6, 1.9), gen_ai__tool__call__arguments='"2"'),
    )

    assert [(call.tool_call_id, call.payload["input"]) for call in calls(session)] == [
        ("c1", {"q": 1}),
        ("c2", {"q": 2}),
    ]


def test_a_call_that_failed_without_a_span_is_not_that_of_the_retry_with_equal_arguments(
    agent: MakeSpan, tool: MakeSpan, conversation: Conversation
) -> None:
    turns = conversation(
        ([user("?")], asks("search", "c1", q=1)),
        ([told("c1", "Error: the index is down")], asks("search", "c2", q=1)),
        ([told("c2", "two")], user("done")),
    )
    again = tool(5, 1, "search", at=(1.6, 1.9), gen_ai__tool__call__arguments='{"q": 1}')
    session = one_session(agent(1, at=(0, 9)), *turns, again)

    assert [(call.tool_call_id, call.span and call.span.span_id == again.span_id) for call in calls(session)] == [
        ("c1", False),
        ("c2", True),
    ]
    assert [(out.tool_call_id, out.payload["result"]) for out in outputs(session)] == [
        ("c1", "Error: the index is down"),
        ("c2", "two"),
    ]


def test_a_span_that_began_late_is_the_first_request_with_its_arguments_that_waits(
    agent: MakeSpan, tool: MakeSpan, conversation: Conversation
) -> None:
    turns = conversation(
        ([user("?")], asks("search", "c1", q=1)),
        ([told("c1", "one")], asks("search", "c2", q=1)),
        ([told("c2", "two")], user("done")),
    )
    late = [tool(number, 1, "search", at=(5, 6), gen_ai__tool__call__arguments='{"q": 1}') for number in (5, 6)]
    session = one_session(agent(1, at=(0, 9)), *turns, *late)

    assert [call.tool_call_id for call in calls(session)] == ["c1", "c2"]


def test_ids_that_begin_anew_in_each_turn_do_not_mix_calls(
    agent: MakeSpan, chat: MakeSpan, conversation: Conversation
) -> None:
    first = conversation(([user("?")], asks("search", "c1", q=1)), ([told("c1", "one")], user("done")))
    later = [
        agent(7, trace=2, at=(50, 60), gen_ai__conversation__id="talk"),
        chat(8, 7, trace=2, at=(50, 51), gen_ai__output__messages=json.dumps([asks("search", "c1", q=2)])),
        chat(9, 7, trace=2, at=(52, 53), gen_ai__input__messages=json.dumps([told("c1", "two")])),
    ]
    session = one_session(agent(1, at=(0, 9), gen_ai__conversation__id="talk"), *first, *later)

    assert [call.payload["input"] for call in calls(session)] == [{"q": 1}, {"q": 2}]
    assert [output.payload["result"] for output in outputs(session)] == ["one", "two"]


def test_results_of_parallel_calls_are_paired_by_id(agent: MakeSpan, conversation: Conversation) -> None:
    both = {"role": "assistant", "parts": [asks("w", "a", c=1)["parts"][0], asks("w", "b", c=2)["parts"][0]]}
    turns = conversation(([user("?")], both), ([told("b", "two"), told("a", "one")], user("done")))
    session = one_session(agent(1, at=(0, 9)), *turns)

    assert {(output.tool_call_id, output.payload["result"]) for output in outputs(session)} == {
        ("a", "one"),
        ("b", "two"),
    }


def test_results_without_ids_are_paired_in_order(agent: MakeSpan, conversation: Conversation) -> None:
    turns = conversation(
        ([user("?")], asks("w", None, c=1)),
        ([told(None, "one", "w")], asks("w", None, c=2)),
        ([told(None, "two", "w")], user("done")),
    )
    session = one_session(agent(1, at=(0, 9)), *turns)

    assert [output.payload["result"] for output in outputs(session)] == ["one", "two"]


def test_results_without_ids_and_names_are_paired_in_order(agent: MakeSpan, conversation: Conversation) -> None:
    turns = conversation(
        ([user("how long?")], asks("search", None, q="refunds")),
        ([told(None, "3 documents")], asks("price", None, sku="A")),
        ([told(None, "19.50")], asks("search", None, q="refunds")),
        ([told(None, "4 documents")], user("done")),
    )
    session = one_session(agent(1, at=(0, 9)), *turns)

    assert [output.payload["result"] for output in outputs(session)] == ["3 documents", "19.50", "4 documents"]


def test_a_tool_span_around_the_same_tool_is_one_call(agent: MakeSpan, tool: MakeSpan, span: MakeSpan) -> None:
    session = one_session(
        agent(1, at=(0, 9)),
        tool(2, 1, "weather", at=(1, 4), gen_ai__tool__call__id="c1"),
        tool(3, 2, "weather", at=(1.5, 3.5), gen_ai__tool__call__result="rain"),
        span(4, 3, at=(2, 3)),
    )
    (call,) = calls(session)
    (output,) = outputs(session)

    assert call.tool_call_id == "c1"
    assert output.payload["result"] == "rain"


def test_events_that_tell_of_retries_are_retries_of_their_span(agent: MakeSpan, tool: MakeSpan, chat: MakeSpan) -> None:
    again = [SpanEvent(START + second * SECOND, "retry", {"retry.attempt": 1}) for second in (2, 5, 90)]
    asked = chat(2, 1, at=(0, 3), events=(again[0],))
    called = tool(3, 1, "look_up", at=(4, 6), events=(again[1], again[2]))

    session = one_session(agent(1, at=(0, 9)), asked, called)

    retries = [event for event in session.events if event.event == "retry_event"]
    assert [(event.tool_name, event.payload.get("model")) for event in retries] == [
        (None, "m"),
        ("look_up", None),
        ("look_up", None),
    ]
    times = [((event.time_ns or 0) - START) // SECOND for event in retries]
    assert times == [2, 4, 5]  # one that lies outside its span happened at nobody knows when
    assert diagnose(session).evidence_summary.retries == 3


def test_of_attempts_inside_a_call_the_last_decides(agent: MakeSpan, tool: MakeSpan) -> None:
    attempts = [tool(3, 2, "w", at=(1.1, 1.2), failed="reset"), tool(4, 2, "w", at=(1.3, 1.4))]
    recovered = one_session(agent(1, at=(0, 9)), tool(2, 1, "w", at=(1, 2)), *attempts)
    failed = one_session(agent(1, at=(0, 9)), tool(2, 1, "w", at=(1, 2)), attempts[0])

    assert outputs(recovered)[0].status == "ok"
    assert (outputs(failed)[0].status, outputs(failed)[0].error) == ("error", "reset")


def test_a_tool_that_asks_an_agent_leaves_that_agents_calls_alone(agent: MakeSpan, tool: MakeSpan) -> None:
    session = one_session(
        agent(1, at=(0, 9)), tool(2, 1, "ask", at=(1, 8)), agent(3, 2, at=(2, 7)), tool(4, 3, "ask", at=(3, 4))
    )

    assert [call.tool_name for call in calls(session)] == ["ask", "ask"]


def test_a_process_in_a_trace_of_its_own_belongs_to_the_call_around_it(
    agent: MakeSpan, tool: MakeSpan, span: MakeSpan
) -> None:
    process = span(
        4, trace=2, name="openclaw.exec", at=(1.2, 1.8), openclaw__exec__exit_code=3, gen_ai__conversation__id="talk"
    )
    session = one_session(agent(1, at=(0, 9), gen_ai__conversation__id="talk"), tool(2, 1, "exec", at=(1, 2)), process)
    (output,) = outputs(session)

    assert (output.status, output.payload["exit_code"]) == ("error", 3)


def test_a_failed_process_of_a_tool_is_no_failed_run(agent: MakeSpan, tool: MakeSpan, span: MakeSpan) -> None:
    process = span(3, 2, name="openclaw.exec", at=(1.2, 1.8), openclaw__exec__exit_code=3)
    verdict = diagnose(one_session(agent(1, at=(0, 9)), tool(2, 1, "exec", at=(1, 2)), process))

    assert verdict.status == "completed"
    assert verdict.evidence_summary.tool_errors == 1
