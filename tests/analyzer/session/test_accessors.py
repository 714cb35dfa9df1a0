import pytest
from flat_sessions import session_of

from analyzer.session.accessors import (
    ABSENT,
    ARGUMENTS,
    RESULT,
    call_id_of,
    first_given,
    first_present,
    label_of,
    name_of,
    subject_of,
    tool_of,
)
from analyzer.session.model import Event


def event_of(**fields: object) -> Event:
    return session_of({"event": "tool_call", **fields}).events[0]


@pytest.mark.parametrize(
    "fields",
    [
        {"args": {"a": 1}},
        {"arguments": {"a": 1}},
        {"payload": {"input": {"a": 1}}},
        {"payload": {"args": {"a": 1}}},
        {"payload": {"arguments": {"a": 1}}},
        {"args": {"a": 1}, "payload": {"input": {"b": 2}}},
    ],
)
def test_arguments_are_found_in_every_spelling(fields: dict[str, object]) -> None:
    assert first_given(event_of(**fields), ARGUMENTS) == {"a": 1}


def test_absent_arguments_differ_from_null() -> None:
    assert first_given(event_of(), ARGUMENTS) is ABSENT
    assert first_given(event_of(args=None), ARGUMENTS) is None


def test_a_null_does_not_hide_what_another_name_holds() -> None:
    event = event_of(args=None, arguments={"a": 1})

    assert first_given(event, ARGUMENTS) == {"a": 1}
    assert first_present(event, ARGUMENTS) is None


@pytest.mark.parametrize(
    "fields", [{"output": 7}, {"result": 7}, {"payload": {"result": 7}}, {"payload": {"content": 7}}]
)
def test_results_are_found_in_every_spelling(fields: dict[str, object]) -> None:
    assert first_given(event_of(**fields), RESULT) == 7


@pytest.mark.parametrize(
    "fields",
    [{"tool_name": "a"}, {"tool": "a"}, {"payload": {"tool_name": "a"}}, {"payload": {"toolName": "a"}}],
)
def test_the_tool_is_found_in_every_spelling(fields: dict[str, object]) -> None:
    assert tool_of(event_of(**fields)) == "a"


@pytest.mark.parametrize(
    "fields", [{"tool_call_id": "c"}, {"payload": {"tool_call_id": "c"}}, {"payload": {"toolCallId": "c"}}]
)
def test_the_call_id_is_found_in_every_spelling(fields: dict[str, object]) -> None:
    assert call_id_of(event_of(**fields)) == "c"


def test_a_payload_that_is_no_object_holds_nothing() -> None:
    assert first_given(event_of(payload=["input"]), ARGUMENTS) is ABSENT
    assert tool_of(event_of(payload="toolName")) is None


def test_the_observed_name_of_a_finalised_event_is_the_plugins_own() -> None:
    assert name_of(event_of(payload={"openclaw_event_type": "tool_execution_start"})) == "tool_execution_start"
    assert name_of(event_of()) == "tool_call"


def test_an_event_is_labelled_by_what_it_is_about() -> None:
    assert label_of(event_of(tool="search")) == "search"
    assert label_of(event_of(skill="refunds")) == "refunds"
    assert label_of(event_of()) == "tool_call"
    assert label_of(event_of(payload={"toolName": "search"})) == "search"
    assert subject_of(event_of(payload={"model": "m"})) == "m"
