"""What captured traces do not carry, and why: the only facts a diagnosis may say are missing.

A key is a family, or `family/scenario`. ABSENT: nothing in the trace says it, so it must be named in `missing` and be
null. PARTIAL: the trace says it only in part or indirectly; it is right, or it is named.
"""

from collections.abc import Mapping

NotCarried = Mapping[str, Mapping[str, str]]

ABSENT: NotCarried = {
    "claude_code": {"messages": "spans and records tell of calls, and messages are records of their own"},
    "claude_code_default_redacted": {
        "tool_arguments": "the switch OTEL_LOG_TOOL_DETAILS was off",
        "tool_results": "the switch OTEL_LOG_TOOL_CONTENT was off",
        "messages": "spans and records tell of calls, and messages are records of their own",
    },
    "codex": {"messages": "the prompt is a record of its own; answers are not written"},
    "google_adk": {
        "tool_arguments": "content capture was off",
        "tool_results": "content capture was off",
        "messages": "content capture was off",
    },
    "litellm_otel": {
        "tool_calls": "the callback writes neither tools nor messages with content capture off",
        "tool_errors": "no tool call is visible",
        "tool_arguments": "no tool call is visible",
        "tool_results": "no tool call is visible",
        "messages": "content capture was off",
    },
    "openinference_llamaindex": {"tokens": "the model class of the run reports no usage to the instrumentation"},
    "openclaw": {"messages": "this version captures no content"},
    "openclaw_latest_semconv": {
        "tool_results": "this version captures no content",
        "messages": "this version captures no content",
    },
    "openclaw_synthetic/clean_nocontent_default_semconv": {
        "tool_results": "content capture was off",
        "messages": "content capture was off",
    },
    "openllmetry_crewai/repeat_identical_calls": {
        "tool_results": "tools leave no spans; the run was stopped before its transcript was written",
        "tool_errors": "tools leave no spans; the run was stopped before its sums were written",
        "model_calls": "models leave no spans here",
        "tokens": "the run was stopped before its sums were written",
    },
    "otel_genai_openai_agents": {
        "model_calls": "the instrumentation of the agents writes no model spans; that of the client was not on",
        "tokens": "they stand on model spans, which are not there",
    },
    "otel_openai_v2_nocontent": {
        "tool_errors": "a tool's error stands in a message only, and messages were not captured",
        "tool_arguments": "content capture was off",
        "tool_results": "content capture was off",
    },
    "pydantic_ai_nocontent": {
        "tool_arguments": "content capture was off",
        "tool_results": "content capture was off",
    },
    "traps_synthetic": {
        "tool_results": "its spans were made without any",
        "messages": "its spans were made without any",
    },
}

PARTIAL: NotCarried = {
    "autogen": {
        "model_calls": "no model spans; a call is seen by the message it led to",
        "messages": "no model spans; what was handed on between the agents is seen",
    },
    "openclaw": {
        "tool_arguments": "only the shape of the arguments is written",
        "tool_results": "they are written for a failed call alone, as its error",
    },
    "openclaw_latest_semconv": {"tool_arguments": "only the shape of the arguments is written"},
    "openclaw_synthetic/clean_nocontent_default_semconv": {"tool_arguments": "content capture was off"},
    "openclaw_synthetic/tool_loop_failover_stuck": {"model_calls": "made without model spans; usage has its own"},
    "semconv_latest_synthetic": {
        "tool_arguments": "most of its tool spans were made without any",
        "tool_results": "most of its tool spans were made without any",
    },
    "openinference_google_adk": {
        "model_calls": "each call overwrites the attributes of the one before; the last one stays",
        "tokens": "those of the last model call stay",
    },
    "openinference_smolagents_custom_model": {
        "model_calls": "a model class of the user's own leaves no spans; steps are all there is",
        "messages": "a model class of the user's own leaves no spans; steps are all there is",
    },
    "openllmetry_crewai": {
        "tool_calls": "tools leave no spans; a count stands in the repr of the result",
        "tool_errors": "tools leave no spans",
        "model_calls": "models leave no spans; a count stands in the repr of the usage",
        "tool_arguments": "tools leave no spans",
        "tool_results": "tools leave no spans",
        "tokens": "the crew's sum is written when the run ends well",
        "messages": "models leave no spans; a transcript stands in the repr of the result",
    },
    "otel_genai_openai_agents": {"messages": "they stand on model spans, which are not there"},
}

_AGENT_ALONE = "the instrumentation writes the agent's span alone"

FURTHER_ABSENT: NotCarried = {
    "openinference_crewai": {"model_calls": "models leave no spans unless their client is instrumented too"},
    "openllmetry_openai_agents_chat": {"tokens": "the instrumentation leaves out the usage of chat completions"},
    "otel_genai_smolagents": dict.fromkeys(
        ("tool_calls", "tool_errors", "tool_arguments", "tool_results", "model_calls", "tokens"), _AGENT_ALONE
    ),
    "semantic_kernel": {"messages": "messages go to Python's logging"},
}
FURTHER_PARTIAL: NotCarried = {}
"""The same for the further captures, which the page of conventions does not show."""

NO_CACHED_INPUT: Mapping[str, str] = {
    "autogen": "usage in messages has no cached part",
    "openinference_google_adk": "those of the last model call stay",
    "otel_genai_openai_agents": "no tokens at all",
    "otel_openai_v2": "the instrumentation leaves the cached part out",
    "otel_openai_v2_legacy": "the instrumentation leaves the cached part out",
    "otel_openai_v2_nocontent": "the instrumentation leaves the cached part out",
    "vercel_ai_v5": "only streamed calls report it",
}


def named(table: NotCarried, family: str, scenario: str) -> set[str]:
    """Return the facts that the table names for a capture."""
    return {*table.get(family, {}), *table.get(f"{family}/{scenario}", {})}
