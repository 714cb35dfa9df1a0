"""Which families there are, in order of precedence, and what they say of a span.

A framework's own table stands before the general conventions its spans are also written in, since its quirks are
exceptions to them. The first table that knows a span says what it is; each fact comes from the first that has it.
"""

from typing import TypeVar

from critiqor_otel.conventions.convention import Convention
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.families import (
    autogen,
    claude_code,
    codex,
    crewai,
    critiqor,
    genkit,
    google_adk,
    haystack,
    langfuse,
    langsmith,
    litellm,
    llamaindex,
    logfire,
    mcp,
    mlflow,
    ms_agent_framework,
    openclaw,
    openinference,
    openllmetry,
    otel_genai,
    pydantic_ai,
    retry_events,
    smolagents,
    strands,
    vercel,
)
from critiqor_otel.conventions.plans import Plan, keys_of, plan_for, resource_keys_of
from critiqor_otel.span import Span

__all__ = ["ALL", "SCATTERED", "TABLES", "Tables", "facts_of"]

ALL: tuple[Convention, ...] = (
    mcp.CONVENTION,  # a transport's span is also an execute_tool
    claude_code.CONVENTION,
    openclaw.CONVENTION,
    codex.CONVENTION,
    autogen.CONVENTION,
    genkit.CONVENTION,
    haystack.CONVENTION,
    google_adk.CONVENTION,
    strands.CONVENTION,
    logfire.CONVENTION,  # its model calls are also pydantic-ai's
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
    retry_events.CONVENTION,
    critiqor.CONVENTION,  # says whose a span is, not what
)

SCATTERED = frozenset({"openclaw", "autogen", "codex"})
"""Families whose runs lie in several traces that no id joins."""


_MOST_SHAPES = 4096
_MANY_KEYS = 32  # numbered messages: hardly two spans have the same
_LONGEST = 1 << 12  # signs of all names and keys that are remembered together

_Keys = TypeVar("_Keys")
_Met = tuple[tuple[str, ...], str, bool, tuple[str, ...], tuple[str, ...]]


class _Shape:
    """Spans of one scope with the same keys (of those that tables name): whom to ask, and the plan for each answer."""

    __slots__ = ("by_kinds", "by_roles", "families", "kind_keys", "named")

    def __init__(self, span: Span, families: tuple[Convention, ...], *, named: bool) -> None:
        self.families = families
        self.named = named
        self.kind_keys = [family.kind_key for family in families if family.kind_key in span.attributes]
        self.by_roles: dict[tuple[object, ...], Plan] = {}
        self.by_kinds: dict[tuple[object, ...], Plan] = {}
        """For kinds that say alone what a span is, in the words of every family."""


class Tables:
    """Some families in order of precedence, and how spans of a shape that was met before are read."""

    def __init__(self, families: tuple[Convention, ...]) -> None:
        """Take the families."""
        self._families = families
        self._names = tuple(name for family in families if family.signs is not None for name in family.signs.names)
        self._keys = frozenset[str]().union(*map(keys_of, families))
        self._resource_keys = frozenset[str]().union(*map(resource_keys_of, families))
        self._shapes: dict[tuple[object, ...], _Shape] = {}
        self._met: dict[_Met, _Shape] = {}
        """The same, by all keys in their order: quicker to look up."""

    def facts_of(self, span: Span) -> Facts:
        """Return what the tables say of a span; its role is OTHER where no family knows it."""
        shape = self._shape(span)
        held = span.attributes
        kinds = tuple([held[key] for key in shape.kind_keys])
        try:
            plan = shape.by_kinds.get(kinds)
        except TypeError:  # a list, which is no kind
            plan = None
        return Facts(span, plan or _plan_by_roles(span, shape, kinds))

    def _shape(self, span: Span) -> _Shape:
        """Return the shape of a span; spans of one instrumentation have the same keys in the same order."""
        name, held = span.name, span.attributes
        signs = tuple([sign for sign in self._names if name.startswith(sign)]) if name.startswith(self._names) else ()
        if len(held) > _MANY_KEYS:
            return self._shape_of(span, signs)
        keys = signs, span.scope.name, bool(span.events), tuple(span.resource.attributes), tuple(held)
        shape = self._met.get(keys)
        if shape is None:
            shape = self._shape_of(span, signs)
            if _is_short(keys):
                _room(self._met)[keys] = shape
        return shape

    def _shape_of(self, span: Span, signs: tuple[str, ...]) -> _Shape:
        """Return the one shape for all spans that no table tells apart before it is asked."""
        held = self._keys.intersection(span.attributes)
        resource = self._resource_keys.intersection(span.resource.attributes)
        named = len(held) == len(span.attributes)
        keys = signs, span.scope.name, bool(span.events), resource, held, named
        shape = self._shapes.get(keys)
        if shape is None:
            shape = _Shape(span, self._marked(span), named=named)
            if len(span.scope.name) <= _LONGEST:
                _room(self._shapes)[keys] = shape
        return shape

    def _marked(self, span: Span) -> tuple[Convention, ...]:
        return tuple(family for family in self._families if family.signs is None or family.signs.mark(span))


def _room(shapes: dict[_Keys, _Shape]) -> dict[_Keys, _Shape]:
    if len(shapes) >= _MOST_SHAPES:
        shapes.clear()
    return shapes


def _is_short(keys: _Met) -> bool:
    """Tell whether it is worth the memory to know these again: who sends them may write what they please."""
    _, scope, _, resource, held = keys
    return len(scope) + sum(map(len, resource)) + sum(map(len, held)) <= _LONGEST


def _plan_by_roles(span: Span, shape: _Shape, kinds: tuple[object, ...]) -> Plan:
    """Return the plan for what each family says the span is; keep it by the kinds alone where those decide that."""
    roles = tuple([family.role_of(span) for family in shape.families])
    settled = all(family.names_kind_of(span) for family in shape.families)
    plans, key = (shape.by_kinds, kinds) if settled else (shape.by_roles, roles)
    plan = plans.get(key)
    if plan is None:
        fixed = frozenset(shape.kind_keys) if settled else frozenset[str]()
        plan = plans[key] = plan_for(span, shape.families, roles, fixed=fixed, named=shape.named)
    return plan


TABLES = Tables(ALL)


def facts_of(span: Span) -> Facts:
    """Return what the tables say of a span; its role is OTHER where no family knows it."""
    return TABLES.facts_of(span)
