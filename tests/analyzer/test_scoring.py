from typing import Any

import pytest
from flat_sessions import answered, call, output, session_of
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.registry import ALL
from analyzer.profile import Profile
from analyzer.scoring import WEIGHTS, Readiness, score
from analyzer.timeline.index import Timeline, build_timeline

TYPES = [detector.failure_type for detector in ALL]
CAUSES = st.builds(
    FailureCause,
    type=st.sampled_from(TYPES),
    severity=st.sampled_from(Severity),
    impact=st.integers(-40, 0),
    description=st.just(""),
)


def timeline_of(*events: Any) -> Timeline:
    return build_timeline(session_of(*events), Profile.STANDARD)


HEALTHY = timeline_of(call(), output())


def cause(severity: Severity, impact: int = -10) -> FailureCause:
    return FailureCause(type="infinite_tool_loop", severity=severity, impact=impact, description="")


@given(st.lists(CAUSES, max_size=8), CAUSES)
def test_one_more_failure_never_raises_trust(causes: list[FailureCause], more: FailureCause) -> None:
    before = score(HEALTHY, causes, Profile.STANDARD)
    after = score(HEALTHY, [*causes, more], Profile.STANDARD)

    assert before.trust is not None
    assert after.trust is not None
    assert after.trust <= before.trust
    assert all(after.dimensions[name] <= value for name, value in before.dimensions.items())


@given(st.permutations([cause(Severity.HIGH, -20), cause(Severity.CRITICAL, -30), cause(Severity.LOW, 0)]))
def test_the_order_of_failures_makes_no_difference(causes: list[FailureCause]) -> None:
    assert score(HEALTHY, causes, Profile.STANDARD).dimensions["loop_control"] == 70


@pytest.mark.parametrize(
    ("severity", "cap", "readiness"),
    [
        (Severity.LOW, 100, Readiness.SAFE_TO_DEPLOY),
        (Severity.MEDIUM, 89, Readiness.SAFE_TO_DEPLOY),
        (Severity.HIGH, 74, Readiness.REVIEW_RECOMMENDED),
        (Severity.CRITICAL, 49, Readiness.UNSAFE_FOR_PRODUCTION),
    ],
)
def test_the_worst_failure_bounds_trust(severity: Severity, cap: int, readiness: Readiness) -> None:
    found = score(HEALTHY, [cause(severity, 0)], Profile.STANDARD)

    assert (found.trust, found.readiness) == (cap, readiness)


def test_the_weights_make_one() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1)


PROCESS = [{"event": "process_start"}, {"event": "process_output", "text": "hi"}]


@pytest.mark.parametrize(
    "events",
    [
        [],
        [{"event": "agent_start"}],
        [{"event": "agent_start"}, {"event": "agent_end"}],
        [{"event": "memory_event", "action": "stored"}],
        [{"event": "tool_call", "tool": "search"}, {"event": "tool_output", "tool": "search", "status": "ok"}] * 2,
        PROCESS,
        [*PROCESS, {"event": "process_end", "exit_code": 0}],
    ],
)
@pytest.mark.parametrize("severity", [None, Severity.LOW])
def test_a_run_that_shows_no_work_is_neither_safe_nor_trusted(
    events: list[dict[str, Any]], severity: Severity | None
) -> None:
    found = score(timeline_of(*events), [] if severity is None else [cause(severity, 0)], Profile.STANDARD)

    assert (found.trust, found.readiness) == (None, Readiness.INSUFFICIENT_EVIDENCE)


def test_a_process_that_failed_is_to_be_reviewed_whatever_else_is_known() -> None:
    found = score(timeline_of(*PROCESS, {"event": "process_end", "exit_code": 3}), [], Profile.STANDARD)

    assert (found.trust, found.readiness) == (74, Readiness.REVIEW_RECOMMENDED)


def test_a_grave_failure_counts_where_no_work_is_shown() -> None:
    found = score(timeline_of(*PROCESS), [cause(Severity.CRITICAL)], Profile.STANDARD)

    assert (found.trust, found.readiness) == (49, Readiness.UNSAFE_FOR_PRODUCTION)


@pytest.mark.parametrize("events", [[call()], [{"event": "token_usage", "usage": {"total": 1}}]])
def test_a_run_that_shows_work_is_judged(events: list[dict[str, Any]]) -> None:
    assert score(timeline_of(*events), [], Profile.STANDARD).readiness is not Readiness.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(
    "ending", [[{"event": "process_end", "exit_code": 1}], [{"event": "agent_start"}]], ids=["failed", "unfinished"]
)
def test_a_run_that_failed_or_never_ended_is_to_be_reviewed(ending: list[dict[str, Any]]) -> None:
    found = score(timeline_of(*answered("a"), *ending), [], Profile.STANDARD)

    assert found.readiness is Readiness.REVIEW_RECOMMENDED


def test_the_recorded_profile_lets_the_last_failure_of_a_dimension_count() -> None:
    causes = [cause(Severity.CRITICAL, -30), cause(Severity.HIGH, -20)]

    assert score(HEALTHY, causes, Profile.CRITIQOR_V1).dimensions["loop_control"] == 80


def test_the_recorded_profile_calls_an_empty_run_safe() -> None:
    found = score(timeline_of(), [], Profile.CRITIQOR_V1)

    assert (found.trust, found.readiness) == (100, Readiness.SAFE_TO_DEPLOY)
