"""Messages in every vendor's spelling, cut or whole: literal examples from captures and documentation."""

import json
from typing import Any

import pytest

from critiqor_otel.conventions.convention import BadValueError, Salvaged
from critiqor_otel.conventions.message_shapes import answer, conversation
from critiqor_otel.conventions.message_views import answered_text, asked_text, instructions, with_results
from critiqor_otel.conventions.messages import Message, ToolRequest, ToolResponse
from critiqor_otel.conventions.unwrap import only_key

ASKED = ToolRequest(name="search_docs", id="call_1", arguments={"query": "refund policy"})
ANSWERED = ToolResponse(id="call_1", result="3 documents about refund policy")
CALL = Message(role="assistant", tool_requests=(ASKED,))
RESULT = Message(role="tool", tool_responses=(ANSWERED,))
USER = Message(role="user", text="How long do refunds take?")
TEXT = "3 documents about refund policy"
ARGUMENTS = {"query": "refund policy"}

CONVERSATIONS: dict[str, Any] = {
    "OTel GenAI parts": [
        {"role": "user", "parts": [{"type": "text", "content": "How long do refunds take?"}]},
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "call_1", "name": "search_docs", "arguments": ARGUMENTS}],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": TEXT}]},
    ],
    "OTel GenAI before 1.37, a tool's answer as a user": [
        {"role": "user", "parts": [{"type": "text", "content": "How long do refunds take?"}]},
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "call_1", "name": "search_docs", "arguments": json.dumps(ARGUMENTS)}],
        },
        {"role": "user", "parts": [{"type": "tool_call_response", "id": "call_1", "result": TEXT}]},
    ],
    "OpenAI chat": {
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "user", "content": "How long do refunds take?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "search_docs", "arguments": '{"query": "refund policy"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": '"3 documents about refund policy"'},
        ],
    },
    "OpenAI Responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "How long do refunds take?"}]},
        {
            "type": "function_call",
            "id": "fc_call_1",
            "call_id": "call_1",
            "name": "search_docs",
            "arguments": '{"query": "refund policy"}',
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "call_1", "output": TEXT},
    ],
    "Anthropic blocks": [
        {"role": "user", "content": "How long do refunds take?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "call_1", "name": "search_docs", "input": ARGUMENTS}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": TEXT}]}],
        },
    ],
    "Bedrock and Strands blocks": [
        {"role": "user", "content": [{"text": "How long do refunds take?"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "call_1", "name": "search_docs", "input": ARGUMENTS}}],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "call_1", "content": [{"text": TEXT}]}}]},
    ],
    "Gemini contents": {
        "contents": [
            {"role": "user", "parts": [{"text": "How long do refunds take?"}]},
            {"role": "model", "parts": [{"function_call": {"id": "call_1", "name": "search_docs", "args": ARGUMENTS}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "call_1", "response": {"result": TEXT}}}]},
        ]
    },
    "LangChain constructors, in a list of lists": {
        "messages": [
            [
                {
                    "lc": 1,
                    "type": "constructor",
                    "id": ["langchain", "schema", "messages", "HumanMessage"],
                    "kwargs": {"content": "How long do refunds take?", "type": "human"},
                },
                {
                    "lc": 1,
                    "type": "constructor",
                    "id": ["langchain", "schema", "messages", "AIMessage"],
                    "kwargs": {
                        "content": "",
                        "tool_calls": [{"name": "search_docs", "args": ARGUMENTS, "id": "call_1", "type": "tool_call"}],
                    },
                },
                {
                    "lc": 1,
                    "type": "constructor",
                    "id": ["langchain", "schema", "messages", "ToolMessage"],
                    "kwargs": {"content": TEXT, "tool_call_id": "call_1", "id": "message-9"},
                },
            ]
        ]
    },
    "LangChain type and data": [
        {"type": "human", "data": {"content": "How long do refunds take?"}},
        {
            "type": "ai",
            "data": {"content": "", "tool_calls": [{"name": "search_docs", "args": ARGUMENTS, "id": "call_1"}]},
        },
        {"type": "tool", "data": {"content": TEXT, "tool_call_id": "call_1"}},
    ],
    "Vercel parts": [
        {"role": "user", "content": [{"type": "text", "text": "How long do refunds take?"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "call_1", "toolName": "search_docs", "input": ARGUMENTS}],
        },
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "call_1", "output": {"type": "text", "value": TEXT}}],
        },
    ],
}


@pytest.mark.parametrize("spelling", CONVERSATIONS)
@pytest.mark.parametrize(
    "encode",
    [lambda value: value, json.dumps, lambda value: json.dumps(json.dumps(value)), repr],
    ids=["value", "text", "text in text", "repr"],
)
def test_every_spelling_reads_the_same(spelling: str, encode: Any) -> None:
    assert conversation(encode(CONVERSATIONS[spelling])) == [USER, CALL, RESULT]


@pytest.mark.parametrize(
    "response",
    [
        {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "5 days"}}]},
        {
            "content": [{"type": "text", "text": "5 days"}],
            "role": "assistant",
            "type": "message",
            "stop_reason": "stop",
        },
        {"content": {"parts": [{"text": "5 days"}], "role": "model"}, "finish_reason": "stop"},
        {
            "generations": [
                [
                    {
                        "text": "5 days",
                        "generation_info": {"finish_reason": "stop"},
                        "message": {"type": "constructor", "id": ["AIMessage"], "kwargs": {"content": "5 days"}},
                    }
                ]
            ]
        },
        {
            "instructions": "Be kind.",
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "5 days"}],
                    "finish_reason": "stop",
                }
            ],
        },
        [
            {
                "role": "assistant",
                "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "5 days"}],
                "finish_reason": "stop",
            }
        ],
    ],
)
def test_an_answer_is_read_out_of_every_vendors_response(response: Any) -> None:
    assert answer(response) == [Message(role="assistant", text="5 days", finish_reason="stop")]


def test_an_answer_that_is_text_is_the_assistants() -> None:
    assert answer("5 days") == [Message(role="assistant", text="5 days")]


def test_bare_function_calls_are_the_assistants() -> None:
    calls = '[{"id": "call_1", "name": "search_docs", "arguments": {"query": "refund policy"}}]'

    assert answer(calls) == [CALL]
    assert answer('{"finish_reason": "function_calls", "content": ' + calls + "}") == [CALL]


def test_calls_that_stand_both_beside_and_inside_the_content_are_one() -> None:
    message = {
        "role": "assistant",
        "tool_calls": [{"id": "call_1", "function": {"name": "search_docs", "arguments": ARGUMENTS}}],
        "content": [{"type": "tool_use", "id": "call_1", "name": "search_docs", "input": ARGUMENTS}],
    }

    assert answer(message) == [CALL]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_result", "tool_use_id": "c", "content": "no", "is_error": True},
        {"toolResult": {"toolUseId": "c", "status": "error", "content": [{"text": "no"}]}},
        {"type": "tool-result", "toolCallId": "c", "output": {"type": "error-text", "value": "no"}},
        {"type": "tool-error", "toolCallId": "c", "error": "no"},
    ],
)
def test_a_message_tells_that_its_tool_failed(part: Any) -> None:
    (message,) = conversation([{"role": "user", "content": [part]}]) or ()

    assert isinstance(message, Message)
    assert message.tool_responses == (ToolResponse(id="c", result="no", is_error=True),)


def test_without_content_names_and_ids_stay() -> None:
    messages = [
        {"role": "user", "parts": [{"type": "text"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "call_1", "name": "search_docs"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1"}]},
    ]

    assert conversation(messages) == [
        Message(role="user"),
        Message(role="assistant", tool_requests=(ToolRequest(name="search_docs", id="call_1"),)),
        Message(role="tool", tool_responses=(ToolResponse(id="call_1"),)),
    ]


def test_system_instructions_of_a_request_come_first() -> None:
    for body in (
        {"system": "Be kind.", "messages": [{"role": "user", "content": "Hi"}]},
        {"instructions": "Be kind.", "input": "Hi"},
        {"system": "Be kind.", "prompt": "Hi"},
    ):
        assert conversation(body) == [Message(role="system", text="Be kind."), Message(role="user", text="Hi")]


def test_the_whole_messages_before_a_cut_are_kept_and_said_to_be() -> None:
    text = json.dumps(CONVERSATIONS["OTel GenAI parts"])
    found = conversation(text[:-30])

    assert isinstance(found, Salvaged)
    assert found.value == [USER, CALL]
    assert "2 whole messages" in found.message


def test_a_cut_inside_a_request_body_is_salvaged_too() -> None:
    text = json.dumps(CONVERSATIONS["OpenAI chat"])
    found = conversation(text[: text.index('"tool", ')])

    assert isinstance(found, Salvaged)
    assert found.value == [USER, CALL]


@pytest.mark.parametrize("value", ['[{"role": "us', 12, b"bytes", True])
def test_what_holds_no_message_is_refused(value: Any) -> None:
    with pytest.raises(BadValueError):
        conversation(value)


@pytest.mark.parametrize("value", ["", "[]", [], {}, "__REDACTED__"])
def test_nothing_is_absent(value: Any) -> None:
    assert conversation(value) is None


def test_ten_thousand_messages_take_one_pass() -> None:
    assert len(conversation([{"role": "user", "content": "x"}] * 10_000) or ()) == 10_000


def test_the_last_question_and_answer_are_found_in_messages_and_other_values_stay() -> None:
    state = {"messages": [{"type": "human", "data": {"content": "Hi"}}, {"type": "ai", "data": {"content": "Hello"}}]}

    assert asked_text(state) == "Hi"
    assert answered_text(json.dumps(state)) == "Hello"
    assert asked_text('{"task": "sum up"}') == {"task": "sum up"}
    assert answered_text("5 days") == "5 days"
    assert answered_text("") is None
    assert asked_text(12) == 12


def test_of_a_list_of_texts_none_is_lost() -> None:
    assert answered_text('["Rome", "Bern", "Oslo"]') == ["Rome", "Bern", "Oslo"]
    assert asked_text(["Which is north?", "Which is south?"]) == ["Which is north?", "Which is south?"]
    assert answered_text('["Rome"]') == "Rome"


def test_instructions_become_one_text() -> None:
    assert (
        instructions('[{"type":"text","content":"Be kind."},{"type":"text","content":"Be brief."}]')
        == "Be kind.\nBe brief."
    )
    assert instructions("Be kind.") == "Be kind."


def test_a_familys_wrapping_is_taken_off_results_in_messages_too() -> None:
    shape = with_results(conversation, only_key("result"))
    message = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": {"result": TEXT}}]}

    assert shape([message]) == [RESULT]
    assert shape(json.dumps([message, message])[:-4]).value == [RESULT]
    assert shape("") is None
