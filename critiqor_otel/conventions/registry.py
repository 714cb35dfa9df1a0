"""Which families there are, in order of precedence, and what they say of a span.

A framework's own table stands before the general conventions its spans are also written in, since its quirks are
exceptions to them.
"""

from critiqor_otel.conventions.convention import Convention, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.families import openinference, otel_genai
from critiqor_otel.span import Span

__all__ = ["ALL", "SCATTERED", "facts_of"]

ALL: tuple[Convention, ...] = (
    openinference.CONVENTION,
    otel_genai.CONVENTION,
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
