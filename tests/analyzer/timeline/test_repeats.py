from typing import Any

import pytest
from flat_sessions import answered, call, output, session_of

from analyzer.profile import Profile
from analyzer.timeline.index import build_timeline
from analyzer.timeline.repeats import Repetition

BAD = ValueError("boom")


def repetitions(*events: Any) -> tuple[Repetition, ...]:
    return build_timeline(session_of(*events), Profile.STANDARD).repetitions


@pytest.mark.parametrize(
    ("results", "fruitless", "mark", "wasted"),
    [
        (["a", "a"], 2, None, 1),
        (["a", "a", "a"], 3, None, 2),
        (["a", "b", "c"], 1, "progressing", 0),
        (["wait", "wait", "wait", "wait", "done"], 1, "progressing", 0),
        (["a", "b", "b", "b"], 3, None, 2),
        (["a", "b", "a", "b", "a"], 4, None, 3),
        ([BAD, BAD, BAD], 3, None, 0),
        ([BAD, BAD, "a"], 1, "recovered", 0),
        ([BAD, BAD, BAD, "a"], 1, "recovered", 0),
        (["a", BAD, BAD, BAD], 4, None, 0),
        (["a", BAD, "a"], 3, None, 0),
    ],
)
def test_what_a_repetition_taught(results: list[Any], fruitless: int, mark: str | None, wasted: int) -> None:
    (repetition,) = repetitions(*answered(*results))

    assert (repetition.fruitless, repetition.mark, len(repetition.wasted)) == (fruitless, mark, wasted)


def test_a_result_that_is_not_known_is_no_news() -> None:
    (repetition,) = repetitions(call(), call(), call())

    assert (repetition.fruitless, repetition.duplicates, repetition.wasted) == (3, 2, ())


def test_what_the_user_asks_for_again_is_no_repetition() -> None:
    asked = {"event": "message_received"}

    assert repetitions(asked, *answered("a"), asked, *answered("a"), asked, *answered("a")) == ()


def test_agents_do_not_repeat_each_other() -> None:
    def of(agent: str) -> dict[str, Any]:
        return {"event_type": "tool_call", "tool_name": "a", "payload": {"agent": agent, "input": {}}}

    assert repetitions(of("one"), of("two"), of("three")) == ()


def test_parallel_calls_are_compared_with_their_own_results() -> None:
    (repetition,) = repetitions(
        call(tool_call_id="a"), call(tool_call_id="b"), output("x", tool_call_id="b"), output("y", tool_call_id="a")
    )

    assert [found.result for found in repetition.calls] == ["y", "x"]
    assert repetition.wasted == ()
