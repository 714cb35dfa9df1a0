"""What the standard profile does better than the recorded behaviour, one test a case marked `deviate`, and why."""

import json
from pathlib import Path

import pytest

from analyzer.cause import FailureCause, Severity
from analyzer.diagnosis import Profile, diagnose
from analyzer.scoring import Readiness
from analyzer.session.codec import read_session
from analyzer.timeline.ending import RunStatus
from analyzer.verdict import Diagnosis

CASES = Path(__file__).parents[1] / "cases" / "critiqor-v1"
DEVIATE = {
    name for name, case in json.loads((CASES / "MANIFEST.json").read_text()).items() if case["advice"] == "deviate"
}
TOLD = {
    "args_null": "test_null_and_absent_arguments_are_no_riddle",
    "combo_worst": "test_a_run_with_every_failure_is_not_trusted",
    "cost_in_out_only": "test_input_and_output_make_a_total",
    "duplicate_event_ids": "test_equal_ids_make_no_edge_from_an_event_to_itself",
    "error_events_ignored": "test_errors_and_a_failed_exit_are_no_success",
    "loop_polling_progress": "test_polling_with_progress_is_no_loop",
    "loop_two_groups_3_then_6": "test_the_worst_loop_counts_whatever_the_order",
    "loop_two_groups_6_then_3": "test_the_worst_loop_counts_whatever_the_order",
    "loop_unrelated_retries": "test_retries_of_another_tool_do_not_count_for_a_loop",
    "memory_action_hides_status": "test_a_miss_is_seen_beside_any_action",
    "out_of_order": "test_events_are_told_in_order_of_time",
    "plugin_3_distinct": "test_different_calls_of_the_plugin_are_no_loop",
    "plugin_5_distinct": "test_different_calls_of_the_plugin_are_no_loop",
    "plugin_double_report": "test_a_call_that_two_hooks_report_is_one_call",
    "plugin_memory_miss": "test_a_failed_look_up_of_the_plugin_is_seen_and_counted_once",
    "plugin_tokens": "test_tokens_in_the_payload_count",
}


def standard(name: str) -> Diagnosis:
    return diagnose(read_session((CASES / f"{name}.session.json").read_bytes()))


def loud(diagnosis: Diagnosis) -> list[FailureCause]:
    return [cause for cause in diagnosis.failure_causes if cause.severity is not Severity.LOW]


def test_every_deviation_has_its_test() -> None:
    assert set(TOLD) == DEVIATE
    assert set(TOLD.values()) <= set(globals())


def test_the_worst_loop_counts_whatever_the_order() -> None:
    """Recorded: the last group's impact is the dimension's, so the same calls in another order score otherwise."""
    first, second = standard("loop_two_groups_6_then_3"), standard("loop_two_groups_3_then_6")

    assert first.scores["loop_control"] == second.scores["loop_control"] == 70
    assert first.trust_score == second.trust_score == 49


def test_polling_with_progress_is_no_loop() -> None:
    """Recorded: a poll whose results go from 0 to 100 percent is a loop of severity high."""
    (cause,) = standard("loop_polling_progress").failure_causes

    assert (cause.severity, cause.impact, cause.marks) == (Severity.LOW, 0, ("progressing",))


def test_retries_of_another_tool_do_not_count_for_a_loop() -> None:
    """Recorded: three retries of another tool make the loop critical and become its evidence."""
    (cause,) = standard("loop_unrelated_retries").failure_causes

    assert (cause.severity, cause.impact, cause.evidence) == (Severity.HIGH, -20, ("event_0", "event_1", "event_2"))


def test_a_miss_is_seen_beside_any_action() -> None:
    """Recorded: the status `miss` is not looked at when there is an action."""
    (cause,) = standard("memory_action_hides_status").failure_causes

    assert (cause.type, cause.severity, cause.basis) == ("memory_degradation", Severity.MEDIUM, "observed")


def test_input_and_output_make_a_total() -> None:
    """Recorded: usage without a total counts as zero."""
    tokens = standard("cost_in_out_only").evidence_summary.tokens

    assert (tokens.input, tokens.output, tokens.total) == (9_000, 9_000, 18_000)


def test_a_run_with_every_failure_is_not_trusted() -> None:
    """Recorded: with every detector at its cap the trust score is 73, the lowest there is."""
    diagnosis = standard("combo_worst")

    assert diagnosis.trust_score == 49
    assert diagnosis.readiness_level is Readiness.UNSAFE_FOR_PRODUCTION


def test_errors_and_a_failed_exit_are_no_success() -> None:
    """Recorded: six errors and exit code 1 leave trust 100, ready for runtime."""
    diagnosis = standard("error_events_ignored")

    assert diagnosis.status is RunStatus.FAILED
    assert diagnosis.readiness_level is Readiness.REVIEW_RECOMMENDED
    assert diagnosis.trust_score == 74
    assert diagnosis.runtime_metrics.errors == ("boom",)


def test_equal_ids_make_no_edge_from_an_event_to_itself() -> None:
    """Recorded: edges lead from the one id to itself, and evidence can't be told apart."""
    diagnosis = standard("duplicate_event_ids")

    assert diagnosis.failure_causes[0].evidence == ("x", "x~2", "x~3")
    assert all(edge.source != edge.target for edge in diagnosis.causal_graph.edges)
    assert [note.code for note in diagnosis.notes] == ["duplicate-event-id"]


def test_events_are_told_in_order_of_time() -> None:
    """Recorded: `precedes` follows the list, so an effect may come before its cause."""
    edges = standard("out_of_order").causal_graph.edges

    assert [(edge.source, edge.target) for edge in edges if edge.relation == "precedes"] == [
        ("event_1", "event_2"),
        ("event_2", "event_0"),
    ]


def test_null_and_absent_arguments_are_no_riddle() -> None:
    """Recorded: four calls are three duplicates in one place and a loop of three in another.

    Null is "no arguments"; absent is "not carried": such a call is compared with nothing and the gap is named.
    """
    diagnosis = standard("args_null")

    assert diagnosis.failure_causes[0].evidence == ("event_0", "event_1", "event_2")
    assert diagnosis.cost_analysis.duplicate_calls == 2
    assert "tool_arguments" in diagnosis.evidence_summary.missing


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("name", ["plugin_3_distinct", "plugin_5_distinct"])
def test_different_calls_of_the_plugin_are_no_loop(name: str, profile: Profile) -> None:
    """Recorded: what the plugin writes is not looked at, so all its calls are equal."""
    diagnosis = diagnose(read_session((CASES / f"{name}.session.json").read_bytes()), profile=profile)

    assert diagnosis.failure_causes == ()
    assert diagnosis.evidence_summary.tool_calls == int(name.split("_")[1])


@pytest.mark.parametrize("profile", Profile)
def test_tokens_in_the_payload_count(profile: Profile) -> None:
    """Recorded: the plugin's usage counts as zero."""
    diagnosis = diagnose(read_session((CASES / "plugin_tokens.session.json").read_bytes()), profile=profile)

    assert diagnosis.cost_analysis.total_tokens == 40_000
    assert diagnosis.evidence_summary.model_calls == 1


def test_a_failed_look_up_of_the_plugin_is_seen_and_counted_once() -> None:
    """Recorded: a memory look-up that failed goes unseen."""
    diagnosis = standard("plugin_memory_miss")
    (cause,) = diagnosis.failure_causes

    assert (cause.type, cause.severity, cause.basis, cause.rule) == (
        "memory_degradation",
        Severity.LOW,
        "derived",
        "memory-miss",
    )
    assert (diagnosis.evidence_summary.memory_events, diagnosis.evidence_summary.tool_errors) == (1, 1)
    assert loud(diagnosis) == []


@pytest.mark.parametrize("profile", Profile)
def test_a_call_that_two_hooks_report_is_one_call(profile: Profile) -> None:
    """Recorded: one call with two outputs."""
    session = read_session((CASES / "plugin_double_report.session.json").read_bytes())
    summary = diagnose(session, profile=profile).evidence_summary

    assert (summary.tool_calls, summary.tool_outputs) == (1, 1)
