"""How full contexts were, and whether they were cut."""

from typing import Any

import pytest
from flat_sessions import Raw, session_of

from analyzer.profile import Profile
from analyzer.timeline.contexts import Context, contexts_of
from analyzer.timeline.index import build_timeline


def call(tokens: int, *, model: str = "gpt-4o", agent: str | None = None) -> Raw:
    payload: dict[str, Any] = {"model": model, "usage": {"input_tokens": tokens, "output_tokens": 9}}
    if agent is not None:
        payload["agent"] = agent
    return {"event": "token_usage", "event_type": "after_provider_response", "payload": payload}


def contexts(*calls: Raw, windows: dict[str, int] | None = None, told: int | None = None) -> list[Context]:
    return contexts_of(build_timeline(session_of(*calls), Profile.STANDARD), windows or {}, told)


def sizes(*tokens: int) -> tuple[list[list[int]], list[bool]]:
    found = contexts(*map(call, tokens))
    return [[fill.tokens for fill in one.fills] for one in found], [one.cut_from is not None for one in found]


@pytest.mark.parametrize(
    ("tokens", "groups", "cut"),
    [
        ((10, 20, 40, 90), [[10, 20, 40, 90]], [False]),
        ((40, 90, 60), [[40, 90, 60]], [False]),
        ((20, 60, 90, 25, 30), [[20, 60, 90], [25, 30]], [False, True]),
        ((60, 90, 5, 9, 92), [[60, 90, 92], [5, 9]], [False, False]),
        ((60, 90, 30, 4, 31, 91), [[60, 90, 91], [30, 31], [4]], [False, False, False]),
        ((20, 60, 90, 20, 40), [[20, 60, 90], [20, 40]], [False, False]),
        ((9, 90, 20, 50, 90, 21, 40), [[9, 90], [20, 50, 90], [21, 40]], [False, True, False]),
    ],
    ids=["grows", "shrinks a little", "cut", "sub-agent", "nested sub-agents", "new conversation", "cut, then anew"],
)
def test_calls_are_told_apart_by_what_they_send(
    tokens: tuple[int, ...], groups: list[list[int]], cut: list[bool]
) -> None:
    assert sizes(*tokens) == (groups, cut)


def test_each_agent_has_contexts_of_its_own() -> None:
    found = contexts(call(90, agent="a"), call(5, agent="b"), call(95, agent="a"))

    assert [[fill.tokens for fill in one.fills] for one in found] == [[90, 95], [5]]


def test_a_request_larger_than_its_window_proves_the_table_wrong() -> None:
    (one,) = contexts(call(120_000), call(150_000))

    assert [fill.percent for fill in one.fills] == [None, None]


def test_a_window_that_the_run_tells_of_goes_before_settings_and_table() -> None:
    known = [
        contexts(call(32_000), windows=windows, told=told)[0].fills[0].percent
        for windows, told in (({}, None), ({"gpt-4o": 64_000}, None), ({"gpt-4o": 64_000}, 40_000))
    ]

    assert known == [25, 50, 80]


def test_calls_without_usage_are_passed_over() -> None:
    silent = {"event": "token_usage", "event_type": "after_provider_response", "payload": {"model": "gpt-4o"}}

    assert contexts(silent) == []


def test_many_cuts_cost_no_more_than_their_calls() -> None:
    found = contexts(*(call(tokens) for _ in range(1_000) for tokens in (20_000, 60_000, 90_000)))

    assert len(found) == 1_000
