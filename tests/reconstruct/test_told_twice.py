"""One model call that two spans tell of, and one that leaves out what a later request tells."""

import json
from collections.abc import Callable
from typing import Any

from msgspec import structs

from analyzer.session.model import Event, Session
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Scope, Span

MakeSpan = Callable[..., Span]

QUESTION = {"role": "user", "parts": [{"type": "text", "content": "How long do refunds take?"}]}
RETOLD = {
    "role": "assistant",
    "parts": [],
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"q": "refund"}'}}
    ],
}
ANSWERED = {"role": "tool", "tool_call_id": "call_1", "parts": [{"type": "text", "content": "Error: timed out"}]}


def answers(session: Session) -> list[Event]:
    return [event for event in session.events if event.event_type == "after_provider_response"]


def usage(session: Session) -> list[Any]:
    return [event.payload["usage"] for event in answers(session)]


def speaking(chat: MakeSpan, number: int, **rest: Any) -> Span:
    said = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Five days."}]}])
    return chat(number, gen_ai__response__id="msg_1", gen_ai__output__messages=said, **rest)


def test_an_answer_told_by_an_instrumentation_and_by_the_client_is_one_call_of_one_run(chat: MakeSpan) -> None:
    whole = speaking(chat, 1, trace=1, gen_ai__usage__input_tokens=9, gen_ai__usage__output_tokens=2)
    again = chat(2, trace=2, at=(0.1, 0.9), gen_ai__response__id="msg_1", gen_ai__usage__input_tokens=9)

    (session,) = reconstruct([whole, again]).sessions

    assert usage(session) == [{"input_tokens": 9, "output_tokens": 2, "total": 11}]


def test_an_answer_whose_id_comes_again_later_is_another_call(chat: MakeSpan) -> None:
    found = reconstruct([speaking(chat, 1, trace=1), speaking(chat, 2, trace=2, at=(60, 61))])

    assert [len(answers(session)) for session in found.sessions] == [1, 1]


def by(library: str, span: Span) -> Span:
    return structs.replace(span, scope=Scope(library))


def test_siblings_of_two_instrumentations_that_tell_the_same_tokens_are_one_call(
    agent: MakeSpan, chat: MakeSpan
) -> None:
    sums = {"gen_ai__usage__input_tokens": 900, "gen_ai__usage__output_tokens": 10}
    outer, inner = chat(2, 1, at=(0, 1), **sums), chat(3, 1, at=(0.1, 0.9), **sums)
    later = chat(3, 1, at=(0.5, 1.5), **sums)

    def calls(*spans: Span) -> int:
        (session,) = reconstruct([agent(1, at=(0, 2)), *spans]).sessions
        return len(answers(session))

    assert calls(by("one", outer), by("other", inner)) == 1
    assert calls(by("one", outer), by("other", later)) == 2
    assert calls(by("one", outer), by("one", inner)) == 2


def test_siblings_of_two_instrumentations_that_tell_of_one_tool_call_are_one(agent: MakeSpan, tool: MakeSpan) -> None:
    bare = tool(2, 1, at=(0, 1), gen_ai__tool__call__id="c")
    full = tool(3, 1, at=(0.1, 0.9), gen_ai__tool__call__id="c", gen_ai__tool__call__result="found")

    (session,) = reconstruct([agent(1), by("one", bare), by("other", full)]).sessions

    assert [event.payload["result"] for event in session.events if event.event_type == "tool_result"] == ["found"]


def test_a_span_inside_a_model_call_adds_what_it_alone_knows_of_the_tokens(chat: MakeSpan) -> None:
    sums = {"gen_ai__usage__input_tokens": 900, "gen_ai__usage__output_tokens": 10}
    inner = chat(2, 1, at=(0.1, 0.9), gen_ai__usage__cache_read__input_tokens=600, **sums)

    (session,) = reconstruct([chat(1, **sums), inner]).sessions

    assert usage(session) == [{"input_tokens": 900, "output_tokens": 10, "total": 910, "cached_input_tokens": 600}]


def test_calls_without_ids_are_known_by_those_of_the_next_request(span: MakeSpan) -> None:
    first = span(
        1,
        trace=1,
        litellm__call_id="a",
        gen_ai__request__model="m",
        gen_ai__input__messages=json.dumps([QUESTION]),
        gen_ai__completion__0__function_call__name="search",
        gen_ai__completion__0__function_call__arguments='{"q": "refund"}',
    )
    second = span(
        2,
        trace=2,
        at=(2, 3),
        litellm__call_id="b",
        gen_ai__request__model="m",
        gen_ai__input__messages=json.dumps([QUESTION, RETOLD, ANSWERED]),
    )

    (session,) = reconstruct([first, second]).sessions

    told = [(event.event_type, event.tool_call_id) for event in session.events if event.tool_name == "search"]
    asked = answers(session)[0].payload["messages"][0]["tool_requests"]
    assert told == [("tool_call", "call_1"), ("tool_result", "call_1")]
    assert asked == [{"id": "call_1", "name": "search", "arguments": {"q": "refund"}}]


def test_a_status_that_names_the_errors_type_alone_leaves_the_message_to_the_result(tool: MakeSpan) -> None:
    failing = tool(1, failed="ToolRetryError: ", error__type="m.ToolRetryError", gen_ai__tool__call__result="too slow")

    (session,) = reconstruct([failing]).sessions

    assert [event.error for event in session.events if event.event_type == "tool_result"] == ["too slow"]
