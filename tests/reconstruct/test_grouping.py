"""Which spans are one run."""

import json
import random
from collections.abc import Callable

import msgspec
import pytest

from analyzer.session.model import Session
from critiqor_otel.reconstruct.grouping import GroupBy
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Resource, Scope, Span

MakeSpan = Callable[..., Span]


def run_ids(sessions: tuple[Session, ...]) -> list[str]:
    return [session.run_id for session in sessions]


def test_a_trace_without_any_id_is_a_run_of_its_own(agent: MakeSpan) -> None:
    found = reconstruct([agent(1, trace=1), agent(2, trace=2)])

    assert run_ids(found.sessions) == [f"{1:032x}", f"{2:032x}"]


def test_traces_of_one_conversation_are_one_run(agent: MakeSpan, tool: MakeSpan) -> None:
    found = reconstruct(
        [
            agent(1, trace=1, gen_ai__conversation__id="talk"),
            agent(2, trace=2, at=(60, 61), gen_ai__conversation__id="talk"),
            tool(3, 2, trace=2, at=(60.1, 60.2)),
        ]
    )

    assert run_ids(found.sessions) == ["talk"]
    assert found.sessions[0].trace_ids == (f"{1:032x}", f"{2:032x}")


def joined_notes(spans: list[Span], group_by: GroupBy | None = None) -> list[str]:
    return [note.message for note in reconstruct(spans, group_by=group_by).notes if note.code == "joined-strangers"]


def elsewhere(span: Span, service: str, scope: str) -> Span:
    return msgspec.structs.replace(span, resource=Resource({"service.name": service}), scope=Scope(scope))


@pytest.mark.parametrize(("service", "scope", "told"), [("b", "x", True), ("a", "y", True), ("a", "x", False)])
def test_traces_of_strangers_that_one_conversation_id_joins_are_told(
    agent: MakeSpan, service: str, scope: str, *, told: bool
) -> None:
    spans = [
        elsewhere(agent(1, trace=1, gen_ai__conversation__id="sess-42"), "a", "x"),
        elsewhere(agent(2, trace=2, at=(60, 61), gen_ai__conversation__id="sess-42"), service, scope),
    ]
    message = "run sess-42 joins 2 traces by their conversation id; --group-by trace keeps them apart"

    assert joined_notes(spans) == ([message] if told else [])
    assert joined_notes(spans, GroupBy.TRACE) == []


def test_traces_that_share_an_instrumentation_are_no_strangers(agent: MakeSpan, tool: MakeSpan) -> None:
    spans = [
        elsewhere(agent(1, trace=1, gen_ai__conversation__id="talk"), "a", "x"),
        elsewhere(agent(2, trace=2, at=(60, 61), gen_ai__conversation__id="talk"), "a", "x"),
        elsewhere(tool(3, 2, trace=2, at=(60.1, 60.2)), "a", "y"),
    ]

    assert joined_notes(spans) == []


def test_an_id_on_one_inner_span_names_the_whole_trace(agent: MakeSpan, chat: MakeSpan) -> None:
    found = reconstruct([agent(1), chat(2, 1, gen_ai__conversation__id="talk")])

    assert run_ids(found.sessions) == ["talk"]


def test_an_explicit_run_id_wins_over_the_conversation(agent: MakeSpan) -> None:
    found = reconstruct([agent(1, gen_ai__conversation__id="talk", critiqor__run_id="run-7")])

    assert run_ids(found.sessions) == ["run-7"]


def test_no_two_runs_get_one_name(agent: MakeSpan) -> None:
    spans = [
        agent(1, trace=1, critiqor__run_id="talk"),
        agent(1, trace=2, gen_ai__conversation__id="talk"),
        agent(1, trace=3, gen_ai__conversation__id="talk.2"),
    ]

    assert run_ids(reconstruct(spans).sessions) == ["talk", "talk.2", "talk.3"]


def test_a_sub_agent_with_a_session_of_its_own_stays_in_the_run(agent: MakeSpan, tool: MakeSpan) -> None:
    found = reconstruct(
        [
            agent(1, gen_ai__conversation__id="outer"),
            tool(2, 1, "delegate"),
            agent(3, 2, gen_ai__conversation__id="inner"),
        ]
    )

    assert run_ids(found.sessions) == ["outer"]


def test_agents_with_different_conversations_in_one_trace_are_runs_of_their_own(
    span: MakeSpan, agent: MakeSpan, tool: MakeSpan
) -> None:
    found = reconstruct(
        [
            span(1, name="POST /batch", at=(0, 9)),
            agent(2, 1, at=(1, 2), gen_ai__conversation__id="a"),
            tool(3, 2, "search", at=(1.1, 1.2)),
            agent(4, 1, at=(3, 4), gen_ai__conversation__id="b"),
            tool(5, 4, "fetch", at=(3.1, 3.2)),
        ]
    )

    assert run_ids(found.sessions) == ["a", "b"]
    called = [[event.tool_name for event in session.events if event.event == "tool_call"] for session in found.sessions]
    assert called == [["search"], ["fetch"]]


def test_traces_joined_by_a_link_are_one_run(agent: MakeSpan) -> None:
    found = reconstruct([agent(1, trace=1), agent(2, trace=2, at=(5, 6), links=((1, 1),))])

    assert run_ids(found.sessions) == [f"{1:032x}"]


def test_group_by_trace_keeps_traces_apart_and_says_what_they_share(agent: MakeSpan) -> None:
    spans = [
        agent(1, trace=1, gen_ai__conversation__id="talk"),
        agent(2, trace=2, at=(5, 6), gen_ai__conversation__id="talk"),
    ]
    found = reconstruct(spans, group_by=GroupBy.TRACE)

    assert run_ids(found.sessions) == [f"{1:032x}", f"{2:032x}"]
    assert [[note.code for note in session.notes] for session in found.sessions] == [["same-conversation"]] * 2
    assert f"{2:032x}" in found.sessions[0].notes[0].message


def test_of_a_long_conversation_some_traces_are_named_and_the_others_counted(agent: MakeSpan) -> None:
    spans = [
        agent(1, trace=number, at=(number, number + 1), gen_ai__conversation__id="talk") for number in range(1, 31)
    ]
    notes = [session.notes[0].message for session in reconstruct(spans, group_by=GroupBy.TRACE).sessions]

    assert all(note.count("0" * 30) == 10 and note.endswith(" and 19 more") for note in notes)
    assert f"{1:032x}" not in notes[0]


@pytest.mark.parametrize("question", ["How long?", "half of an emoji: \ud83d"])
def test_rootless_model_calls_are_joined_by_their_messages(chat: MakeSpan, question: str) -> None:
    ask = {"role": "user", "parts": [{"type": "text", "content": question}]}
    call = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": 1}}]}
    told = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "3 documents"}]}
    done = {"role": "assistant", "parts": [{"type": "text", "content": "Five days."}]}

    def speak(number: int, sent: list[object], answer: object) -> Span:
        return chat(
            number,
            trace=number,
            at=(number, number + 0.5),
            gen_ai__input__messages=json.dumps(sent),
            gen_ai__output__messages=json.dumps([answer]),
        )

    other = {"role": "user", "parts": [{"type": "text", "content": "Somebody else"}]}
    found = reconstruct([speak(1, [ask], call), speak(2, [other], done), speak(3, [ask, call, told], done)])

    assert run_ids(found.sessions) == [f"{1:032x}", f"{2:032x}"]
    (joined, _) = found.sessions
    assert [note.code for note in joined.notes] == ["joined-by-messages"]
    (call_event,) = [event for event in joined.events if event.event == "tool_call"]
    (output,) = [event for event in joined.events if event.event == "tool_output"]
    assert (call_event.tool_name, call_event.payload["input"]) == ("search", {"q": 1})
    assert output.payload["result"] == "3 documents"


def test_traces_in_which_no_agent_speaks_are_named_and_left_out(span: MakeSpan, agent: MakeSpan) -> None:
    found = reconstruct([agent(1, trace=1), span(2, trace=2, name="GET /health", service="web")])

    assert run_ids(found.sessions) == [f"{1:032x}"]
    assert found.silent_traces == (f"{2:032x}",)


def test_what_sets_an_agent_up_joins_the_run_it_is_next_to(span: MakeSpan, agent: MakeSpan) -> None:
    created = span(1, trace=1, name="create_agent helper", gen_ai__operation__name="create_agent")
    found = reconstruct([created, agent(2, trace=2, at=(2, 3)), agent(3, trace=3, at=(50, 60))])

    assert run_ids(found.sessions) == [f"{2:032x}", f"{3:032x}"]
    assert found.sessions[0].trace_ids == (f"{1:032x}", f"{2:032x}")


def test_what_tells_of_no_agent_joins_the_nearest_run_of_any(span: MakeSpan, agent: MakeSpan) -> None:
    chance = random.Random(7)
    runs = {}
    for number in range(1, 60):
        start = chance.randrange(200)
        runs[number] = (start, start + chance.randrange(1, 20))
    silent = {number: chance.randrange(240) for number in range(1001, 1100)}
    spans = [agent(1, trace=number, at=at) for number, at in runs.items()]
    spans += [
        span(1, trace=number, at=(at, at + 1), gen_ai__operation__name="create_agent") for number, at in silent.items()
    ]
    homes = {trace: session.run_id for session in reconstruct(spans).sessions for trace in session.trace_ids}

    def away(run: int, at: int) -> tuple[int, int, int, int]:
        start, end = runs[run]
        return max(0, at - end, start - at - 1), start, -end, run

    for number, at in silent.items():
        assert homes[f"{number:032x}"] == f"{min(runs, key=lambda run: away(run, at)):032x}"
