"""What a user says of tools: which change something, which are meant to poll, how many equal calls are a loop."""

from typing import Any

from flat_sessions import answered, session_of

from analyzer.cause import FailureCause
from analyzer.diagnosis import diagnose
from analyzer.options import Options


def found(failure_type: str, events: list[dict[str, Any]], **settings: Any) -> list[FailureCause]:
    causes = diagnose(session_of(*events), options=Options(**settings)).failure_causes
    return [cause for cause in causes if cause.type == failure_type]


def rounds(count: int) -> list[dict[str, Any]]:
    return [event for _ in range(count) for tool in ("check_a", "check_b") for event in answered("same", tool=tool)]


def test_a_tool_that_is_said_to_change_something_weighs_more_than_one_that_only_seems_to() -> None:
    (guessed,) = found("duplicate_side_effect", answered("ok", "ok", tool="send_mail"))
    (said,) = found("duplicate_side_effect", answered("ok", "ok", tool="step_7"), side_effect_tools=("step_*",))

    assert (guessed.severity, guessed.confidence, guessed.basis) == ("medium", "low", "derived")
    assert (said.severity, said.confidence, said.basis) == ("high", "high", "observed")


def test_a_tool_of_which_nobody_says_so_may_be_called_twice() -> None:
    assert found("duplicate_side_effect", answered("ok", "ok", tool="step_7")) == []


def test_rounds_of_tools_that_are_meant_to_poll_are_no_loop() -> None:
    assert len(found("alternating_loop", rounds(2))) == 1
    assert found("alternating_loop", rounds(2), polling_tools=("check_*",)) == []


def test_a_tool_that_is_meant_to_poll_makes_no_storm() -> None:
    attempts = [{"event": "retry_event", "tool_call_id": "c", "attempt": number} for number in range(2, 8)]
    retried = [
        {"event": "tool_call", "tool": "check_a", "tool_call_id": "c", "args": {"n": 1}},
        *attempts,
        {"event": "tool_output", "tool": "check_a", "tool_call_id": "c", "error": "not ready"},
    ]
    failing = [event for number in range(6) for event in answered(ValueError("no"), tool="check_a", args={"n": number})]

    for events in (retried, failing):
        assert len(found("retry_storm", events)) == 1
        assert found("retry_storm", events, polling_tools=("check_*",)) == []


def test_rounds_are_told_until_their_calls_are_loops_themselves() -> None:
    assert found("alternating_loop", rounds(3)) == []
    assert len(found("alternating_loop", rounds(3), loop_calls=4)) == 1


def test_equal_failures_that_are_no_loop_yet_are_left_to_the_error() -> None:
    failures = answered(*[RuntimeError("it broke")] * 3, tool="step_7")

    assert found("unhandled_tool_error", failures) == []
    assert len(found("unhandled_tool_error", failures, loop_calls=4)) == 1
