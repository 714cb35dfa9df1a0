"""Numbered attributes as messages, tools and objects."""

from typing import Any

from critiqor_otel.conventions.indexed import indexed_messages, nested, unflattened
from critiqor_otel.conventions.messages import Message, ToolRequest, ToolResponse
from critiqor_otel.conventions.tool_definitions import indexed_tools, tools
from critiqor_otel.span import Span

OPENINFERENCE = {
    "llm.input_messages.10.message.role": "tool",
    "llm.input_messages.10.message.tool_call_id": "call_1",
    "llm.input_messages.10.message.content": "Error: timeout",
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.tool_calls.0.tool_call.id": "call_1",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "flaky_fetch",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"url": "https://x.test/a"}',
    "llm.input_messages.2.message.contents.0.message_content.type": "tool_use",
    "llm.input_messages.2.message.contents.0.tool_call.id": "call_1",
    "llm.input_messages.2.message.contents.0.tool_call.function.name": "flaky_fetch",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.contents.0.message_content.type": "text",
    "llm.input_messages.0.message.contents.0.message_content.text": "Fetch it",
}
OPENLLMETRY = {
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": "Fetch it",
    "gen_ai.prompt.1.role": "assistant",
    "gen_ai.prompt.1.tool_calls.0.id": "call_1",
    "gen_ai.prompt.1.tool_calls.0.name": "flaky_fetch",
    "gen_ai.prompt.1.tool_calls.0.arguments": '{"url": "https://x.test/a"}',
    "gen_ai.prompt.2.role": "tool",
    "gen_ai.prompt.2.content": "Error: timeout",
    "gen_ai.prompt.2.tool_call_id": "call_1",
}
EXPECTED = [
    Message(role="user", text="Fetch it"),
    Message(
        role="assistant",
        tool_requests=(ToolRequest(name="flaky_fetch", id="call_1", arguments={"url": "https://x.test/a"}),),
    ),
    Message(role="tool", tool_responses=(ToolResponse(id="call_1", result="Error: timeout"),)),
]


def span(attributes: dict[str, Any]) -> Span:
    return Span(trace_id="1" * 32, span_id="2" * 16, attributes=attributes)


def test_numbered_messages_are_read_in_the_order_of_their_numbers() -> None:
    assert indexed_messages("llm.input_messages.", role="user")(span(OPENINFERENCE)) == EXPECTED
    assert indexed_messages("gen_ai.prompt.", role="user")(span(OPENLLMETRY)) == EXPECTED


def test_the_first_prefix_that_has_messages_counts() -> None:
    read = indexed_messages("llm.input_messages.", "gen_ai.prompt.", role="user")

    assert read(span(OPENLLMETRY)) == EXPECTED
    assert read(span({"other": 1})) is None


def test_autogens_results_under_openinference_are_json_texts() -> None:
    found = indexed_messages("llm.input_messages.", role="user")(
        span(
            {
                "llm.input_messages.0.message.role": "function",
                "llm.input_messages.0.function.0": '{"name": "t", "content": "ok", "call_id": "c1", "is_error": false}',
            }
        )
    )

    assert found == [
        Message(role="tool", tool_responses=(ToolResponse(id="c1", name="t", result="ok", is_error=False),))
    ]


def test_an_attribute_that_is_an_object_itself_stays_untouched() -> None:
    attributes = {"x.0": {"role": "user", "parts": {"0": "a"}}, "x.0.role": "odd"}

    assert unflattened(attributes, "x.") == [{"role": "odd"}]
    assert attributes["x.0"] == {"role": "user", "parts": {"0": "a"}}


def test_a_key_with_thousands_of_dots_does_no_harm() -> None:
    assert unflattened({"x.0." + "a." * 20_000: 1}, "x.")


def test_attributes_under_a_prefix_become_one_object() -> None:
    assert nested("mcp.request.argument.")(span({"mcp.request.argument.city": "Paris"})) == {"city": "Paris"}
    assert nested("mcp.request.argument.")(span({})) is None


DEFINITION = {"name": "search_docs", "description": "Search docs", "parameters": {"type": "object"}}


def test_tool_definitions_read_the_same_in_every_spelling() -> None:
    for value in (
        [{"type": "function", "function": DEFINITION}],
        [{"type": "function", **DEFINITION}],
        [{"name": "search_docs", "description": "Search docs", "input_schema": {"type": "object"}}],
        ['{"type":"function","name":"search_docs","description":"Search docs","inputSchema":{"type":"object"}}'],
        {
            "function_tools": [
                {"name": "search_docs", "description": "Search docs", "parameters_json_schema": {"type": "object"}}
            ]
        },
        '[{"function_declarations": [1]}]',
    ):
        assert tools(value) == (None if value == '[{"function_declarations": [1]}]' else [DEFINITION])


def test_numbered_tool_definitions_are_read() -> None:
    openinference = {
        "llm.tools.0.tool.json_schema": (
            '{"type":"function","function":{"name":"search_docs","description":"Search docs",'
            '"parameters":{"type":"object"}}}'
        )
    }
    pydantic = {"llm.tools.0.tool.name": "search_docs", "llm.tools.0.tool.json_schema": '{"type": "object"}'}
    openllmetry = {
        "llm.request.functions.0.name": "search_docs",
        "llm.request.functions.0.description": "Search docs",
        "llm.request.functions.0.parameters": '{"type": "object"}',
    }

    assert indexed_tools("llm.tools.")(span(openinference)) == [DEFINITION]
    assert indexed_tools("llm.tools.")(span(pydantic)) == [{"name": "search_docs", "parameters": {"type": "object"}}]
    assert indexed_tools("llm.request.functions.")(span(openllmetry)) == [DEFINITION]
    assert indexed_tools("llm.tools.")(span({})) is None
