from typing import Any

import pytest
from flat_sessions import answered, call, output, plugin, session_of

from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT
from analyzer.session.model import Session
from analyzer.timeline.index import Timeline, build_timeline

BOTH = pytest.mark.parametrize("profile", Profile)


def timeline_of(*events: Any) -> Timeline:
    return build_timeline(session_of(*events), Profile.STANDARD)


def hooks(call_id: str, *names: str, tool: str = "read", **payload: Any) -> list[dict[str, Any]]:
    return [plugin(name, toolName=tool, toolCallId=call_id, **payload) for name in names]


def test_outputs_are_paired_by_call_id_whatever_their_order() -> None:
    timeline = timeline_of(
        *(call("get", {"city": city}, tool_call_id=city) for city in ("oslo", "rome", "lima")),
        *(output(f"{city} is fine", "get", tool_call_id=city) for city in ("lima", "oslo", "rome")),
    )

    assert [(found.arguments, found.result) for found in timeline.calls] == [
        ({"city": "oslo"}, "oslo is fine"),
        ({"city": "rome"}, "rome is fine"),
        ({"city": "lima"}, "lima is fine"),
    ]
    assert timeline.orphan_outputs == ()


def test_without_ids_outputs_are_paired_by_tool_first_come_first_served() -> None:
    timeline = timeline_of(
        call("a", {"n": 1}),
        call("b"),
        call("a", {"n": 2}),
        output("first", "a"),
        output("b's", "b"),
        output("second", "a"),
    )

    assert [found.result for found in timeline.calls] == ["first", "b's", "second"]


def test_an_output_that_came_before_its_call_is_paired_by_id() -> None:
    timeline = timeline_of(output("early", tool_call_id="c"), call(tool_call_id="c"))

    assert [found.result for found in timeline.calls] == ["early"]


def test_an_output_without_a_call_is_kept_and_counted() -> None:
    timeline = timeline_of(output("lost", tool_call_id="x"), call("other", tool_call_id="y"))

    assert [event.event_id for event in timeline.orphan_outputs] == ["event_0"]
    assert len(timeline.output_events) == 1
    assert timeline.calls[0].result is ABSENT


@BOTH
def test_both_hooks_of_one_call_are_one_call(profile: Profile) -> None:
    events = hooks("c1", "tool_call", "tool_execution_start", "tool_execution_end", "tool_result", input={"path": "a"})

    timeline = build_timeline(session_of(*events), profile)

    assert [found.event_ids for found in timeline.calls] == [("event_0", "event_1", "event_2", "event_3")]
    assert len(timeline.output_events) == 1


def test_both_hooks_of_one_call_are_one_call_in_a_finalised_file() -> None:
    names = {"tool_call": "tool_call", "tool_execution_end": "tool_output", "tool_result": "tool_output"}
    events = [
        {
            "event": kind,
            "event_type": kind,
            "tool_name": "read",
            "tool_call_id": "c1",
            "payload": {"openclaw_event_type": name},
        }
        for name, kind in names.items()
    ]

    timeline = timeline_of(*events)

    assert (len(timeline.calls), len(timeline.output_events)) == (1, 1)


def test_an_id_that_is_used_again_is_another_call() -> None:
    timeline = timeline_of(
        *hooks("c1", "tool_call", "tool_result", input=1), *hooks("c1", "tool_call", "tool_result", input=2)
    )

    assert [found.arguments for found in timeline.calls] == [1, 2]
    assert [found.output_id for found in timeline.calls] == ["event_1", "event_3"]


def test_arguments_come_from_the_hook_that_has_them() -> None:
    timeline = timeline_of(*hooks("c1", "tool_call"), *hooks("c1", "tool_execution_start", args={"path": "a"}))

    assert timeline.calls[0].arguments == {"path": "a"}
    assert timeline.calls[0].fingerprint == ("read", b'{"path":"a"}')


def test_a_fingerprint_does_not_depend_on_the_order_of_keys() -> None:
    timeline = timeline_of(call(args={"a": 1, "b": {"c": [1], "d": 2}}), call(args={"b": {"d": 2, "c": [1]}, "a": 1}))

    assert len(timeline.calls_by_fingerprint) == 1


def test_values_that_look_alike_have_fingerprints_of_their_own() -> None:
    timeline = timeline_of(*(call(args={"n": value}) for value in (1, 1.0, True, "1", None)))

    assert len(timeline.calls_by_fingerprint) == 5


def test_null_arguments_are_no_arguments_and_json_text_is_its_object() -> None:
    timeline = timeline_of(
        {"event": "tool_call", "tool": "a", "args": None},
        {"event": "tool_call", "tool": "a", "args": {}},
        {"event": "tool_call", "tool": "a", "args": "{}"},
    )

    assert len(timeline.calls_by_fingerprint) == 1


def test_a_call_whose_arguments_are_not_carried_has_no_fingerprint() -> None:
    timeline = timeline_of({"event": "tool_call", "tool": "a"})

    assert timeline.calls[0].arguments is ABSENT
    assert timeline.calls_by_fingerprint == {}


def test_a_call_whose_arguments_were_cut_has_no_fingerprint() -> None:
    cut = ('{"path": "a.py", "text": "import os', '{"path": "a.py", ', '{"lines": [1, 2')
    timeline = timeline_of(*(call("write", text) for text in cut for _ in range(2)))

    assert timeline.calls_by_fingerprint == {}


def test_a_keyed_fingerprint_stands_in_for_arguments_that_are_not_carried() -> None:
    bare = {"event_type": "tool_call", "tool_name": "a"}
    timeline = timeline_of(*({**bare, "payload": {"input_fingerprint": digest}} for digest in ("x", "x", "y")))

    assert [len(calls) for calls in timeline.calls_by_fingerprint.values()] == [2, 1]


def test_pseudo_tools_are_calls_but_no_work() -> None:
    pseudo = {"event_type": "tool_call", "tool_name": "final_answer", "payload": {"pseudo": True, "input": {}}}

    timeline = timeline_of(call(), pseudo)

    assert (len(timeline.calls), len(timeline.work)) == (2, 1)


def test_events_are_put_in_order_of_time() -> None:
    first, second = call(args={"n": 1}), call(args={"n": 2})

    timeline = timeline_of(
        {**second, "timestamp": "2025-06-01T12:00:09Z"}, {**first, "timestamp": "2025-06-01T12:00:01Z"}
    )

    assert [found.arguments for found in timeline.calls] == [{"n": 1}, {"n": 2}]


def test_an_event_without_a_time_stays_behind_the_one_before_it() -> None:
    at = "2025-06-01T12:00:0{}Z".format
    session = session_of(
        {"event": "input", "event_id": "c", "timestamp": at(3)},
        {"event": "input", "event_id": "d", "timestamp": None},
        {"event": "input", "event_id": "a", "timestamp": at(1)},
    )

    assert [event.event_id for event in build_timeline(session, Profile.STANDARD).events] == ["a", "c", "d"]


def test_the_recorded_profile_keeps_the_order_of_the_list() -> None:
    session = session_of(
        {"event": "input", "timestamp": "2025-06-01T12:00:09Z"}, {"event": "input", "timestamp": "2025-06-01T12:00:01Z"}
    )

    assert build_timeline(session, Profile.CRITIQOR_V1).events == session.events


def test_equal_ids_are_numbered_apart_with_one_note() -> None:
    same = {"event": "input", "event_id": "x"}
    session = session_of(same, same, {"event": "input", "event_id": "x~2"}, same)

    timeline = build_timeline(session, Profile.STANDARD)

    assert [event.event_id for event in timeline.events] == ["x", "x~3", "x~2", "x~4"]
    assert [(note.code, note.event_id) for note in timeline.notes] == [("duplicate-event-id", "x")]


@pytest.mark.parametrize(
    ("retry", "tied_to"),
    [
        ({"tool": "search"}, "event_2"),
        ({"tool": "other"}, None),
        ({"tool": "search", "args": {"q": "beta"}}, "event_0"),
        ({"tool_call_id": "first"}, "event_0"),
        ({}, "event_2"),
        ({"payload": {"model": "m", "reason": "rate limit"}}, None),
    ],
)
def test_a_retry_belongs_to_the_call_it_names_or_stands_next_to(retry: dict[str, Any], tied_to: str | None) -> None:
    timeline = timeline_of(
        call(args={"q": "beta"}, tool_call_id="first"),
        output(tool_call_id="first"),
        call(),
        {"event": "retry_event", **retry},
    )

    assert list(timeline.retries_of) == ([] if tied_to is None else [tied_to])


def test_a_nameless_retry_after_a_model_call_belongs_to_no_call() -> None:
    request = {"event_type": "before_provider_request", "payload": {}}

    assert timeline_of(call(), output(), request, {"event": "retry_event"}).retries_of == {}


def test_a_nameless_retry_before_a_call_belongs_to_that_call() -> None:
    request = {"event_type": "before_provider_request", "payload": {}}

    assert list(timeline_of(request, {"event": "retry_event"}, call()).retries_of) == ["event_2"]


def test_deep_arguments_have_a_fingerprint() -> None:
    deep: Any = 1
    for _ in range(20_000):
        deep = [deep]
    session = session_of(call("a"), *answered("x"))
    event = session.events[0]
    deep_event = type(event)(
        event_id="deep", event="tool_call", event_type="tool_call", tool_name="a", payload={"input": deep}
    )

    timeline = build_timeline(Session(run_id="r", events=(deep_event, deep_event)), Profile.STANDARD)

    assert [len(calls) for calls in timeline.calls_by_fingerprint.values()] == [2]


@pytest.mark.parametrize("kind", ["tool_call", "tool_output"])
def test_names_that_no_hook_bears_do_not_make_one_call_grow_without_end(kind: str) -> None:
    call = {"event": "tool_call", "tool": "search", "tool_call_id": "c"}
    named = [
        {**call, "event": kind, "payload": {"openclaw_event_type": f"hook {number}"}, "event_id": f"{number}"}
        for number in range(100)
    ]

    calls = build_timeline(session_of(call, *named), Profile.STANDARD).calls

    assert max(len(one.event_ids) for one in calls) <= 20
