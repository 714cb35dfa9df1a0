"""What users set: budgets of steps and time, and tools with side effects."""

from typing import Any

import pytest
from flat_sessions import session_of

from analyzer.cause import FailureCause
from analyzer.detectors import budget_exhausted, unconfirmed_action
from analyzer.diagnosis import diagnose
from analyzer.options import Options

RESPONSE = {"event": "token_usage", "payload": {"messages": [{"role": "assistant", "text": "so"}]}}
START = {"event_type": "agent_start", "payload": {"agent": "helper"}}
END = {"event_type": "agent_end", "status": "ok", "payload": {"agent": "helper"}}


def found(detector: Any, options: Options, *events: dict[str, Any]) -> tuple[FailureCause, ...]:
    return diagnose(session_of(*events), options=options, detectors=(detector.DETECTOR,)).failure_causes


def test_more_model_calls_than_their_budget_are_reported_at_the_first_that_is_too_many() -> None:
    (cause,) = found(budget_exhausted, Options(step_budget=2), START, RESPONSE, RESPONSE, RESPONSE, END)

    assert "3 model calls, and its budget is 2" in cause.description
    assert cause.evidence == ("event_3",)


@pytest.mark.parametrize("options", [Options(), Options(step_budget=3, seconds_budget=4)])
def test_within_the_budget_nothing_is_reported(options: Options) -> None:
    assert found(budget_exhausted, options, START, RESPONSE, RESPONSE, RESPONSE, END) == ()


def test_more_seconds_than_their_budget_are_reported() -> None:
    (cause,) = found(budget_exhausted, Options(seconds_budget=1.5), START, RESPONSE, END)

    assert "took 2 seconds" in cause.description


@pytest.mark.parametrize(("options", "count"), [(Options(), 0), (Options(side_effect_tools=("launch_*",)), 1)])
def test_a_tool_that_changes_something_may_be_named(options: Options, count: int) -> None:
    asked = {"role": "user", "text": "How is the weather?"}
    rule = "Ask for the user's permission before you launch anything."
    request = {"messages": [asked], "messages_total": 1, "system_instructions": rule}
    launch = {"event": "tool_call", "tool": "launch_rocket", "args": {"number": 1}}

    events = ({"event_type": "before_provider_request", "payload": request}, launch)

    assert len(found(unconfirmed_action, options, *events)) == count
