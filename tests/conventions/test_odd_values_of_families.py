"""Values that a family's spans carry in shapes of their own, or broken: read as far as they go, and never raised on."""

import json
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan

import critiqor_otel
from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.decode.sdk import SdkReader
from critiqor_otel.span import Scope, Span


def facts(scope: str, name: str = "work", **attributes: Any) -> Facts:
    held = {key.replace("__", "."): value for key, value in attributes.items()}
    return facts_of(Span(trace_id="1" * 32, span_id="2" * 16, name=name, scope=Scope(scope), attributes=held))


def test_a_tool_of_pydantic_ai_is_known_without_its_scope() -> None:
    found = facts("", "running tool", gen_ai__tool__name="search")

    assert (found.role, found.get(Field.TOOL_NAME)) == (SpanRole.TOOL, "search")


def test_events_of_pydantic_ai_that_are_none_are_passed_over() -> None:
    events = [3, {"event.name": "gen_ai.choice"}, {"event.name": "gen_ai.choice", "message": {"content": "open"}}]

    found = facts("pydantic-ai", "chat", gen_ai__operation__name="chat", events=json.dumps(events))

    assert [message.text for message in found.get(Field.OUTPUT_MESSAGES)] == ["open"]


@pytest.mark.parametrize("told", ["[]", '[{"role": "tool", "content": []}]', "no json", "3"])
def test_messages_of_strands_without_a_call_give_no_arguments(told: str) -> None:
    found = facts("strands.telemetry.tracer", "execute_tool a", gen_ai__input__messages=told)

    assert found.get(Field.TOOL_RESULT) is None


def test_a_span_of_the_sdk_without_context_and_scope_is_read() -> None:
    read = SdkReader().span(ReadableSpan("bare", attributes={"odd": (1, "a")}))

    assert (read.name, read.trace_id, read.scope.name) == ("bare", "0" * 32, "")


def test_shapes_by_the_thousand_change_no_fact() -> None:
    first = facts("pydantic-ai", "running tool", gen_ai__tool__name="search")
    for number in range(4_200):
        facts("library", **{f"key{number}": 1})

    assert facts("pydantic-ai", "running tool", gen_ai__tool__name="search").role is first.role


def test_the_package_says_what_it_does_not_have() -> None:
    with pytest.raises(AttributeError, match="critiqor_otel has no nothing"):
        _ = critiqor_otel.nothing  # type: ignore[attr-defined]
