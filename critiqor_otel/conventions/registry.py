"""Which families there are, in order of precedence, and what they say of a span.

A framework's own table stands before the general conventions its spans are also written in, since its quirks are
exceptions to them. The first table that knows a span says what it is; each fact comes from the first that has it.
"""

from critiqor_otel.conventions.convention import Convention, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.families import (
    autogen,
    claude_code,
    codex,
    crewai,
    critiqor,
    google_adk,
    langfuse,
    langsmith,
    litellm,
    llamaindex,
    mcp,
    mlflow,
    ms_agent_framework,
    openclaw,
    openinference,
    openllmetry,
    otel_genai,
    pydantic_ai,
    smolagents,
    strands,
    vercel,
)
from critiqor_otel.span import Span

__all__ = ["ALL", "SCATTERED", "facts_of"]

ALL: tuple[Convention, ...] = (
    mcp.CONVENTION,  # a transport's span is also an execute_tool
    claude_code.CONVENTION,
    openclaw.CONVENTION,
    codex.CONVENTION,
    autogen.CONVENTION,
    google_adk.CONVENTION,
    strands.CONVENTION,
    pydantic_ai.CONVENTION,
    ms_agent_framework.CONVENTION,
    crewai.CONVENTION,
    llamaindex.CONVENTION,
    smolagents.CONVENTION,
    langsmith.CONVENTION,
    langfuse.CONVENTION,
    mlflow.CONVENTION,
    vercel.CONVENTION,
    litellm.CONVENTION,
    openinference.CONVENTION,
    openllmetry.CONVENTION,
    otel_genai.CONVENTION,
    critiqor.CONVENTION,  # says whose a span is, not what
)

SCATTERED = frozenset({"openclaw", "autogen", "codex"})
"""Families whose runs lie in several traces that no id joins."""


def facts_of(span: Span) -> Facts:
    """Return what the tables say of a span; its role is OTHER where no family knows it."""
    found: list[tuple[Convention, SpanRole]] = []
    for convention in ALL:
        role = convention.role_of(span)
        if role is not None:
            found.append((convention, role))
    return Facts(span, tuple(found))
