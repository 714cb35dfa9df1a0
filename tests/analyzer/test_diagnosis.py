import json
from collections.abc import Iterator
from time import process_time
from typing import Any

import pytest
from drawn_sessions import SESSIONS
from flat_sessions import answered, call, output, plugin, session_of
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from analyzer.cause import FailureCause
from analyzer.detectors.detector import Options
from analyzer.detectors.registry import ALL
from analyzer.diagnosis import Profile, diagnose
from analyzer.session.model import Event, Session
from analyzer.session.names import kind_of
from analyzer.timeline.index import Timeline

RUN_KEYS = [
    *("run_id", "trace_ids", "agent", "status", "trust_score", "readiness_level", "evidence_level", "scores"),
    *("failure_causes", "primary_diagnosis", "causal_graph", "roots", "cost_analysis", "runtime_metrics"),
    *("evidence_summary", "notes"),
]
CAUSE_KEYS = {
    *("type", "severity", "confidence", "basis", "impact", "description", "evidence", "spans"),
    *("root_cause", "recommendation", "fingerprint"),
}
SUMMARY_KEYS = [
    *("event_count", "event_counts", "tool_calls", "tool_calls_by_name", "tool_outputs", "memory_events"),
    *("tool_errors", "retries", "errors", "state_transitions", "model_calls", "tokens", "missing"),
]


def broken(_timeline: Timeline, _options: Options) -> Iterator[FailureCause]:
    raise KeyError("gone")


@given(SESSIONS, st.sampled_from(Profile))
def test_every_session_gets_a_verdict_that_is_json(session: Session, profile: Profile) -> None:
    run = diagnose(session, profile=profile).to_dict()

    assert json.loads(json.dumps(run, allow_nan=False)) == run
    assert list(run) == RUN_KEYS
    assert list(run["evidence_summary"]) == SUMMARY_KEYS
    assert all(set(cause) >= CAUSE_KEYS and cause["evidence"] for cause in run["failure_causes"])
    assert [note for note in run["notes"] if note["code"] == "detector-failed"] == []


@given(SESSIONS)
def test_the_same_session_gives_the_same_verdict(session: Session) -> None:
    assert diagnose(session).to_dict() == diagnose(session).to_dict()


def test_a_token_total_that_is_a_lower_bound_says_why() -> None:
    known, unknown = {"event": "token_usage", "usage": {"total": 110}}, {"event": "token_usage", "model": "m"}
    session = session_of(known, unknown)

    (note,) = diagnose(session).notes
    assert (note.code, note.message) == (
        "unknown-usage",
        "usage is unknown for 1 of 2 model calls: the token total is a lower bound",
    )
    assert diagnose(session, profile=Profile.CRITIQOR_V1).notes == ()
    assert diagnose(session_of(known)).notes == ()
    assert diagnose(session_of(unknown)).notes == ()


def test_a_detector_that_fails_leaves_a_note_and_the_others_go_on() -> None:
    failing = structs.replace(ALL[0], find=dict.fromkeys(Profile, broken))

    diagnosis = diagnose(session_of({"event": "memory_event", "action": "lost"}), detectors=(failing, *ALL[1:]))

    assert [cause.type for cause in diagnosis.failure_causes] == ["memory_degradation"]
    assert [(note.code, note.message) for note in diagnosis.notes] == [
        ("detector-failed", "infinite_tool_loop: KeyError: 'gone'; the other detectors went on")
    ]


def test_a_fact_that_is_not_carried_is_null_and_named() -> None:
    run = diagnose(session_of({"event": "agent_start"})).to_dict()
    summary = run["evidence_summary"]

    assert [summary[key] for key in ("tool_calls", "tool_calls_by_name", "tool_outputs", "tool_errors")] == [None] * 4
    assert summary["tokens"] == {
        "input": None,
        "output": None,
        "cached_input": None,
        "total": None,
        "complete": False,
    }
    assert set(run["cost_analysis"].values()) == {None}
    assert run["evidence_summary"]["model_calls"] is None


def test_what_is_known_to_be_nothing_is_zero() -> None:
    answer = {"event_type": "after_provider_response", "payload": {"messages": [], "usage": {"total": 5}}}
    run = diagnose(session_of(answer)).to_dict()

    assert run["evidence_summary"]["missing"] == []
    assert run["evidence_summary"]["tool_calls_by_name"] == {}
    assert run["cost_analysis"] == {
        "total_tokens": 5,
        "token_waste": 0,
        "duplicate_calls": 0,
        "redundancy_score": 0,
        "cost_efficiency": 100,
    }


def test_the_summary_counts_calls_by_name_sorted() -> None:
    summary = diagnose(session_of(call("b"), call("a"), call("b", {"n": 1}))).evidence_summary

    assert list((summary.tool_calls_by_name or {}).items()) == [("a", 1), ("b", 2)]


def test_latency_is_the_time_from_first_to_last_event() -> None:
    events = ({"event": "input", "timestamp": f"2025-06-01T12:00:{at}Z"} for at in ("03.5", "00.0", "01.0"))

    assert diagnose(session_of(*events)).runtime_metrics.latency == 3.5


@pytest.mark.parametrize(
    ("seconds", "latency"),
    [
        ([("agent_start", 0), ("agent_end", 5), ("agent_start", 30), ("agent_end", 35)], 10),
        ([("agent_start", 0), ("agent_end", 5), ("tool_call", 20), ("agent_start", 30), ("agent_end", 35)], 35),
        ([("agent_start", 0), ("agent_end", 5), ("agent_start", 30), ("agent_end", 35), ("tool_call", 50)], 50),
        ([("agent_start", 0), ("agent_start", 4), ("agent_end", 5), ("agent_end", 35)], 35),
        ([("agent_start", 0), ("agent_end", 5), ("tool_call", 50)], 50),
    ],
)
def test_pauses_between_an_agents_runs_are_no_latency(seconds: list[tuple[str, int]], latency: float) -> None:
    events = ({"event": name, "timestamp": f"2025-06-01T12:00:{at:02d}Z"} for name, at in seconds)

    assert diagnose(session_of(*events)).runtime_metrics.latency == latency


def test_errors_are_told_once_each_in_their_own_words() -> None:
    told = {"event_type": "error", "payload": {"message": "no network", "error_type": "OSError"}}
    diagnosis = diagnose(session_of(told, *answered(ValueError("boom"), ValueError("boom")), told))

    assert diagnosis.runtime_metrics.errors == ("boom", "no network")
    assert diagnosis.evidence_summary.tool_errors == 2


def test_what_a_run_ended_with_is_its_last_error_however_many_tools_failed() -> None:
    failures = [event for number in range(30) for event in answered(ValueError(f"boom {number}"))]
    errors = diagnose(session_of(*failures, {"event_type": "error", "error": "crashed"})).runtime_metrics.errors

    assert (len(errors), errors[-1]) == (20, "crashed")


@pytest.mark.parametrize(
    ("events", "level"),
    [
        ([], "response_only"),
        ([plugin("message_sent")], "trace_available"),
        ([plugin("message_sent"), call()], "fully_instrumented"),
    ],
)
def test_the_evidence_level_tells_what_the_verdict_rests_on(events: list[dict[str, Any]], level: str) -> None:
    assert diagnose(session_of(*events)).evidence_level == level


def test_the_spans_of_the_evidence_are_told_in_its_order() -> None:
    span = {"trace_id": "a" * 32, "span_id": "b" * 16}
    events = [call(span={**span, "span_id": f"{number:016x}"}) for number in (3, 1, 2)]

    (cause,) = diagnose(session_of(*events)).failure_causes

    assert [int(ref.span_id, 16) for ref in cause.spans] == [3, 1, 2]


def test_a_failure_has_the_same_fingerprint_in_every_run() -> None:
    first = diagnose(session_of(*answered(*"aaa"), run_id="one"))
    second = diagnose(session_of({"event": "input"}, *answered(*"aaaa"), run_id="two"))
    other = diagnose(session_of(*answered(*"aaa", args={"q": "beta"})))

    marks = [diagnosis.failure_causes[0].fingerprint for diagnosis in (first, second, other)]

    assert marks[0] == marks[1] != marks[2]


def test_tokens_alone_are_reported_where_a_budget_is_set() -> None:
    session = session_of({"event": "token_usage", "usage": {"total": 50_000}}, call(), output())

    assert diagnose(session).failure_causes == ()
    assert [cause.type for cause in diagnose(session, options=Options(token_budget=40_000)).failure_causes] == [
        "cost_explosion"
    ]


def nested(depth: int) -> Any:
    value: Any = {"error": "boom"}
    for _ in range(depth):
        value = {"content": [value]}
    return value


@pytest.mark.parametrize("profile", Profile)
def test_values_nested_without_end_get_a_verdict(profile: Profile) -> None:
    names = (
        *("agent_start", "tool_call", "tool_result", "memory_search", "before_provider_request"),
        *("after_provider_response", "context", "error", "agent_end"),
    )
    keys = ("input", "result", "usage", "records", "messages", "message")
    events = tuple(
        Event(
            event_id=f"{turn}{name}",
            event=kind_of(name),
            event_type=name,
            tool_name="t",
            payload=dict.fromkeys(keys, nested(3_000)),
            error=nested(3_000),
        )
        for turn in range(3)
        for name in names
    )

    run = diagnose(Session(run_id="deep", events=events), profile=profile)

    assert [cause.type for cause in run.failure_causes][:1] == ["infinite_tool_loop"]
    assert len(json.dumps(run.to_dict())) < 20_000


def many(count: int) -> Session:
    events: list[Event] = []
    for number in range(count // 4):
        tool = {"tool_name": f"tool{number % 7}", "tool_call_id": f"c{number}"}
        at = number * 4
        payload = {"input": {"q": f"alpha {number % (count // 40 or 1)}"}}
        events += (
            Event(event_id=f"e{at}", event="tool_call", event_type="tool_call", time_ns=at, payload=payload, **tool),
            Event(
                event_id=f"e{at + 1}",
                event="tool_output",
                event_type="tool_result",
                time_ns=at + 1,
                status="ok",
                payload={"result": f"found {number % 5}"},
                **tool,
            ),
            Event(event_id=f"e{at + 2}", event="retry_event", event_type="retry", time_ns=at + 2),
            Event(
                event_id=f"e{at + 3}",
                event="memory_event",
                event_type="memory_search",
                time_ns=at + 3,
                status="ok",
                payload={"record_count": number % 2},
            ),
        )
    return Session(run_id="many", events=tuple(events))


@pytest.mark.parametrize("profile", Profile)
def test_time_grows_no_faster_than_the_events(profile: Profile) -> None:
    def seconds(session: Session) -> float:
        spent: list[float] = []
        for _ in range(3):
            start = process_time()
            diagnose(session, profile=profile)
            spent.append(process_time() - start)
        return min(spent)

    small, large = many(5_000), many(20_000)

    assert seconds(large) <= 8 * seconds(small)  # a quadratic step makes it sixteen times
