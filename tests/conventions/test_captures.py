"""Each captured family, span by span: what every span is, and the facts the run's script made true."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.facts import Facts

HERE = Path(__file__).parent
CAPTURES = HERE.parent / "cases" / "captures"
NAMES = sorted(
    path.relative_to(CAPTURES).as_posix().removesuffix(".facts.json")
    for path in CAPTURES.glob("*/*.facts.json")
    if path.parent.name != "_formats"
)
ROLES = json.loads((HERE / "roles.json").read_bytes())

LOGS_ONLY = {"codex"}
"""Families whose spans report no model calls: their records do."""

NO_TOKENS = {
    "otel_genai_openai_agents": "the instrumentation has no model spans",
    "openllmetry_crewai/repeat_identical_calls": "the sums are written when a run ends well, and this one failed",
}
PART_OF_TOKENS = {"openinference_google_adk": "each model call is written over the one before on the agent's span"}
NO_CACHED = {
    "autogen": "the messages count prompts whole",
    "otel_openai_v2": "the instrumentation leaves cached input out",
    "otel_openai_v2_legacy": "the instrumentation leaves cached input out",
    "otel_openai_v2_nocontent": "the instrumentation leaves cached input out",
}
NO_MODEL_SPANS = {
    "autogen": "calls show in messages alone",
    "openinference_google_adk": "each model call is written over the one before",
    "openinference_smolagents_custom_model": "a custom model class is not instrumented",
    "openllmetry_crewai": "calls show in the crew's sums alone",
    "otel_genai_openai_agents": "the instrumentation has no model spans",
}
NO_TOOLS = {
    "litellm_otel": "neither tools nor messages are captured",
    "openllmetry_crewai": "the crew's transcript alone has them, and none where the run failed",
}
NO_ARGUMENTS = {
    "autogen": "they stand in messages, by call id",
    "claude_code_default_redacted": "content capture is off by default",
    "google_adk": "content capture is off by default",
    "openclaw": "2026.4 captures no tool content",
    "otel_openai_v2_nocontent": "content capture was off",
    "pydantic_ai_nocontent": "content capture was off",
}


def excused(name: str, reasons: dict[str, str]) -> bool:
    family = name.partition("/")[0]
    return family in reasons or name in reasons


def is_from_records(name: str) -> bool:
    return name.partition("/")[0] in LOGS_ONLY


def tools_of(capture: Any, name: str) -> list[Facts]:
    return capture.of(SpanRole.TOOL, records=is_from_records(name))


def requests_of(capture: Any) -> list[tuple[str, str]]:
    """Return the tool calls models asked for: name and canonical arguments."""
    messages = capture.messages(Field.OUTPUT_MESSAGES, SpanRole.MODEL, SpanRole.USAGE)
    return [(asked.name, canonical(asked.arguments)) for each in messages for asked in each.tool_requests]


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def tokens_of(every: list[Facts]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for facts in every:
        cached = facts.get(Field.CACHED_INPUT_TOKENS) or 0
        given = facts.get(Field.INPUT_TOKENS)
        if given is None and (uncached := facts.get(Field.UNCACHED_INPUT_TOKENS)) is not None:
            given = uncached + cached + (facts.get(Field.CACHE_WRITE_TOKENS) or 0)
        total.update(input=given or 0, output=facts.get(Field.OUTPUT_TOKENS) or 0, cache_read=cached)
    return dict(total)


def reporting(every: list[Facts]) -> list[Facts]:
    return [facts for facts in every if facts.get(Field.OUTPUT_TOKENS) is not None]


@pytest.mark.parametrize("family", sorted({name.partition("/")[0] for name in NAMES}))
def test_every_span_name_has_its_role(capture: Callable[[str], Any], family: str) -> None:
    found: dict[str, set[str]] = {}
    for name in NAMES:
        if name.partition("/")[0] == family:
            read = capture(name)
            for facts in (*read.facts, *read.from_records):
                span_name = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", facts.span.name)
                found.setdefault(span_name, set()).add(facts.role.value)

    assert {name: sorted(roles) for name, roles in found.items()} == ROLES[family]


@pytest.mark.parametrize("name", NAMES)
def test_no_field_of_a_captured_span_is_bad(capture: Callable[[str], Any], name: str) -> None:
    read = capture(name)
    for facts in (*read.facts, *read.from_records):
        for field in Field:
            facts.get(field)

    notes = [note for facts in (*read.facts, *read.from_records) for note in facts.notes]
    assert {note.code for note in notes} <= ({"cut-json"} if "llamaindex" in name else set())


@pytest.mark.parametrize("name", NAMES)
def test_tokens_are_those_the_provider_reported(capture: Callable[[str], Any], name: str) -> None:
    read = capture(name)
    expected = read.told.get("token_totals")
    if expected is None or excused(name, NO_TOKENS):
        return
    records = is_from_records(name)
    found = next(
        (some for role in ("model", "usage", "agent") if (some := reporting(read.of(SpanRole(role), records=records)))),
        [],
    )

    total = tokens_of(found)
    if excused(name, NO_CACHED):
        total["cache_read"] = expected["cache_read"]
    if excused(name, PART_OF_TOKENS):
        assert all(0 <= total[part] <= expected[part] for part in expected)
    else:
        assert total == expected


@pytest.mark.parametrize("name", NAMES)
def test_model_calls_are_the_outermost_model_spans(capture: Callable[[str], Any], name: str) -> None:
    read = capture(name)
    expected = read.told.get("llm_calls")
    if expected is None or excused(name, NO_MODEL_SPANS):
        return

    assert len(read.of(SpanRole.MODEL, records=is_from_records(name))) == expected


@pytest.mark.parametrize("name", NAMES)
def test_tool_calls_have_their_names(capture: Callable[[str], Any], name: str) -> None:
    read = capture(name)
    expected = read.told.get("tool_calls")
    if expected is None or excused(name, NO_TOOLS):
        return
    tools = tools_of(read, name)
    names = [facts.get(Field.TOOL_NAME) for facts in tools] if tools else [asked for asked, _ in requests_of(read)]

    assert dict(Counter(names)) == expected


@pytest.mark.parametrize("name", NAMES)
def test_equal_calls_have_equal_arguments(capture: Callable[[str], Any], name: str) -> None:
    read = capture(name)
    expected = read.told.get("max_identical_calls")
    if not expected or excused(name, NO_TOOLS) or excused(name, NO_ARGUMENTS):
        return
    tools = tools_of(read, name)
    by_span = Counter((f.get(Field.TOOL_NAME), canonical(f.get(Field.TOOL_ARGUMENTS))) for f in tools)
    by_request = Counter(requests_of(read))

    assert {max(calls.values()) for calls in (by_span, by_request) if calls} == {expected}


SAME_SCRIPT = {
    "clean_two_tools": [
        ("search_docs", {"query": "refund policy"}, "3 documents about refund policy"),
        ("get_price", {"sku": "A-17"}, {"sku": "A-17", "price": 19.5}),
    ],
}
TWO_TOOLS = [
    name
    for name in NAMES
    if name.endswith("clean_two_tools") and "search_docs" in (CAPTURES / f"{name}.facts.json").read_text()
]


@pytest.mark.parametrize("name", TWO_TOOLS)
def test_a_tool_received_and_gave_back_the_same_in_every_family(capture: Callable[[str], Any], name: str) -> None:
    read = capture(name)
    if excused(name, NO_TOOLS | NO_ARGUMENTS):
        return
    asked = {
        request.id: request
        for each in read.messages(Field.OUTPUT_MESSAGES, SpanRole.MODEL, SpanRole.USAGE)
        for request in each.tool_requests
    }
    answered = {
        response.id: response.result
        for each in read.messages(Field.INPUT_MESSAGES, SpanRole.MODEL, SpanRole.MESSAGE)
        for response in each.tool_responses
    }
    calls = [
        (tool.get(Field.TOOL_NAME), tool.get(Field.TOOL_ARGUMENTS), tool.get(Field.TOOL_RESULT))
        for tool in read.of(SpanRole.TOOL)
        if tool.get(Field.TOOL_NAME) != "final_answer"
    ] or [(request.name, request.arguments, answered.get(call)) for call, request in asked.items()]
    if name == "openinference_langchain/clean_two_tools":  # LangChain hands a single argument over bare
        assert [arguments for _, arguments, _ in calls] == ["refund policy", "A-17"]
        ids = [tool.get(Field.TOOL_CALL_ID) for tool in read.of(SpanRole.TOOL)]
        calls = [(tool, asked[i].arguments, gave) for i, (tool, _, gave) in zip(ids, calls, strict=True)]

    assert calls == SAME_SCRIPT["clean_two_tools"]


def test_a_crews_transcript_holds_its_tool_calls(capture: Callable[[str], Any]) -> None:
    crew = capture("openllmetry_crewai/clean_two_tools").of(SpanRole.AGENT)[0]
    transcript = crew.get(Field.TRANSCRIPT)
    asked = [(each.name, each.arguments, each.id) for message in transcript for each in message.tool_requests]
    answered = [(each.id, each.result) for message in transcript for each in message.tool_responses]

    assert asked == [("search_docs", {"query": "refund policy"}, "call_1"), ("get_price", {"sku": "A-17"}, "call_2")]
    assert answered == [
        ("call_1", "3 documents about refund policy"),
        ("call_2", {"sku": "A-17", "price": 19.5}),
    ]


def test_autogens_messages_tell_what_its_tool_spans_leave_out(capture: Callable[[str], Any]) -> None:
    read = capture("autogen/clean_two_tools")
    told = read.messages(Field.INPUT_MESSAGES, SpanRole.MESSAGE)
    answered = [(each.id, each.result, each.is_error) for message in told for each in message.tool_responses]
    teams = {facts.get(Field.SESSION_ID) for facts in read.facts} - {None}

    assert [facts.get(Field.TOOL_CALL_ID) for facts in read.of(SpanRole.TOOL)] == ["call_1", "call_2"]
    assert answered == [
        ("call_1", "3 documents about refund policy", False),
        ("call_2", {"sku": "A-17", "price": 19.5}, False),
    ]
    assert teams == {"2ac874de-a096-4b76-a1dc-db643ad234b4"}


def test_a_command_that_exits_with_an_error_says_so_on_openclaws_process(capture: Callable[[str], Any]) -> None:
    (process,) = capture("openclaw/exec_failure").of(SpanRole.PROCESS)

    assert process.get(Field.EXIT_CODE) == 3
    assert process.get(Field.FAILED) is None


def test_what_was_overwritten_is_said_to_be_carried_in_part(capture: Callable[[str], Any]) -> None:
    (last,) = capture("openinference_google_adk/clean_two_tools").of(SpanRole.MODEL)

    assert last.get(Field.CARRIED_IN_PART) == ["model_calls", "tokens"]
    assert [message.text for message in last.get(Field.OUTPUT_MESSAGES)] == ["Refunds take 5 days; A-17 costs $19.50."]
