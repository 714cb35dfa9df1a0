"""Who said what: each utterance once, in order, whoever tells of it."""

from typing import Any

import pytest
from captured import SCENARIOS, facts_told, sessions_of
from flat_sessions import session_of

from analyzer.profile import Profile
from analyzer.timeline.conversation import Conversation, Role
from analyzer.timeline.index import build_timeline

Raw = dict[str, Any]


def conversation(*events: Raw) -> Conversation:
    return build_timeline(session_of(*events), Profile.STANDARD).conversation


def event(name: str, **payload: Any) -> Raw:
    return {"event_type": name, "payload": payload}


def said(role: str, text: str, **more: Any) -> Raw:
    return {"role": role, "text": text, **more}


def request(*messages: Raw, total: int | None = None, **more: Any) -> Raw:
    told = len(messages) if total is None else total
    return event("before_provider_request", messages=list(messages), messages_total=told, **more)


def response(*messages: Raw, **more: Any) -> Raw:
    return event("after_provider_response", messages=list(messages), **more)


def lines(talk: Conversation) -> list[tuple[str, str]]:
    return [(one.role.value, one.text) for one in talk.utterances]


def test_a_text_that_travels_is_said_once() -> None:
    talk = conversation(
        event("agent_start", agent="a", input="How long?"),
        event("agent_start", agent="b", input="How long?", sub_agent=True),
        request(said("system", "Be brief."), said("user", "How long?"), agent="b"),
        response(said("assistant", "5 days"), agent="b"),
        event("agent_end", agent="b", output="5 days\n", sub_agent=True),
        event("agent_end", agent="a", output="5 days"),
    )

    assert lines(talk) == [("user", "How long?"), ("system", "Be brief."), ("assistant", "5 days")]
    assert talk.answer is not None
    assert talk.answer.position == 3


def test_a_text_that_is_said_again_counts_again() -> None:
    talk = conversation(
        request(said("user", "Cancel it.")),
        response(said("assistant", "Sure?")),
        request(said("assistant", "Sure?"), said("user", "yes"), total=3),
        response(said("assistant", "The other too?")),
        request(said("assistant", "The other too?"), said("user", "yes"), total=5),
    )

    assert [one.text for one in talk.by(Role.USER)] == ["Cancel it.", "yes", "yes"]
    assert [one.text for one in talk.by(Role.ASSISTANT)] == ["Sure?", "The other too?"]


def test_a_history_that_is_sent_anew_says_nothing_again() -> None:
    talk = conversation(
        request(said("user", "yes"), said("assistant", "so"), said("user", "yes")),
        request(said("user", "yes"), said("assistant", "so"), said("user", "yes"), said("user", "go")),
    )

    assert [one.text for one in talk.by(Role.USER)] == ["yes", "yes", "go"]


def test_a_task_for_a_sub_agent_is_not_said_by_the_user() -> None:
    talk = conversation(
        event("agent_start", agent="a", input="Trip to Rome"),
        event("agent_start", agent="b", input="Find flights", sub_agent=True),
        request(said("user", "Find flights"), agent="b"),
    )

    assert lines(talk) == [("user", "Trip to Rome"), ("caller", "Find flights")]


def test_plain_text_tool_use_is_no_word_of_the_user() -> None:
    talk = conversation(
        request(said("user", "How long?")),
        response(said("assistant", "Thought: look.\nAction: search\nAction Input: {}")),
        request(said("user", "Observation: 5 days"), total=3),
        response(said("assistant", "5 days")),
    )

    assert [one.text for one in talk.by(Role.USER)] == ["How long?"]
    assert [one.asks for one in talk.by(Role.ASSISTANT)] == [True, False]
    assert talk.answer is not None
    assert talk.answer.text == "5 days"


def test_messages_of_a_channel_are_heard_in_every_spelling() -> None:
    talk = conversation(
        {"event_type": "input", "text": "Hello"},
        event("message_received", role="user", text="Hello"),
        event("message_end", message={"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}),
        event("message_sent", text="Hi"),
        event("message_end", message={"role": "toolResult", "content": "41"}),
    )

    assert lines(talk) == [("user", "Hello"), ("assistant", "Hi")]


def test_an_answer_that_asks_for_tools_is_no_final_one() -> None:
    talk = conversation(response(said("assistant", "I look.", tool_requests=[{"name": "search"}])))

    assert talk.answer is None


@pytest.mark.parametrize("odd", [None, 3, "text", [None, 4, {"role": 5, "text": ["a", {"text": 3}]}], {"messages": 3}])
def test_odd_values_are_no_failure(odd: Any) -> None:
    names = ("before_provider_request", "after_provider_response", "agent_start", "agent_end", "message_received")
    keys = ("messages", "input", "output", "text", "role", "agent", "system_instructions")

    conversation(*({"event_type": name, "payload": dict.fromkeys(keys, odd)} for name in names))


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name.endswith("/clean_two_tools")])
def test_a_captured_conversation_is_question_and_answer(scenario: str) -> None:
    for session in sessions_of(scenario):
        talk = build_timeline(session, Profile.STANDARD).conversation
        users = [one.text for one in talk.by(Role.USER)]

        assert all(text.startswith("How long do refunds take") for text in users)
        assert len(users) <= 1
        assert talk.answer is None or talk.answer.text == facts_told(scenario)["final_answer"]
