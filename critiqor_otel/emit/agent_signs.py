"""Is this span of an agent, as far as that can be seen when it starts?

Most instrumentations set their attributes before the start or name the span tellingly; of the others the scope tells.
"""

from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.trace import Span

from critiqor_otel.conventions.carriage import RUN_ID
from critiqor_otel.conventions.registry import ALL

__all__ = ["is_agent_span"]

_KEYS = frozenset(
    {
        *(family.kind_key for family in ALL if family.kind_key is not None),
        *("gen_ai.system", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.agent.name", "gen_ai.tool.name"),
        *("gen_ai.conversation.id", "llm.request.type", "llm.system", "traceloop.span.kind", "span.type", RUN_ID),
    }
)
_NAMES = frozenset(name for family in ALL for name in family.names)
_NAME_BEGINNINGS = ("invoke_agent", "execute_tool", "invoke_workflow", "openclaw.", "chat ", "autogen ")
# Packages that instrument agents and model clients, by the beginnings of their scopes' names.
_SCOPES = (
    *("critiqor_otel", "openinference.", "openllmetry", "traceloop", "langfuse", "langsmith", "mlflow", "pydantic-ai"),
    *("strands", "gcp.vertex.agent", "google.adk", "agent_framework", "autogen", "crewai", "smolagents", "openclaw"),
    *("llama_index", "haystack", "dspy", "litellm", "semantic_kernel", "openai_agents", "claude_agent"),
    *(f"opentelemetry.instrumentation.{name}" for name in ("openai", "anthropic", "bedrock", "cohere", "mistral")),
    *(f"opentelemetry.instrumentation.{name}" for name in ("google_gen", "vertexai", "groq", "ollama", "langchain")),
    *(f"opentelemetry.instrumentation.{name}" for name in ("llamaindex", "crewai", "mcp", "watsonx", "genai")),
)
_REMEMBERED = 4096
_known_scopes: dict[str, bool] = {}


def is_agent_span(span: Span, held: Mapping[str, Any]) -> bool:
    """Return whether the span, which has these attributes, shows a sign of an agent."""
    if not _KEYS.isdisjoint(held):
        return True
    scope = span.instrumentation_scope
    if scope is not None and _is_agent_scope(scope.name):
        return True
    return span.name in _NAMES or span.name.startswith(_NAME_BEGINNINGS)


def _is_agent_scope(name: str) -> bool:
    known = _known_scopes.get(name)
    if known is None:
        if len(_known_scopes) >= _REMEMBERED:
            _known_scopes.clear()
        known = _known_scopes[name] = name.startswith(_SCOPES)
    return known
