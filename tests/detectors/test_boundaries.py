"""Where a rule begins, to the last unit: what the cases of detectors leave open, and mutants of the rules live on."""

from typing import Any

import pytest
from flat_sessions import answered, session_of

from analyzer.cause import FailureCause
from analyzer.detectors import (
    broken_limits,
    context_pollution,
    cost_explosion,
    retry_storm,
    service_error,
    wrong_arithmetic,
)
from analyzer.diagnosis import diagnose

START = {"event_type": "agent_start", "payload": {"agent": "helper"}}
END = {"event_type": "agent_end", "status": "ok", "payload": {"agent": "helper"}}


def found(detector: Any, *events: dict[str, Any]) -> tuple[FailureCause, ...]:
    return diagnose(session_of(*events), detectors=(detector.DETECTOR,)).failure_causes


def heard(text: str) -> dict[str, Any]:
    return {"event_type": "message_received", "payload": {"role": "user", "text": text}}


def said(text: str) -> dict[str, Any]:
    return {"event_type": "message_sent", "payload": {"text": text}}


@pytest.mark.parametrize(("sum_", "count"), [("27", 0), ("28", 1), ("26", 1), ("27.0", 0), ("27.1", 1), ("26.9", 1)])
def test_a_sum_that_is_one_off_in_its_last_digit_is_wrong(sum_: str, count: int) -> None:
    events = (heard("What do they cost?"), said(f"The parts cost 19 + 5 + 3 = {sum_} in all."))

    assert len(found(wrong_arithmetic, *events)) == count


def filled(tokens: int) -> dict[str, Any]:
    payload = {"model": "gpt-4o-2024-08-06", "agent": "helper", "usage": {"input_tokens": tokens, "output_tokens": 50}}
    return {"event_type": "after_provider_response", "event": "token_usage", "status": "ok", "payload": payload}


@pytest.mark.parametrize(("first", "last", "count"), [(6400, 64_000, 1), (6401, 64_000, 0), (6390, 63_999, 0)])
def test_a_context_ten_times_as_large_that_fills_half_of_the_window_is_told(first: int, last: int, count: int) -> None:
    causes = found(context_pollution, START, filled(first), filled(last // 2), filled(last), END)

    assert [cause.rule for cause in causes] == ["context-growth"] * count


@pytest.mark.parametrize("asked", [("Answer in at most 3 words.", "Tell me all of it."), ("Tell me all of it.",)])
def test_the_limits_of_an_earlier_message_are_over(asked: tuple[str, ...]) -> None:
    talk = [message for text in asked for message in (heard(text), said("The refund was paid on Monday at noon."))]

    assert found(broken_limits, START, *talk, END) == ()


def test_a_limit_of_the_last_message_holds() -> None:
    events = (heard("Answer in at most 3 words."), said("The refund was paid on Monday at noon."))

    assert len(found(broken_limits, START, *events, END)) == 1


def asks_for(*call_ids: str) -> dict[str, Any]:
    calls = [{"id": one, "name": "fetch", "arguments": {"url": one}} for one in call_ids]
    payload = {"model": "m", "messages": [{"role": "assistant", "tool_requests": calls}]}
    return {"event_type": "after_provider_response", "event": "token_usage", "status": "ok", "payload": payload}


def fails(call_id: str) -> list[dict[str, Any]]:
    return [
        {"event": "tool_call", "tool": "fetch", "args": {"url": call_id}, "tool_call_id": call_id},
        {"event": "tool_output", "tool": "fetch", "status": "error", "error": "host is down", "tool_call_id": call_id},
    ]


IDS = ("a", "b", "c", "d", "e", "f")


def test_calls_that_were_asked_for_one_after_another_are_a_storm() -> None:
    events = [event for one in IDS for event in (asks_for(one), *fails(one))]

    assert len(found(retry_storm, START, *events, END)) == 1


def test_calls_that_were_asked_for_at_once_are_none() -> None:
    assert found(retry_storm, START, asks_for(*IDS), *(event for one in IDS for event in fails(one)), END) == ()


@pytest.mark.parametrize(("payload", "name"), [({}, "the model"), ({"model": "m-1"}, "the model m-1")])
def test_a_model_that_fails_is_named_where_it_has_a_name(payload: dict[str, Any], name: str) -> None:
    failed = {"event_type": "after_provider_response", "event": "token_usage", "status": "error"}

    (cause,) = found(service_error, START, {**failed, "error": "overloaded_error: Overloaded", "payload": payload})

    assert cause.description.startswith(f"{name} failed")


@pytest.mark.parametrize(("tokens", "count"), [(11_999, 0), (12_000, 1)])
def test_tokens_at_the_limit_with_work_done_twice_are_an_explosion(tokens: int, count: int) -> None:
    usage = {"event": "token_usage", "payload": {"usage": {"total": tokens}}}

    assert len(found(cost_explosion, START, usage, *answered("found", "found"), END)) == count
