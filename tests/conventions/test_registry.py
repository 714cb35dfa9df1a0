"""The list of families: complete, in order, each fact with the family it came from."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from critiqor_otel.conventions import families
from critiqor_otel.conventions.convention import Convention, Field, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.plans import Form
from critiqor_otel.conventions.pseudo_tools import PSEUDO_TOOLS, is_pseudo_tool
from critiqor_otel.conventions.registry import ALL, SCATTERED, facts_of
from critiqor_otel.span import Resource, Span, SpanEvent

MODULES = sorted(module.name for module in pkgutil.iter_modules(families.__path__))


def test_the_list_is_the_folder() -> None:
    tables = [importlib.import_module(f"{families.__name__}.{name}").CONVENTION for name in MODULES]

    assert sorted(table.name for table in tables) == sorted(table.name for table in ALL)
    assert len({table.name for table in ALL}) == len(ALL)
    assert {table.name for table in ALL} >= SCATTERED


@pytest.mark.parametrize("convention", ALL, ids=lambda convention: convention.name)
def test_a_table_says_where_its_names_are_written_down(convention: Convention) -> None:
    assert convention.source.startswith("https://") or convention.name == "critiqor"
    assert set(convention.fields) <= set(Field)


def test_a_span_nobody_knows_has_no_role_and_no_facts(facts: Callable[..., Facts]) -> None:
    unknown = facts({"http.method": "GET", "span.type": "tool"}, name="GET /")

    assert unknown.role is SpanRole.OTHER
    assert unknown.family is None
    assert all(unknown.get(field) is None for field in Field)


def test_each_fact_of_a_span_in_two_families_comes_from_the_first_that_has_it(facts: Callable[..., Facts]) -> None:
    both = facts(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "search_docs",
            "input.value": '{"query": "x"}',
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "other name",
            "gen_ai.tool.call.id": "call_1",
            "critiqor.run_id": "run-7",
        }
    )

    assert both.family == "openinference"
    assert (both.get(Field.TOOL_NAME), both.source(Field.TOOL_NAME)) == ("search_docs", "openinference")
    assert (both.get(Field.TOOL_CALL_ID), both.source(Field.TOOL_CALL_ID)) == ("call_1", "otel-genai")
    assert (both.get(Field.RUN_ID), both.source(Field.RUN_ID)) == ("run-7", "critiqor")
    assert both.source(Field.TOOL_RESULT) is None


def test_critiqors_own_marks_say_nothing_of_what_a_span_is(facts: Callable[..., Facts]) -> None:
    assert facts({"critiqor.run_id": "r", "gen_ai.operation.name": "chat"}).role is SpanRole.MODEL
    assert facts({"critiqor.run_id": "r"}).role is SpanRole.OTHER


def test_what_one_span_is_says_nothing_of_another_with_the_same_keys() -> None:
    held: dict[str, Any] = {"custom": 1}
    ours = Span(trace_id="1" * 32, span_id="1" * 16, attributes=held, resource=Resource({"critiqor.run_id": "run-7"}))
    other = Span(trace_id="1" * 32, span_id="2" * 16, attributes=held)

    for span, told in ((other, None), (ours, "run-7"), (other, None)):
        assert facts_of(span).get(Field.RUN_ID) == told
        assert facts_of(span).family == (None if told is None else "critiqor")


def test_a_name_that_the_resource_has_is_read_though_spans_alike_were_met_without_it() -> None:
    held: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    plain = Span(trace_id="1" * 32, span_id="1" * 16, attributes=held)
    named = structs.replace(plain, resource=Resource({"gen_ai.main_agent.name": "planner"}))

    assert [facts_of(span).get(Field.AGENT_NAME) for span in (plain, named, plain)] == [None, "planner", None]


def test_a_span_known_by_its_name_alone_is_told_from_one_with_the_same_keys() -> None:
    held: dict[str, Any] = {"session.id": "s"}
    plain = Span(trace_id="1" * 32, span_id="1" * 16, name="work", attributes=held)
    spans = [structs.replace(plain, name=name) for name in ("work", "claude_code.tool_result", "openclaw.run", "work")]

    assert [facts_of(span).family for span in spans] == [
        next((family.name for family in ALL if family.role_of(span) is not None), None) for span in spans
    ]
    assert len({facts_of(span).family for span in spans}) > 1


def test_facts_asked_for_together_are_those_that_are_known_in_their_order(facts: Callable[..., Facts]) -> None:
    form = Form(called=Field.TOOL_NAME, id=Field.TOOL_CALL_ID, gave=Field.TOOL_RESULT, code=Field.EXIT_CODE)
    tool = facts({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "c1", "gen_ai.tool.name": "search"})

    assert list(tool.known(form).items()) == [("called", "search"), ("id", "c1")]
    assert facts({"http.method": "GET"}).known(form) == {}


def test_a_bad_value_that_is_asked_for_again_leaves_one_note(facts: Callable[..., Facts]) -> None:
    form = Form(output=Field.OUTPUT_TOKENS)
    odd = facts({"gen_ai.operation.name": "chat", "gen_ai.usage.output_tokens": -4})

    assert [odd.known(form), odd.known(form), odd.get(Field.OUTPUT_TOKENS)] == [{}, {}, None]
    assert [note.code for note in odd.notes] == ["bad-value"]


def test_a_bad_value_is_left_out_with_a_note_and_the_next_place_is_read(facts: Callable[..., Facts]) -> None:
    odd = facts(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.usage.input_tokens": "812",
            "gen_ai.usage.output_tokens": -4,
            "gen_ai.response.model": ["a", "b"],
            "gen_ai.request.model": 5,
            "session.id": 12345,
        }
    )

    assert odd.get(Field.INPUT_TOKENS) == 812
    assert odd.get(Field.OUTPUT_TOKENS) is None
    assert odd.get(Field.MODEL) == "5"
    assert odd.get(Field.SESSION_ID) == "12345"
    assert [note.code for note in odd.notes] == ["bad-value", "bad-value"]
    assert "output_tokens" in odd.notes[0].message


def test_cut_messages_leave_a_note_once(facts: Callable[..., Facts]) -> None:
    cut = facts(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"Hi"}]},{"role":"assis',
        }
    )

    assert [message.text for message in cut.get(Field.INPUT_MESSAGES)] == ["Hi"]
    assert cut.get(Field.INPUT_MESSAGES) is cut.get(Field.INPUT_MESSAGES)
    assert [note.code for note in cut.notes] == ["cut-json"]


ROLES: list[tuple[dict[str, Any], SpanRole]] = [
    ({"gen_ai.operation.name": "create_agent"}, SpanRole.SETUP),
    ({"gen_ai.operation.name": "execute_task"}, SpanRole.TURN),
    ({"gen_ai.operation.name": "agent_step"}, SpanRole.TURN),
    ({"gen_ai.operation.name": "plan"}, SpanRole.DECISION),
    ({"gen_ai.operation.name": "embeddings"}, SpanRole.EMBEDDING),
    ({"gen_ai.operation.name": "upsert_memory"}, SpanRole.MEMORY),
    ({"gen_ai.operation.name": "something_new"}, SpanRole.OTHER),
    ({"gen_ai.tool.name": "x"}, SpanRole.TOOL),
    ({"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 1}, SpanRole.MODEL),
    ({"gen_ai.request.model": "m"}, SpanRole.OTHER),
    ({"mcp.method.name": "tools/call"}, SpanRole.TOOL),
    ({"mcp.method.name": "resources/read"}, SpanRole.OTHER),
    ({"openinference.span.kind": "CHAIN"}, SpanRole.TURN),
    ({"openinference.span.kind": "chain"}, SpanRole.TURN),
    ({"openinference.span.kind": "GUARDRAIL"}, SpanRole.EVALUATION),
    ({"langfuse.observation.type": "GENERATION"}, SpanRole.MODEL),
    ({"mlflow.spanType": '"RETRIEVER"'}, SpanRole.RETRIEVER),
    ({"mlflow.spanType": '"MADE_UP"'}, SpanRole.OTHER),
    ({"traceloop.span.kind": "tool"}, SpanRole.TOOL),
    ({"llm.request.type": "chat"}, SpanRole.MODEL),
    ({"ai.operationId": "ai.toolCall"}, SpanRole.TOOL),
    ({"ai.operationId": "ai.somethingNew"}, SpanRole.OTHER),
]


@pytest.mark.parametrize(("attributes", "role"), ROLES, ids=str)
def test_attributes_alone_tell_the_role(
    facts: Callable[..., Facts], attributes: dict[str, Any], role: SpanRole
) -> None:
    assert facts(attributes).role is role


def test_facts_of_a_records_event_are_read_from_its_body_too(facts: Callable[..., Facts]) -> None:
    details = SpanEvent(
        1,
        "gen_ai.client.inference.operation.details",
        {"body": {"gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hi"}]}]}},
    )
    told = facts({"gen_ai.operation.name": "chat"}, events=(details,))

    assert [message.text for message in told.get(Field.OUTPUT_MESSAGES)] == ["Hi"]


def test_a_skill_is_named_by_the_tool_call_that_loads_it(facts: Callable[..., Facts]) -> None:
    load = facts(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "load_skill",
            "gen_ai.tool.call.arguments": '{"skill_name": "code-review"}',
        }
    )
    other = facts({"gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": '{"name": "x"}'})

    assert load.get(Field.SKILL_NAME) == "code-review"
    assert other.get(Field.SKILL_NAME) is None


def test_pseudo_tools_are_known_by_name() -> None:
    assert all(is_pseudo_tool(name) for name in (*PSEUDO_TOOLS, "final_result_Weather"))
    assert not is_pseudo_tool("final_report")
