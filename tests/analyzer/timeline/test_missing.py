from typing import Any

import pytest
from flat_sessions import call, output, session_of

from analyzer.profile import Profile
from analyzer.timeline.index import build_timeline

REQUEST = {"event_type": "before_provider_request", "payload": {"model": "m", "messages": []}}
TOOLS = ("tool_calls", "tool_arguments", "tool_results", "tool_errors")


def response(**payload: Any) -> dict[str, Any]:
    return {"event_type": "after_provider_response", "payload": {"usage": {"total": 1}, **payload}}


ANSWER = response(messages=[{"role": "assistant", "text": "done"}])
RUNS: dict[str, tuple[list[dict[str, Any]], tuple[str, ...]]] = {
    "nothing": ([], ("tokens", "model_calls", *TOOLS)),
    "all of it": ([REQUEST, call(), output(), ANSWER], ()),
    "an answer that shows that no tool was asked for": ([REQUEST, ANSWER], ()),
    "a finish reason that shows it": ([REQUEST, response(finish_reasons=["stop"])], ()),
    "a finish reason that shows a tool nobody sees": ([REQUEST, response(finish_reasons=["tool_calls"])], TOOLS),
    "model calls that show nothing": ([{"event_type": "before_provider_request"}, response()], (*TOOLS, "messages")),
    "no usage": ([REQUEST, {"event_type": "after_provider_response", "payload": {"messages": []}}], ("tokens",)),
    "no model call": ([call(), output()], ("tokens", "model_calls")),
    "no arguments": ([{"event": "tool_call", "tool": "a"}, output(tool="a"), ANSWER], ("tool_arguments",)),
    "no result": ([call(), {"event": "tool_output", "tool": "search", "status": "ok"}, ANSWER], ("tool_results",)),
    "no result and no outcome": (
        [call(), {"event": "tool_output", "tool": "search"}, ANSWER],
        ("tool_results", "tool_errors"),
    ),
    "an error stands in for the result": (
        [call(), {"event": "tool_output", "tool": "search", "error": "boom"}, ANSWER],
        (),
    ),
    "no output though the run went on": ([call(), ANSWER], ("tool_results", "tool_errors")),
    "a call in flight at the end": ([ANSWER, call()], ()),
    "a run cut off during a call": ([{"event": "agent_start"}, call(), ANSWER], ()),
    "no output at all": ([call(args={"n": 1}), call(args={"n": 2})], ("tokens", "model_calls", *TOOLS[2:])),
}


@pytest.mark.parametrize(("events", "missing"), RUNS.values(), ids=RUNS)
def test_a_fact_that_is_not_carried_is_named(events: list[dict[str, Any]], missing: tuple[str, ...]) -> None:
    assert build_timeline(session_of(*events), Profile.STANDARD).missing == missing


def test_pseudo_tools_need_neither_arguments_nor_results() -> None:
    pseudo = {"event_type": "tool_call", "tool_name": "final_answer", "payload": {"pseudo": True}}

    assert build_timeline(session_of(REQUEST, pseudo, ANSWER), Profile.STANDARD).missing == ()


def test_an_answer_that_only_a_later_request_sends_is_a_model_call_unseen() -> None:
    asks = {"role": "assistant", "tool_requests": [{"id": "c1", "name": "search"}]}
    request = {"event_type": "before_provider_request", "payload": {"messages": [asks]}}
    events = (call(tool_call_id="c1"), output(tool_call_id="c1"), request, ANSWER)

    timeline = build_timeline(session_of(*events), Profile.STANDARD)

    assert timeline.missing == ("tokens", "model_calls")
    assert not timeline.tokens.complete


def test_an_answer_of_an_earlier_conversation_is_none_of_this_run() -> None:
    asks = {"role": "assistant", "tool_requests": [{"id": "yesterday", "name": "search"}]}
    request = {"event_type": "before_provider_request", "payload": {"messages": [asks]}}

    assert build_timeline(session_of(request, ANSWER), Profile.STANDARD).missing == ()
