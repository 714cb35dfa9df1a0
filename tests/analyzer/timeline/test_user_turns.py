from typing import Any

import pytest
from flat_sessions import answered, session_of

from analyzer.profile import Profile
from analyzer.timeline.index import build_timeline

END = {"event": "agent_end"}


def start(asked: Any, **payload: Any) -> dict[str, Any]:
    return {"event": "agent_start", "payload": {"input": asked, **payload}}


def said(role: str, text: str) -> dict[str, str]:
    return {"role": role, "text": text}


def turns(*events: Any) -> list[int]:
    return [call.user_turn for call in build_timeline(session_of(*events), Profile.STANDARD).calls]


@pytest.mark.parametrize("name", ["input", "message_received"])
def test_an_input_is_a_word_of_the_user(name: str) -> None:
    assert turns({"event": name}, *answered("a"), {"event": name}, *answered("a")) == [1, 2]


def test_an_agent_that_is_asked_something_else_is_asked_by_the_user() -> None:
    assert turns(start("hours?"), *answered("a"), END, start("prices?"), *answered("a"), END) == [1, 2]


def test_the_same_question_again_is_no_new_word() -> None:
    assert turns(start("hours?"), *answered("a"), END, start("hours?"), *answered("a"), END) == [1, 1]


def test_the_same_question_after_an_answer_is_a_new_word() -> None:
    end = {"event": "agent_end", "payload": {"output": "9 to 5"}}

    assert turns(*([start("hours?"), *answered("a"), end] * 4)) == [1, 2, 3, 4]
    assert turns(*([start("hours?"), *answered("a"), {**end, "status": "error"}] * 2)) == [1, 1]


def test_the_same_words_behind_an_answer_are_said_again() -> None:
    once = (answer("9 to 5"), sent(said("assistant", "9 to 5"), said("user", "hours?")), *answered("a"))

    assert turns(sent(said("user", "hours?")), *answered("a"), *once, *once) == [0, 1, 2]


def test_a_sub_agent_is_not_asked_by_the_user() -> None:
    assert turns(start("hours?"), *answered("a"), start("look it up"), *answered("a")) == [1, 1]
    assert turns(start("hours?"), *answered("a"), END, start("look it up", sub_agent=True), *answered("a")) == [1, 1]


def test_an_agent_that_is_started_for_each_step_is_not_asked_anew() -> None:
    first, second = [said("user", "hours?")], [said("user", "hours?"), said("tool", "closed")]

    assert turns(start(first), *answered("a"), END, start(second), *answered("a"), END) == [1, 1]


def test_a_conversation_that_goes_on_is_asked_anew() -> None:
    first = [said("user", "hours?")]
    second = [*first, said("assistant", "9 to 5"), said("user", "and on Sunday?")]

    assert turns(start({"messages": first}), *answered("a"), END, start({"messages": second}), *answered("a")) == [1, 2]


def sent(*messages: dict[str, str]) -> dict[str, Any]:
    return {"event_type": "before_provider_request", "payload": {"messages": list(messages)}}


def answer(text: str) -> dict[str, Any]:
    return {"event_type": "after_provider_response", "payload": {"messages": [said("assistant", text)]}}


def test_new_words_that_a_model_is_sent_after_its_answer_are_the_users() -> None:
    first = [sent(said("user", "hours?")), *answered("a"), answer("9 to 5")]

    assert turns(*first, sent(said("user", "and on Sunday?")), *answered("a")) == [0, 1]
    assert turns(*first, sent(said("user", "hours?")), *answered("a")) == [0, 0]
    assert turns(*first, sent(said("tool", "closed")), *answered("a")) == [0, 0]


def test_what_a_model_is_sent_after_a_call_is_the_result_of_it() -> None:
    first = [sent(said("user", "hours?")), answer("Action: look"), *answered("a")]

    assert turns(*first, sent(said("user", "Observation: 9 to 5")), *answered("a")) == [0, 0]
