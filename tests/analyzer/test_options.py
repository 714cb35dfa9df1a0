"""What a user sets changes what is found; the recorded profile stays as it is."""

from typing import Any

import pytest
from flat_sessions import Raw, answered, call, output, session_of

from analyzer.detectors.registry import ALL
from analyzer.diagnosis import Profile, diagnose
from analyzer.options import Options, names


def found(*events: Raw, profile: Profile = Profile.STANDARD, **options: Any) -> set[tuple[str, str]]:
    """Return type and severity of what is found."""
    causes = diagnose(session_of(*events), profile=profile, options=Options(**options)).failure_causes
    return {(cause.type, cause.severity.value) for cause in causes}


def said(text: str) -> Raw:
    return {"event": "state_transition", "event_type": "agent_end", "payload": {"output": text}}


def tokens(total: int) -> Raw:
    return {"event": "token_usage", "usage": {"total": total}}


LOOP = answered(*["none"] * 4)


def test_more_equal_calls_may_be_allowed() -> None:
    assert ("infinite_tool_loop", "high") in found(*LOOP)
    assert "infinite_tool_loop" not in dict(found(*LOOP, loop_calls=5))


def test_a_loop_may_be_critical_sooner() -> None:
    assert ("infinite_tool_loop", "critical") in found(*LOOP, critical_loop_calls=4)


@pytest.mark.parametrize("pattern", ["search", "sea*"])
def test_a_tool_that_is_meant_to_poll_neither_loops_nor_wastes(pattern: str) -> None:
    events = (*LOOP, tokens(20_000))

    assert {"infinite_tool_loop", "cost_explosion"} <= set(dict(found(*events)))
    assert not {"infinite_tool_loop", "cost_explosion"} & set(dict(found(*events, polling_tools=(pattern,))))


def test_what_many_tokens_are_may_be_set() -> None:
    events = (*LOOP[:4], tokens(20_000))

    assert ("cost_explosion", "high") in found(*events)
    assert ("cost_explosion", "critical") in found(*events, critical_tokens=15_000)
    assert "cost_explosion" not in dict(found(*events, many_tokens=30_000))


def test_how_full_is_full_may_be_set() -> None:
    event = {"event": "context_event", "saturation": 80}

    assert "context_pollution" not in dict(found(event))
    assert ("context_pollution", "medium") in found(event, saturation=75)
    assert ("context_pollution", "high") in found(event, saturation=75, high_saturation=80)


def test_a_window_may_be_named() -> None:
    event = {
        "event": "token_usage",
        "event_type": "after_provider_response",
        "payload": {"model": "house-7", "usage": {"input_tokens": 30_000, "output_tokens": 5}},
    }

    assert "context_pollution" not in dict(found(event))
    assert ("context_pollution", "medium") in found(event, windows={"house-*": 32_768})


def test_what_a_tool_with_side_effects_gives_back_need_not_come_up_again() -> None:
    events = (call("fetch_book"), output("seat 42C, locator QX81ZT", "fetch_book"), said("Sorry, no."))

    assert ("ignoring_tool_outputs", "low") in found(*events)
    assert "ignoring_tool_outputs" not in dict(found(*events, side_effect_tools=("fetch_*",)))


@pytest.mark.parametrize("profile", Profile)
def test_what_is_off_is_not_looked_for(profile: Profile) -> None:
    every_type = tuple(detector.failure_type for detector in ALL)

    assert found(*LOOP, tokens(40_000), profile=profile)
    assert found(*LOOP, tokens(40_000), profile=profile, off=every_type) == set()


def test_the_recorded_profile_keeps_its_numbers() -> None:
    events = (*LOOP, tokens(20_000), {"event": "context_event", "saturation": 90})
    told = {"loop_calls": 9, "many_tokens": 90_000, "saturation": 99, "polling_tools": ("search",)}

    assert found(*events, profile=Profile.CRITIQOR_V1, **told) == found(*events, profile=Profile.CRITIQOR_V1)


@pytest.mark.parametrize(
    ("patterns", "name", "among"),
    [
        (("a", "b"), "b", True),
        (("get_*",), "get_x", True),
        (("*",), None, False),
        ((), "a", False),
        (("A",), "a", False),
    ],
)
def test_a_name_is_among_patterns_or_not(patterns: tuple[str, ...], name: str | None, among: bool) -> None:  # noqa: FBT001
    assert names(patterns, name) is among
