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

__all__ = ["ALL", "SCATTERED", "TABLES", "Tables", "facts_of"]

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


_MOST_SHAPES = 4096
_MOST_KEYS = 64  # indexed messages make every span's keys its own: such a shape is not remembered


class Tables:
    """Some families in order of precedence, and which of them to ask about a span of a shape that was met before."""

    def __init__(self, families: tuple[Convention, ...]) -> None:
        """Take the families."""
        self._families = families
        self._names = tuple(name for family in families if family.signs is not None for name in family.signs.names)
        self._asked: dict[tuple[str, tuple[str, ...]], tuple[Convention, ...]] = {}

    def facts_of(self, span: Span) -> Facts:
        """Return what the tables say of a span; its role is OTHER where no family knows it."""
        found: list[tuple[Convention, SpanRole]] = []
        for convention in self._to_ask(span):
            role = convention.role_of(span)
            if role is not None:
                found.append((convention, role))
        return Facts(span, tuple(found))

    def _to_ask(self, span: Span) -> tuple[Convention, ...]:
        """Return the families that have a sign on the span; worked out once for spans of one scope and equal keys."""
        if len(span.attributes) > _MOST_KEYS or span.name.startswith(self._names):
            return self._marked(span)
        shape = (span.scope.name, tuple(span.attributes))
        families = self._asked.get(shape)
        if families is None:
            if len(self._asked) >= _MOST_SHAPES:
                self._asked.clear()
            families = self._asked[shape] = self._marked(span)
        return families

    def _marked(self, span: Span) -> tuple[Convention, ...]:
        return tuple(family for family in self._families if family.signs is None or family.signs.mark(span))


TABLES = Tables(ALL)


def facts_of(span: Span) -> Facts:
    """Return what the tables say of a span; its role is OTHER where no family knows it."""
    return TABLES.facts_of(span)
