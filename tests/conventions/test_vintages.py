"""Families and vintages of which the captures show too little: spans written down from the libraries' own sources."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.messages import Message, ToolRequest, ToolResponse
from critiqor_otel.span import SpanEvent

Make = Callable[..., Facts]
CALL = Message(
    role="assistant",
    tool_requests=(ToolRequest(name="search_docs", id="call_1", arguments={"query": "refund policy"}),),
)
RESULT = Message(role="tool", tool_responses=(ToolResponse(id="call_1", result="3 documents"),))
DETAILS = "gen_ai.client.inference.operation.details"


def read(facts: Facts, *fields: Field) -> list[Any]:
    return [facts.get(field) for field in fields]


TOOL_FIELDS = (Field.TOOL_NAME, Field.TOOL_CALL_ID, Field.TOOL_ARGUMENTS, Field.TOOL_RESULT)


def test_vercel_7_encodes_results_and_sums_usage_on_its_agent(facts: Make) -> None:
    tool = facts(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search_docs",
            "gen_ai.tool.call.id": "call_1",
            "gen_ai.tool.call.arguments": '{"query":"refund policy"}',
            "gen_ai.tool.call.result": '"3 documents"',
        },
        scope="gen_ai",
    )
    agent = facts({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "support-agent"}, scope="gen_ai")

    assert read(tool, *TOOL_FIELDS) == ["search_docs", "call_1", {"query": "refund policy"}, "3 documents"]
    assert agent.role is SpanRole.AGENT


def test_vercel_4_names_arguments_args_and_the_outer_span_reports_no_usage(facts: Make) -> None:
    usage = {"ai.usage.promptTokens": 90, "ai.usage.completionTokens": 11}
    step = facts(
        {
            "ai.operationId": "ai.streamText.doStream",
            "ai.response.toolCalls": (
                '[{"toolCallType":"function","toolCallId":"call_1","toolName":"search_docs",'
                '"args":"{\\"query\\":\\"refund policy\\"}"}]'
            ),
            **usage,
        }
    )
    outer = facts({"ai.operationId": "ai.streamText", "ai.telemetry.metadata.sessionId": "s", **usage})

    assert step.get(Field.OUTPUT_MESSAGES) == [CALL]
    assert read(step, Field.INPUT_TOKENS, Field.OUTPUT_TOKENS) == [90, 11]
    assert read(outer, Field.INPUT_TOKENS, Field.OUTPUT_TOKENS, Field.SESSION_ID) == [None, None, "s"]


def test_openllmetry_0_names_usage_before_there_were_conventions(facts: Make) -> None:
    kind = {"llm.request.type": "chat"}
    older = facts({**kind, "gen_ai.usage.prompt_tokens": 90, "gen_ai.usage.completion_tokens": 11})
    oldest = facts(
        {
            **kind,
            "llm.request.model": "gpt-4",
            "llm.usage.prompt_tokens": 90,
            "llm.usage.completion_tokens": 11,
            "llm.prompts.0.role": "user",
            "llm.prompts.0.content": "Hi",
            "llm.completions.0.content": "Hello",
        }
    )

    assert [older.role, oldest.role] == [SpanRole.MODEL] * 2
    assert read(older, Field.INPUT_TOKENS, Field.OUTPUT_TOKENS) == [90, 11]
    assert read(oldest, Field.MODEL, Field.INPUT_TOKENS, Field.OUTPUT_TOKENS) == ["gpt-4", 90, 11]
    assert oldest.get(Field.INPUT_MESSAGES) == [Message(role="user", text="Hi")]
    assert oldest.get(Field.OUTPUT_MESSAGES) == [Message(role="assistant", text="Hello")]


@pytest.mark.parametrize(
    ("cached", "reasoning"),
    [
        ("input_tokens.cached", "output_tokens.reasoning"),  # Sentry
        ("cached_input_tokens", "reasoning_output_tokens"),
        ("input_cached_tokens", "reasoning_tokens"),  # LiveKit
        ("cache_read_tokens", "details.reasoning_tokens"),
    ],
)
def test_parts_of_usage_have_many_names(cached: str, reasoning: str, facts: Make) -> None:
    call = facts(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.usage.input_tokens": 100,
            f"gen_ai.usage.{cached}": 90,
            f"gen_ai.usage.{reasoning}": 4,
        }
    )

    assert read(call, Field.INPUT_TOKENS, Field.CACHED_INPUT_TOKENS, Field.REASONING_TOKENS) == [100, 90, 4]


def test_adk_1_writes_payloads_and_empty_ones_on_its_tools(facts: Make) -> None:
    call = facts(
        {
            "gen_ai.system": "gcp.vertex.agent",
            "gen_ai.request.model": "gemini-2.0-flash",
            "gcp.vertex.agent.session_id": "sess-42",
            "gcp.vertex.agent.llm_request": json.dumps(
                {
                    "model": "gemini-2.0-flash",
                    "config": {"tools": [{"function_declarations": [{"name": "search_docs"}]}]},
                    "contents": [
                        {"role": "user", "parts": [{"text": "Hi"}]},
                        {
                            "role": "user",
                            "parts": [
                                {
                                    "function_response": {
                                        "id": "call_1",
                                        "name": "search_docs",
                                        "response": {"result": "3 documents"},
                                    }
                                }
                            ],
                        },
                    ],
                }
            ),
            "gcp.vertex.agent.llm_response": json.dumps(
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {
                                "function_call": {
                                    "id": "call_1",
                                    "name": "search_docs",
                                    "args": {"query": "refund policy"},
                                }
                            }
                        ],
                    },
                    "usage_metadata": {"prompt_token_count": 90, "cached_content_token_count": 40},
                }
            ),
            "gen_ai.usage.input_tokens": 90,
        },
        name="call_llm",
        scope="gcp.vertex.agent",
    )
    tool = facts(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search_docs",
            "gen_ai.tool.call.id": "call_1",
            "gcp.vertex.agent.tool_call_args": '{"query": "refund policy"}',
            "gcp.vertex.agent.tool_response": '{"result": "3 documents"}',
            "gcp.vertex.agent.llm_request": "{}",
        },
        scope="gcp.vertex.agent",
    )

    assert call.role is SpanRole.MODEL
    assert call.get(Field.OUTPUT_MESSAGES) == [CALL]
    assert call.get(Field.INPUT_MESSAGES)[1].tool_responses[0].result == "3 documents"
    assert read(call, Field.INPUT_TOKENS, Field.CACHED_INPUT_TOKENS, Field.SESSION_ID) == [90, 40, "sess-42"]
    assert call.get(Field.TOOL_DEFINITIONS) == [{"name": "search_docs"}]
    assert read(tool, *TOOL_FIELDS) == ["search_docs", "call_1", {"query": "refund policy"}, "3 documents"]
    assert tool.get(Field.INPUT_MESSAGES) is None


@pytest.mark.parametrize(
    ("name", "attributes", "role"),
    [
        ("invocation", {}, SpanRole.AGENT),
        ("agent_run [support_agent]", {}, SpanRole.AGENT),
        ("send_data", {}, SpanRole.OTHER),
        (
            "execute_tool (merged)",
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"},
            SpanRole.OTHER,
        ),
    ],
)
def test_adk_1_is_known_by_its_names(facts: Make, name: str, attributes: dict[str, Any], role: SpanRole) -> None:
    assert facts(attributes, name=name, scope="gcp.vertex.agent").role is role


def test_adk_1_names_an_agent_in_brackets(facts: Make) -> None:
    assert (
        facts({}, name="agent_run [support_agent]", scope="gcp.vertex.agent").get(Field.AGENT_NAME) == "support_agent"
    )


def test_pydantic_ai_0_writes_events_into_one_attribute(facts: Make) -> None:
    events = [
        {"content": "Be kind.", "role": "system", "event.name": "gen_ai.system.message"},
        {"content": "Hi", "role": "user", "event.name": "gen_ai.user.message"},
        {
            "content": "3 documents",
            "role": "tool",
            "id": "call_1",
            "name": "search_docs",
            "event.name": "gen_ai.tool.message",
        },
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "search_docs", "arguments": '{"query": "refund policy"}'},
                    }
                ],
            },
            "event.name": "gen_ai.choice",
        },
    ]
    call = facts({"gen_ai.operation.name": "chat", "events": json.dumps(events)}, name="chat m", scope="pydantic-ai")
    tool = facts(
        {
            "gen_ai.tool.name": "search_docs",
            "gen_ai.tool.call.id": "call_1",
            "tool_arguments": '{"query":"refund policy"}',
            "tool_response": "3 documents",
        },
        name="running tool",
        scope="pydantic-ai",
    )
    agent = facts(
        {"agent_name": "support_agent", "gen_ai.usage.input_tokens": 590}, name="agent run", scope="pydantic-ai"
    )

    assert [message.role for message in call.get(Field.INPUT_MESSAGES)] == ["system", "user", "tool"]
    assert call.get(Field.OUTPUT_MESSAGES) == [CALL]
    assert read(tool, *TOOL_FIELDS) == ["search_docs", "call_1", {"query": "refund policy"}, "3 documents"]
    assert (agent.role, agent.get(Field.AGENT_NAME), agent.get(Field.INPUT_TOKENS)) == (
        SpanRole.AGENT,
        "support_agent",
        590,
    )
    assert facts({}, name="running tools", scope="pydantic-ai").role is SpanRole.TURN


def test_semantic_kernel_names_one_reason(facts: Make) -> None:
    call = facts({"gen_ai.operation.name": "chat", "gen_ai.response.finish_reason": "FinishReason.LENGTH"})

    assert call.get(Field.FINISH_REASONS) == ["FinishReason.LENGTH"]


def test_logfires_own_instrumentation_keeps_request_and_response(facts: Make) -> None:
    call = facts(
        {
            "logfire.msg": "Chat Completion with 'gpt-4o'",
            "gen_ai.request.model": "gpt-4o",
            "request_data": '{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}',
            "response_data": (
                '{"message": {"role": "assistant", "content": "Hello"}, "usage": '
                '{"prompt_tokens": 9, "completion_tokens": 2}}'
            ),
        },
        scope="logfire.openai",
    )

    assert call.role is SpanRole.MODEL
    assert call.get(Field.INPUT_MESSAGES) == [Message(role="user", text="Hi")]
    assert call.get(Field.OUTPUT_MESSAGES) == [Message(role="assistant", text="Hello")]
    assert read(call, Field.INPUT_TOKENS, Field.OUTPUT_TOKENS) == [9, 2]


def strands_details(key: str, part: dict[str, Any]) -> SpanEvent:
    return SpanEvent(1, DETAILS, {key: json.dumps([{"role": "tool", "parts": [part]}])})


def test_strands_with_the_newest_conventions_writes_details(facts: Make) -> None:
    asked = {
        "type": "tool_call",
        "name": "search_docs",
        "id": "call_1",
        "arguments": [{"content": {"query": "refund policy"}}],
    }
    gave = {"type": "tool_call_response", "id": "call_1", "response": [{"text": "3 documents"}]}
    tool = facts(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.provider.name": "strands-agents",
            "gen_ai.tool.name": "search_docs",
            "gen_ai.tool.call.id": "call_1",
            "gen_ai.tool.status": "success",
        },
        scope="strands.telemetry.tracer",
        events=(strands_details("gen_ai.input.messages", asked), strands_details("gen_ai.output.messages", gave)),
    )

    assert read(tool, *TOOL_FIELDS) == ["search_docs", "call_1", {"query": "refund policy"}, "3 documents"]
    assert tool.get(Field.FAILED) is False


def test_openinference_on_litellm_has_call_ids_in_the_raw_bodies_alone(facts: Make) -> None:
    body = {
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "tool", "tool_call_id": "call_1", "content": "3 documents"},
        ]
    }
    response = {
        "choices": [
            {
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "call_1", "function": {"name": "search_docs", "arguments": '{"query": "refund policy"}'}}
                    ],
                },
            }
        ]
    }
    call = facts(
        {
            "openinference.span.kind": "LLM",
            "input.value": json.dumps(body),
            "output.value": json.dumps(response),
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Hi",
            "llm.input_messages.1.message.role": "tool",
            "llm.input_messages.1.message.content": "3 documents",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "search_docs",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"query": "refund policy"}',
        }
    )

    assert call.get(Field.INPUT_MESSAGES) == [Message(role="user", text="Hi"), RESULT]
    assert [message.tool_requests for message in call.get(Field.OUTPUT_MESSAGES)] == [CALL.tool_requests]


def test_openinference_on_autogen_has_usage_and_answer_in_the_raw_output(facts: Make) -> None:
    create_result = {
        "finish_reason": "function_calls",
        "content": [{"id": "call_1", "arguments": '{"query": "refund policy"}', "name": "search_docs"}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 18},
        "cached": False,
    }
    call = facts({"openinference.span.kind": "LLM", "output.value": json.dumps(create_result)})

    assert call.get(Field.OUTPUT_MESSAGES) == [CALL]
    assert read(call, Field.INPUT_TOKENS, Field.OUTPUT_TOKENS) == [120, 18]


def test_openinference_on_crewai_has_the_crews_sums_in_its_output(facts: Make) -> None:
    output = {
        "raw": "5 days",
        "tasks_output": [{"raw": "5 days", "messages": [{"role": "user", "content": "Hi"}]}],
        "token_usage": {"prompt_tokens": 490, "completion_tokens": 55, "successful_requests": 3},
    }
    scope = "openinference.instrumentation.crewai._event_listener"
    crew = facts(
        {"openinference.span.kind": "CHAIN", "output.value": json.dumps(output)},
        name="support_crew.kickoff",
        scope=scope,
    )
    tool = facts(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "search_docs",
            "input.value": (
                '{"tool_string": "Action: …", "tool": "Tool()", "calling": '
                "\"ToolCalling(tool_name='search_docs', arguments={'query': 'refund "
                "policy'})\"}"
            ),
            "output.value": "3 documents",
        },
        name="search_docs._use",
        scope=scope,
    )

    assert crew.role is SpanRole.AGENT
    assert read(crew, Field.INPUT_TOKENS, Field.OUTPUT_TOKENS, Field.OUTPUT) == [
        490,
        55,
        "5 days",
    ]
    assert crew.get(Field.TRANSCRIPT) == [Message(role="user", text="Hi")]
    assert read(tool, *TOOL_FIELDS) == ["search_docs", None, {"query": "refund policy"}, "3 documents"]


def test_traceloops_decorators_write_down_the_python_call(facts: Make) -> None:
    tool = facts(
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "search_docs",
            "traceloop.association.properties.session_id": "sess-42",
            "traceloop.entity.input": '{"args": [], "kwargs": {"query": "refund policy"}}',
            "traceloop.entity.output": '"3 documents"',
        },
        name="search_docs.tool",
    )
    workflow = facts(
        {
            "traceloop.span.kind": "workflow",
            "traceloop.entity.name": "support_flow",
            "traceloop.entity.input": '{"args": ["Hi"], "kwargs": {}}',
            "traceloop.entity.output": '"Hello"',
        }
    )

    assert read(tool, *TOOL_FIELDS) == ["search_docs", None, {"query": "refund policy"}, "3 documents"]
    assert tool.get(Field.SESSION_ID) == "sess-42"
    assert workflow.role is SpanRole.AGENT
    assert read(workflow, Field.AGENT_NAME, Field.INPUT, Field.OUTPUT) == ["support_flow", "Hi", "Hello"]


@pytest.mark.parametrize(
    ("attributes", "parent", "role"),
    [
        (
            {
                "traceloop.span.kind": "workflow",
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": "langgraph",
            },
            "a" * 16,
            SpanRole.TURN,
        ),
        (
            {
                "traceloop.span.kind": "workflow",
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": "langchain",
            },
            None,
            SpanRole.AGENT,
        ),
        ({"traceloop.span.kind": "task", "gen_ai.operation.name": "invoke_agent"}, "a" * 16, SpanRole.TURN),
        ({"traceloop.span.kind": "handoff"}, "a" * 16, SpanRole.OTHER),
        ({"traceloop.span.kind": "unknown", "gen_ai.operation.name": "chat"}, None, SpanRole.MODEL),
        ({"llm.request.type": "response", "gen_ai.operation.name": "response"}, None, SpanRole.MODEL),
        ({"llm.request.type": "rerank"}, None, SpanRole.RETRIEVER),
    ],
)
def test_openllmetrys_operation_says_more_than_its_kind(
    facts: Make, attributes: dict[str, Any], parent: str | None, role: SpanRole
) -> None:
    assert facts(attributes, parent=parent).role is role


def test_langsmiths_run_type_decides_and_inputs_are_json(facts: Make) -> None:
    tool = facts(
        {
            "langsmith.span.kind": "tool",
            "langsmith.metadata.thread_id": "thread-42",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.prompt": "{\"input\": \"{'query': 'refund policy'}\"}",
            "gen_ai.completion": (
                '{"output": {"type": "tool", "content": "3 documents", "tool_call_id": "call_1", "status": "success"}}'
            ),
        },
        name="search_docs",
        parent="a" * 16,
    )
    call = facts(
        {
            "langsmith.span.kind": "llm",
            "gen_ai.prompt": (
                '{"messages": [[{"lc": 1, "type": "constructor", "id": ["HumanMessage"], '
                '"kwargs": {"content": "Hi"}}]]}'
            ),
            "gen_ai.completion": (
                '{"generations": [[{"text": "Hello", "message": {"lc": 1, "type": "constructor", '
                '"id": ["AIMessage"], "kwargs": {"content": "Hello"}}}]]}'
            ),
            "gen_ai.usage.input_tokens": 9,
            "gen_ai.usage.input_token_details": "{'cache_read': 4}",
        },
        parent="a" * 16,
    )

    assert read(tool, *TOOL_FIELDS) == ["search_docs", "call_1", {"query": "refund policy"}, "3 documents"]
    assert read(tool, Field.SESSION_ID, Field.FAILED) == ["thread-42", False]
    assert call.get(Field.INPUT_MESSAGES) == [Message(role="user", text="Hi")]
    assert [message.text for message in call.get(Field.OUTPUT_MESSAGES)] == ["Hello"]
    assert read(call, Field.INPUT_TOKENS, Field.CACHED_INPUT_TOKENS) == [9, 4]


@pytest.mark.parametrize(
    ("kind", "operation", "parent", "role"),
    [
        ("retriever", "embeddings", "a" * 16, SpanRole.RETRIEVER),
        ("prompt", "chat", "a" * 16, SpanRole.OTHER),
        ("chain", "chain", "a" * 16, SpanRole.TURN),
        ("chain", "chain", None, SpanRole.AGENT),
    ],
)
def test_langsmiths_operation_names_mislead(
    facts: Make, kind: str, operation: str, parent: str | None, role: SpanRole
) -> None:
    attributes = {"langsmith.span.kind": kind, "gen_ai.operation.name": operation}

    assert facts(attributes, parent=parent).role is role


def test_langfuse_says_failure_in_the_level(facts: Make) -> None:
    tool = facts(
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.level": "ERROR",
            "langfuse.observation.status_message": "upstream timeout",
            "langfuse.observation.input": '{"args": [], "kwargs": {"url": "https://x.test/a"}}',
        },
        name="flaky_fetch",
    )

    assert read(tool, Field.FAILED, Field.ERROR_MESSAGE, Field.TOOL_NAME) == [True, "upstream timeout", "flaky_fetch"]


@pytest.mark.parametrize(
    ("usage", "whole"),
    [
        ({"input": 48000, "output": 900, "total": 88900, "input_cached_tokens": 40000}, 88000),
        ({"input": 88000, "output": 900, "total": 88900, "input_cached_tokens": 40000}, 88000),
        ({"input": 120, "output": 18, "total": 138}, 120),
        ({"input": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3}, 18),
        ({"output": 3}, None),
    ],
)
def test_langfuses_cached_input_stands_beside_the_input(facts: Make, usage: dict[str, int], whole: int | None) -> None:
    call = facts({"langfuse.observation.type": "generation", "langfuse.observation.usage_details": json.dumps(usage)})

    assert call.get(Field.INPUT_TOKENS) == whole


def test_claude_codes_tool_fails_in_its_child(facts: Make) -> None:
    tool = facts(
        {"span.type": "tool", "tool_name": "Bash", "full_command": "exit 2", "session.id": "s"}, name="claude_code.tool"
    )
    child = facts(
        {"span.type": "tool.execution", "success": False, "error": "Exit code 2\nno such file"},
        name="claude_code.tool.execution",
    )

    assert tool.get(Field.FAILED) is None
    assert child.role is SpanRole.OTHER
    assert read(child, Field.FAILED, Field.EXIT_CODE, Field.ERROR_MESSAGE) == [True, 2, "Exit code 2\nno such file"]


def test_claude_codes_skill_stands_on_the_tool_span(facts: Make) -> None:
    skill = facts({"span.type": "tool", "tool_name": "Skill", "skill_name": "pdf"}, name="claude_code.tool")

    assert (skill.role, skill.get(Field.SKILL_NAME)) == (SpanRole.TOOL, "pdf")


def test_openclaws_cached_input_stands_beside_the_input(facts: Make) -> None:
    usage = facts(
        {
            "openclaw.tokens.input": 3770,
            "openclaw.tokens.cache_read": 9000,
            "openclaw.tokens.output": 155,
            "openclaw.tokens.total": 1332,
            "gen_ai.usage.input_tokens": 3770,
            "gen_ai.operation.name": "chat",
        },
        name="openclaw.model.usage",
        scope="openclaw",
    )

    assert usage.role is SpanRole.USAGE
    assert read(usage, Field.INPUT_TOKENS, Field.OUTPUT_TOKENS, Field.TOTAL_TOKENS) == [12770, 155, None]


@pytest.mark.parametrize("outcome", ["error", "blocked", "failed"])
def test_openclaws_outcome_says_failure_but_never_success(facts: Make, outcome: str) -> None:
    assert facts({"openclaw.outcome": outcome}, name="openclaw.tool.execution").get(Field.FAILED) is True
    assert facts({"openclaw.outcome": "completed"}, name="openclaw.exec").get(Field.FAILED) is None


def test_the_agent_frameworks_workflow_spans_are_known_in_its_scope_alone(facts: Make) -> None:
    assert facts({}, name="executor.process reviewer", scope="agent_framework").role is SpanRole.TURN
    assert facts({}, name="workflow.run", scope="agent_framework").role is SpanRole.AGENT
    assert facts({}, name="workflow.run").family is None


def test_a_litellm_proxys_frame_is_no_model_call(facts: Make) -> None:
    for name in ("Received Proxy Server Request", "raw_gen_ai_request"):
        assert facts({"gen_ai.request.model": "m"}, name=name, scope="litellm").role is SpanRole.OTHER


def test_an_mcp_span_is_its_call_and_its_ids_are_the_transports(facts: Make) -> None:
    client = facts(
        {
            "mcp.method.name": "tools/call",
            "mcp.session.id": "mcp-1",
            "jsonrpc.request.id": "3",
            "mcp.request.argument.city": "Paris",
            "gen_ai.tool.call.result": '{"content": [{"type": "text", "text": "20"}], "isError": false}',
        },
        name="tools/call get-weather",
    )

    assert read(client, *TOOL_FIELDS) == ["get-weather", None, {"city": "Paris"}, "20"]
    assert client.get(Field.SESSION_ID) is None


def test_an_empty_retrieval_is_told_from_an_unknown_one(facts: Make) -> None:
    empty = facts(
        {"openinference.span.kind": "RETRIEVER", "input.value": "policy", "output.value": '{"documents": []}'}
    )
    unknown = facts({"openinference.span.kind": "RETRIEVER", "input.value": "policy"})
    found = facts(
        {
            "openinference.span.kind": "RETRIEVER",
            "retrieval.documents.0.document.content": "5 days",
            "retrieval.documents.0.document.score": 0.9,
        }
    )

    assert read(empty, Field.QUERY, Field.RECORDS) == ["policy", []]
    assert unknown.get(Field.RECORDS) is None
    assert found.get(Field.RECORDS) == [{"content": "5 days", "score": 0.9}]
