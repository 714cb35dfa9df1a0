"""What came of a failed call, told by what follows it."""

from typing import Any

import pytest
from flat_sessions import call, output, session_of

from analyzer.profile import Profile
from analyzer.timeline.aftermath import Aftermath
from analyzer.timeline.index import build_timeline

Raw = dict[str, Any]


def failing(tool: str = "search", args: Any = None, error: str = "it broke") -> list[Raw]:
    return [call(tool, args), {"event": "tool_output", "tool": tool, "status": "error", "error": error}]


def done(tool: str = "search", args: Any = None) -> list[Raw]:
    return [call(tool, args), output("found", tool)]


def said(text: str) -> Raw:
    return {"event_type": "agent_end", "payload": {"output": text}}


def asked(text: str) -> Raw:
    return {"event_type": "agent_start", "payload": {"input": text}}


def aftermath_of(*events: Raw) -> Aftermath:
    timeline = build_timeline(session_of(*events), Profile.STANDARD)
    return timeline.failures.of_tools[0].outlook.aftermath


def test_a_later_success_of_the_same_tool_makes_up_for_it() -> None:
    assert aftermath_of(*failing(), *done(args={"q": "beta"}), said("Found it.")) is Aftermath.RECOVERED


@pytest.mark.parametrize(
    ("tool", "args"),
    [("search_docs", {"q": "other words"}), ("catalogue", {"term": "refund policy"})],
    ids=["a telling word of the name", "a telling value"],
)
def test_a_like_tool_makes_up_for_it(tool: str, args: Raw) -> None:
    events = failing("find_docs", {"q": "Refund policy"})

    assert aftermath_of(*events, *done(tool, args), said("Five days.")) is Aftermath.RECOVERED


def test_one_shell_makes_up_for_another() -> None:
    events = failing("bash", {"command": "x"})

    assert aftermath_of(*events, *done("python", {"code": "y"}), said("Done.")) is Aftermath.RECOVERED


def test_making_what_was_not_there_makes_up_for_not_finding_it() -> None:
    events = failing("read_file", {"path": "notes.md"}, "no such file")

    assert aftermath_of(*events, *done("write_file", {"path": "notes.md"}), said("Written.")) is Aftermath.RECOVERED


def test_looking_something_up_does_not_make_up_for_changing_it() -> None:
    events = failing("cancel_order", {"id": "W-17000"})

    assert aftermath_of(*events, *done("get_order", {"id": "W-17000"}), said("It is gone.")) is Aftermath.UNHANDLED


def test_what_was_called_side_by_side_makes_up_for_nothing() -> None:
    events = [{"event": "tool_call", "tool": "search", "args": {"q": n}, "tool_call_id": str(n)} for n in range(2)]
    events += [
        {"event": "tool_output", "tool": "search", "status": "error", "error": "it broke", "tool_call_id": "0"},
        {"event": "tool_output", "tool": "search", "output": "found", "tool_call_id": "1"},
    ]

    assert aftermath_of(*events, said("Both were found.")) is Aftermath.UNHANDLED


@pytest.mark.parametrize(
    "text",
    [
        "The search failed.",
        "I could not find it.",
        "Das hat leider nicht geklappt.",
        "Je n'ai pas réussi : une erreur est survenue.",
        "No se pudo completar la búsqueda.",
        "抱歉! 搜索失败了。",
        "検索できませんでした。",
        "Извините, поиск недоступен.",
    ],
)
def test_an_agent_that_tells_of_it_has_reported_it(text: str) -> None:
    assert aftermath_of(*failing(), said(text)) is Aftermath.REPORTED


def test_what_is_said_after_the_users_next_word_does_not_count() -> None:
    events = [asked("Find it."), *failing(), said("Here it is."), asked("Sure?"), said("No, the search failed.")]

    assert aftermath_of(*events) is Aftermath.UNHANDLED


def test_a_run_that_fails_with_it_ends_by_it() -> None:
    end = {"event_type": "agent_end", "status": "error", "error": "it broke", "payload": {}}

    assert aftermath_of(asked("Find it."), *failing(), end) is Aftermath.FATAL


def test_a_run_that_fails_later_did_not_fail_with_it() -> None:
    more = {"event_type": "message_sent", "payload": {"role": "assistant", "text": "Here it is."}}
    end = {"event_type": "agent_end", "status": "error", "error": "no time left", "payload": {}}

    assert aftermath_of(asked("Find it."), *failing(), more, end) is Aftermath.UNHANDLED


def test_a_run_that_ends_on_it_without_a_word_has_not_handled_it() -> None:
    assert aftermath_of(asked("Find it."), *failing()) is Aftermath.UNHANDLED


def test_words_that_are_not_carried_are_not_taken_for_silence() -> None:
    answer = {"event": "token_usage", "event_type": "after_provider_response", "payload": {"usage": {"total": 9}}}

    assert aftermath_of(*failing(), answer, {"event_type": "agent_end", "payload": {}}) is Aftermath.UNSEEN
