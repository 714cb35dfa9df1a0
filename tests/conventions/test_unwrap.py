"""What a tool received and gave back, without each framework's wrapping: literal examples from captures."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from critiqor_otel.conventions.convention import Field, Salvaged
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.unwrap import (
    Unwrap,
    call_keywords,
    content_blocks,
    graph_command,
    langchain_input,
    langchain_output,
    mcp_result,
    message_output,
    only_key,
    response_of_part,
    through,
    tool_message,
    tool_message_field,
    tool_output,
    typed_blocks,
)

Make = Callable[..., Facts]
LANGCHAIN = (
    '{"input_str": "{\'url\': \'https://x.test/a\'}", "tags": ["seq:step:1"], "metadata": {"langgraph_step": 5},'
    ' "inputs": {"url": "https://x.test/a"}, "kwargs": {"color": "green", "name": null, "tool_call_id": "call_1"}}'
)
TOOL_MESSAGE = (
    '{"type": "tool", "data": {"content": "{\\"sku\\": \\"A-17\\", \\"price\\": 19.5}", "name": "get_price",'
    ' "tool_call_id": "call_2", "artifact": null, "status": "success"}}'
)
CONSTRUCTED = (
    '{"output": {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"],'
    ' "kwargs": {"content": "Error: TimeoutError", "tool_call_id": "call_3", "status": "error"}},'
    ' "kwargs": {"tags": ["seq:step:1"]}}'
)
TOOL_OUTPUT = (
    '{"blocks":[{"text":"{\'sku\': \'A-17\', \'price\': 19.5}"}],"tool_name":"get_price",'
    '"raw_input":{"args":[],"kwargs":{"sku":"A-17"}},"raw_output":{"sku":"A-17","price":19.5},"is_error":false}'
)


@pytest.mark.parametrize(
    ("value", "received"),
    [
        (
            '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"query": "refund policy"}}',
            {"query": "refund policy"},
        ),
        ('{"kwargs": {"sku": "A-17"}}', {"sku": "A-17"}),  # LlamaIndex
        ('{"kw": {"query": "refund policy"}}', {"query": "refund policy"}),  # MLflow
        ('{"args": [], "kwargs": {"query": "refund policy"}}', {"query": "refund policy"}),  # Langfuse
        ('{"args": ["How long do refunds take?"], "kwargs": {}}', "How long do refunds take?"),
        ('{"args": [], "kwargs": {}}', {}),
        ("refund policy", "refund policy"),  # LangChain hands a single argument over bare
    ],
)
def test_the_record_of_a_python_call_is_taken_off(value: str, received: Any) -> None:
    assert through(call_keywords)(value) == received


@pytest.mark.parametrize(
    "payload",
    [
        {"args": ["-l"], "kwargs": {"color": True}},
        {"args": ["a", "b"], "kwargs": {}},
        {"kwargs": {"a": 1}, "path": "/"},
        {"kw": "word"},
        {},
        {"query": "x"},
    ],
)
def test_a_payload_with_keys_of_its_own_is_left_alone(payload: Any) -> None:
    assert through(call_keywords)(payload) == payload


def test_langchains_callback_record_is_taken_off_its_inputs() -> None:
    assert through(langchain_input)(LANGCHAIN) == {"url": "https://x.test/a"}
    assert through(langchain_input)("{\"input_str\": \"{'q': 'x'}\"}") == {"q": "x"}
    assert through(langchain_input)({"input_str": "x", "mine": 1}) == {"input_str": "x", "mine": 1}


@pytest.mark.parametrize(
    ("value", "steps", "gave"),
    [
        (TOOL_MESSAGE, (tool_message,), {"sku": "A-17", "price": 19.5}),
        (CONSTRUCTED, (langchain_output, tool_message), "Error: TimeoutError"),
        ("content='3 documents' name='search_docs' tool_call_id='call_1'", (tool_message,), "3 documents"),
        ('[{"text": "{\\"sku\\": \\"A-17\\"}"}]', (content_blocks,), {"sku": "A-17"}),  # Strands
        ('[{"json": {"a": 1}}]', (content_blocks,), {"a": 1}),  # Bedrock
        ('[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]', (typed_blocks,), "a\nb"),
        ('{"content": [{"type": "text", "text": "20"}], "isError": false}', (mcp_result,), "20"),
        ('{"content": [], "structuredContent": {"t": 20}, "isError": false}', (mcp_result,), {"t": 20}),
        (TOOL_OUTPUT, (tool_output,), {"sku": "A-17", "price": 19.5}),  # LlamaIndex
        ('{"result": "3 documents"}', (only_key("result"),), "3 documents"),  # ADK
        ('{"id":"call_3","name":"f","response":{"result":"ok"}}', (response_of_part, only_key("result")), "ok"),
        ('"\\"ok\\""', (), "ok"),
    ],
)
def test_a_results_wrapping_is_taken_off(value: str, steps: tuple[Unwrap, ...], gave: Any) -> None:
    assert through(*steps)(value) == gave


@pytest.mark.parametrize(
    ("step", "payload"),
    [
        (only_key("result"), {"result": 1, "unit": "kg"}),
        (mcp_result, {"content": [{"type": "text", "text": "no such city"}], "isError": True}),
        (typed_blocks, [{"text": "a"}, {"text": "b"}]),
        (typed_blocks, [{"type": "image", "url": "x"}]),
        (content_blocks, [{"text": "a", "score": 0.9}]),
        (content_blocks, []),
        (mcp_result, {"content": "a page", "title": "t"}),
        (tool_message, {"type": "tool", "name": "hammer"}),
        (tool_output, {"tool_name": "x"}),
        (graph_command, {"update": {"messages": []}}),
        (message_output, {"output": "sunny"}),
        (message_output, {"output": {"type": "constructor", "kwargs": {"content": "sunny"}}}),
        (response_of_part, {"response": "yes", "name": "x", "score": 1}),
        (langchain_output, {"output": 1, "unit": "kg"}),
    ],
)
def test_a_tools_own_payload_is_never_taken_apart(step: Unwrap, payload: Any) -> None:
    assert step(payload) == payload


def test_a_failed_tool_output_gives_its_text() -> None:
    failed = {"blocks": [{"text": "no"}], "tool_name": "t", "raw_output": "E()", "is_error": True}

    assert tool_output(failed) == "no"


def test_a_graph_command_gives_the_one_tool_message_in_it() -> None:
    command = {"graph": None, "update": {"messages": [{"type": "tool", "content": "done", "tool_call_id": "c"}]}}

    assert through(graph_command, tool_message)(command) == "done"


@pytest.mark.parametrize("wrapped", [False, True], ids=["message", "command"])
def test_what_langchain_js_puts_around_a_tools_message_is_taken_off(facts: Make, *, wrapped: bool) -> None:
    """The message bears the id of its call, so that equal results would never look equal."""
    message = {"status": "error", "content": "sunny", "tool_call_id": "call_3", "name": "get_weather"}
    lc = {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "ToolMessage"], "kwargs": message}
    output = {"output": {"lg_name": "Command", "update": {"messages": [lc]}} if wrapped else lc}
    tool = facts({"openinference.span.kind": "TOOL", "output.value": json.dumps(output)})

    assert [tool.get(field) for field in (Field.TOOL_RESULT, Field.TOOL_CALL_ID, Field.FAILED)] == [
        *("sunny", "call_3", True),
    ]


def test_a_tool_message_also_tells_its_call_and_its_status() -> None:
    assert tool_message_field("tool_call_id")(TOOL_MESSAGE) == "call_2"
    assert tool_message_field("status", langchain_output)(CONSTRUCTED) == "error"
    assert tool_message_field("status")("plain text") is None


def test_a_printed_tool_message_tells_them_too_whatever_its_content_holds() -> None:
    printed = "content=\"status='success' tool_call_id='no'\" name='f' tool_call_id='call_4' status='error'"

    assert tool_message_field("tool_call_id")(printed) == "call_4"
    assert tool_message_field("status")(printed) == "error"
    assert tool_message_field("status")("content='ok' name='f' tool_call_id='call_5'") is None


def test_a_cut_argument_stays_text_with_a_word_about_it() -> None:
    assert isinstance(through(call_keywords)('{"kwargs": {"q": "very lo'), Salvaged)
