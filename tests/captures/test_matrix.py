"""One script, whoever tells of it: families whose agent did the same give the same session.

A run is reduced to what its agent did, in order (tool, arguments, result of a success, message of a failure), and what
it answered. What a family does not carry is named here or in `not_carried`, with the reason.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from captured import SCENARIOS, facts_told, sessions_of
from not_carried import ABSENT, PARTIAL, named

from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT as NOT_THERE
from analyzer.session.accessors import payload_of
from analyzer.session.model import Event
from analyzer.timeline.call import Call
from analyzer.timeline.index import build_timeline

TOOLS = {"search_docs", "get_price", "flaky_fetch"}


class Step(NamedTuple):
    """One tool call; None is what nobody told."""

    tool: str | None
    arguments: Any
    result: Any = None
    failed: bool | None = False
    error: str | None = None


class Script(NamedTuple):
    """What an agent did and answered."""

    steps: list[Step]
    answer: str | None


SEARCH = Step("search_docs", {"query": "refund policy"}, "3 documents about refund policy")
PRICE = Step("get_price", {"sku": "A-17"}, {"sku": "A-17", "price": 19.5})
URL = {"url": "https://x.test/a"}
TIMEOUT = "upstream timeout for https://x.test/a (attempt {})"
QUOTED = "Refunds take 5 days; A-17 costs $19.50."
SCRIPTS: Mapping[str, Script] = {
    "clean_two_tools": Script([SEARCH, PRICE], QUOTED),
    "provider_429_retry": Script([SEARCH, PRICE], QUOTED),
    "repeat_identical_calls": Script([SEARCH], "I could not find more."),
    "repeat_no_root_many_traces": Script([SEARCH], "I could not find more."),
    "token_heavy": Script(
        [Step("search_docs", {"query": query}, f"3 documents about {query}") for query in ("q1", "q2")], "Summary."
    ),
    "tool_error_then_retry": Script(
        [
            *(Step("flaky_fetch", URL, None, failed=True, error=TIMEOUT.format(attempt)) for attempt in (1, 2)),
            Step("flaky_fetch", URL, "payload ok"),
        ],
        "Fetched: payload ok",
    ),
}

NO_ANSWER: Mapping[str, str] = {
    "google_adk": "content capture was off",
    "litellm_otel": "content capture was off",
    "openllmetry_crewai/repeat_identical_calls": "the run was stopped before it answered",
    "otel_genai_openai_agents": "the answer stands on model spans, which are not there",
    "otel_openai_v2_nocontent": "content capture was off",
    "pydantic_ai_nocontent": "content capture was off",
}
NO_ERROR_MESSAGE: Mapping[str, str] = {
    "google_adk": "content capture was off; the span has the error's type",
    "openinference_openai_agents": "the SDK redacts what tools raise",
    "otel_genai_openai_agents": "the SDK redacts what tools raise",
    "otel_genai_openai_agents_full": "the SDK redacts what tools raise",
}


def shared(scenario: str) -> bool:
    """Tell whether the agent of a capture is the one that many families share."""
    called = set(facts_told(scenario).get("tool_calls") or ())
    return bool(called) and called <= TOOLS


MATRIX = [scenario for scenario in SCENARIOS if shared(scenario)]


def script_of(scenario: str) -> Script:
    """Return what the agent of a capture was told to do; how often it repeated itself stands in the facts."""
    name = scenario.partition("/")[2]
    script = SCRIPTS[name]
    times = facts_told(scenario)["max_identical_calls"] if name.startswith("repeat") else 1
    return script._replace(steps=script.steps * times)


def reduced(scenario: str) -> Script:
    """Return what the traces of a capture tell."""
    timelines = [build_timeline(session, Profile.STANDARD) for session in sessions_of(scenario)]
    timelines.sort(key=lambda timeline: timeline.events[0].time_ns or 0)
    steps = [step_of(call) for timeline in timelines for call in timeline.work]
    return Script(steps, answer_of([event for timeline in timelines for event in timeline.events]))


def step_of(call: Call) -> Step:
    failed = None if call.status is None else call.status == "error"
    return Step(
        tool=call.tool,
        arguments=None if call.arguments is NOT_THERE else call.arguments,
        result=None if failed or call.result is NOT_THERE else call.result,
        failed=failed,
        error=bare(call.error) if failed else None,
    )


def bare(error: str | None) -> str | None:
    """Return an error's message without the words that libraries put before it: `Error: TimeoutError: …`."""
    return None if error is None else re.sub(r"^(?:Error: )?(?:[\w.]*(?:Error|Exception): )?", "", error)


def answer_of(events: list[Event]) -> Any:
    """Return the last word of the agent: its output, else what its model or the agent itself said last."""
    outputs = [payload_of(event).get("output") for event in events if event.event_type == "agent_end"]
    said = [text for event in events for text in texts(event)]
    return next((output for output in reversed(outputs) if output is not None), said[-1] if said else None)


def texts(event: Event) -> list[str]:
    payload = payload_of(event)
    if event.event_type == "message_sent":
        return [payload["text"]]
    if event.event_type != "after_provider_response":
        return []
    return [message["text"] for message in payload.get("messages", ()) if message.get("text")]


def excused(table: Mapping[str, str], scenario: str) -> bool:
    return scenario in table or scenario.partition("/")[0] in table


def lacking(scenario: str) -> set[str]:
    """Return the facts that a capture is known to lack; those it may have in part, where it says that it lacks them."""
    names = scenario.split("/")
    said = {fact for session in sessions_of(scenario) for fact in build_timeline(session, Profile.STANDARD).missing}
    return named(ABSENT, *names) | (named(PARTIAL, *names) & said)


BLANKS: Mapping[str, Mapping[str, None]] = {
    "tool_arguments": {"arguments": None},
    "tool_results": {"result": None},
    "tool_errors": {"failed": None, "error": None},
}


def without(script: Script, scenario: str) -> Script:
    """Return as much of a script as the family of a capture carries."""
    absent = lacking(scenario)
    blank: dict[str, Any] = {"error": None} if excused(NO_ERROR_MESSAGE, scenario) else {}
    for fact in sorted(absent & BLANKS.keys()):
        blank |= BLANKS[fact]
    steps = [] if "tool_calls" in absent else [step._replace(**blank) for step in script.steps]
    return Script(steps, None if excused(NO_ANSWER, scenario) else script.answer)


@pytest.mark.parametrize("scenario", MATRIX)
def test_a_capture_tells_the_script(scenario: str) -> None:
    told, script = reduced(scenario), script_of(scenario)

    assert without(told, scenario) == without(script, scenario)


@pytest.mark.parametrize("scenario", MATRIX)
def test_what_is_excused_is_not_there(scenario: str) -> None:
    told, script = reduced(scenario), script_of(scenario)

    assert not excused(NO_ANSWER, scenario) or told.answer is None
    if excused(NO_ERROR_MESSAGE, scenario):
        messages = {step.error for step in script.steps if step.error is not None}
        assert messages.isdisjoint(step.error for step in told.steps)


def test_most_families_carry_the_whole_script() -> None:
    whole = {scenario.partition("/")[0] for scenario in MATRIX if reduced(scenario) == script_of(scenario)}

    assert len(whole) >= 20


def test_every_scenario_of_the_shared_agent_has_its_script() -> None:
    assert {scenario.partition("/")[2] for scenario in MATRIX} == set(SCRIPTS)
