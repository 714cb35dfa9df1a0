"""What holds for all runs: a failure more never makes a run more trusted, and what was mended costs nothing."""

from typing import Any

from flat_sessions import session_of
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cause import Severity
from analyzer.detectors.registry import ALL
from analyzer.diagnosis import diagnose

Raw = dict[str, Any]
# The documented types, and those of calls of tools.
TYPES = frozenset(
    (
        *("infinite_tool_loop", "memory_degradation", "ignoring_tool_outputs", "context_pollution", "cost_explosion"),
        *("skill_failure", "unknown_tool", "invalid_arguments", "tool_timeout", "rate_limited", "permission_refused"),
        *("resource_not_found", "service_error", "environment_error", "unhandled_tool_error", "missing_tool_output"),
        *("empty_result_as_success", "alternating_loop", "retry_storm", "duplicate_side_effect", "slow_tool"),
    )
)
DETECTORS = tuple(detector for detector in ALL if detector.failure_type in TYPES)
ERRORS = ("timed out", "429 Too Many Requests", "permission denied", "not found", "503", "no such file or directory")
ERRORS += ("Unknown tool: x", "missing required argument: q", "it broke")
CALLS = st.tuples(
    st.sampled_from(("search", "send_email", "bash")),
    st.sampled_from(("alpha", "beta")),
    st.sampled_from(("found", "", [], *map(Exception, ERRORS[:3]))),
)
ANSWERS = st.sampled_from(("We open at nine.", "The search failed.", None))


def events_of(calls: list[tuple[str, str, Any]]) -> list[Raw]:
    events: list[Raw] = [{"event_type": "agent_start", "payload": {"input": "When do you open?"}}]
    for tool, word, result in calls:
        told = {"status": "error", "error": str(result)} if isinstance(result, Exception) else {"output": result}
        events += (
            {"event": "tool_call", "tool": tool, "args": {"q": word}},
            {"event": "tool_output", "tool": tool, **told},
        )
    return events


def ended(events: list[Raw], answer: str | None) -> list[Raw]:
    return [*events, {"event_type": "agent_end", "payload": {} if answer is None else {"output": answer}}]


def trust(events: list[Raw]) -> int:
    score = diagnose(session_of(*events), detectors=DETECTORS).trust_score
    return 100 if score is None else score


@given(st.lists(CALLS, min_size=1, max_size=8), st.sampled_from(ERRORS), ANSWERS)
def test_one_more_failed_call_never_raises_trust(
    calls: list[tuple[str, str, Any]], error: str, answer: str | None
) -> None:
    before = trust(ended(events_of(calls), answer))
    after = trust(ended(events_of([*calls, ("lookup", "gamma", Exception(error))]), answer))

    assert after <= before


@given(st.sampled_from(ERRORS), ANSWERS)
def test_a_failure_that_was_made_up_for_costs_nothing(error: str, answer: str | None) -> None:
    calls = [("search", "alpha", Exception(error)), ("search", "beta", "We open at nine on weekdays.")]
    causes = diagnose(session_of(*ended(events_of(calls), answer)), detectors=DETECTORS).failure_causes
    told = [cause for cause in causes if cause.type != "ignoring_tool_outputs"]

    assert {(cause.severity, cause.impact, cause.marks) for cause in told} <= {(Severity.LOW, 0, ("recovered",))}


def test_the_types_of_this_page_are_there() -> None:
    assert {detector.failure_type for detector in ALL} >= TYPES
