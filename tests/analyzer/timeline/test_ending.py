from typing import Any

import pytest
from flat_sessions import session_of

from analyzer.profile import Profile
from analyzer.timeline.ending import RunStatus
from analyzer.timeline.index import build_timeline

START, END = {"event": "agent_start"}, {"event": "agent_end"}
FAILED = {"event": "agent_end", "status": "error"}
EXIT = {code: {"event": "process_end", "exit_code": code} for code in (0, 1, None)}
SUB_START = {"event_type": "agent_start", "payload": {"sub_agent": True}, "span": {"trace_id": "t", "span_id": "s"}}
SUB_FAILED = {"event_type": "agent_end", "status": "error", "span": {"trace_id": "t", "span_id": "s"}}
RUNS: dict[str, tuple[list[dict[str, Any]], RunStatus]] = {
    "nothing": ([], RunStatus.UNKNOWN),
    "an agent that ended": ([START, END], RunStatus.COMPLETED),
    "an agent that failed": ([START, FAILED], RunStatus.FAILED),
    "an agent with an error": ([START, {**END, "error": "boom"}], RunStatus.FAILED),
    "an agent that never ended": ([START], RunStatus.UNFINISHED),
    "a span that was still open": ([START, {**END, "payload": {"unfinished": True}}], RunStatus.UNFINISHED),
    "a second try that ended well": ([START, FAILED, START, END], RunStatus.COMPLETED),
    "a second try that never ended": ([START, END, START], RunStatus.UNFINISHED),
    "a sub-agent that failed": ([START, SUB_START, SUB_FAILED, END], RunStatus.COMPLETED),
    "exit 0": ([EXIT[0]], RunStatus.COMPLETED),
    "exit 1": ([START, END, EXIT[1]], RunStatus.FAILED),
    "stopped for its time": ([EXIT[None]], RunStatus.FAILED),
    "exit 0 of an agent that failed": ([START, FAILED, EXIT[0]], RunStatus.FAILED),
    "a process that never ended": ([{"event": "process_start"}], RunStatus.UNFINISHED),
    "the end of a session": ([{"event": "session_start"}, {"event": "session_end"}], RunStatus.COMPLETED),
}


@pytest.mark.parametrize(("events", "status"), RUNS.values(), ids=RUNS)
def test_how_a_run_ended(events: list[dict[str, Any]], status: RunStatus) -> None:
    assert build_timeline(session_of(*events), Profile.STANDARD).status is status


@pytest.mark.parametrize(
    ("recorded", "status"),
    [
        ("COMPLETED", RunStatus.COMPLETED),
        ("ABORTED", RunStatus.FAILED),
        ("MONITORING", RunStatus.UNFINISHED),
        (7, RunStatus.UNKNOWN),
    ],
)
def test_a_run_record_tells_where_events_do_not(recorded: object, status: RunStatus) -> None:
    assert build_timeline(session_of(status=recorded), Profile.STANDARD).status is status
