"""What is known of a span only at its end: which kind of event it is, and fingerprints of what a tool got and gave.

The SDK lets nobody write on a span that has ended, so this goes onto the copy that is exported. Where content is to
stay inside, it is taken off that copy, and the fingerprints stand in its place.
"""

import fnmatch
from collections.abc import Iterable, Mapping
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

from analyzer.session.model import EventKind
from critiqor_otel.conventions.carriage import CARRIED, FINGERPRINTS
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, FromEvent, SpanRole, When
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.registry import ALL, facts_of
from critiqor_otel.decode.sdk import SdkReader, attributes_of, held_attributes
from critiqor_otel.emit.fingerprints import Fingerprints
from critiqor_otel.span import Span

__all__ = ["KIND", "Stamps", "is_content_key"]

KIND = "critiqor.event"
"""The kind of event that a span is (critiqor.session.v1)."""

_KINDS: Mapping[SpanRole, EventKind] = {
    SpanRole.AGENT: EventKind.STATE_TRANSITION,
    SpanRole.TURN: EventKind.STATE_TRANSITION,
    SpanRole.MODEL: EventKind.TOKEN_USAGE,
    SpanRole.TOOL: EventKind.TOOL_CALL,
    SpanRole.MEMORY: EventKind.MEMORY_EVENT,
    SpanRole.RETRIEVER: EventKind.MEMORY_EVENT,
    SpanRole.SKILL: EventKind.SKILL_EVENT,
    SpanRole.DECISION: EventKind.DECISION,
    SpanRole.CONTEXT: EventKind.CONTEXT_EVENT,
    SpanRole.RETRY: EventKind.RETRY_EVENT,
    SpanRole.USAGE: EventKind.TOKEN_USAGE,
}
_OF_KIND: Mapping[SpanRole, dict[str, Any]] = {role: {KIND: kind.value} for role, kind in _KINDS.items()}
_CONTENT = frozenset(
    {
        Field.INPUT,
        Field.OUTPUT,
        Field.INPUT_MESSAGES,
        Field.OUTPUT_MESSAGES,
        Field.SYSTEM_INSTRUCTIONS,
        Field.TOOL_ARGUMENTS,
        Field.TOOL_RESULT,
        Field.TOOL_DEFINITIONS,
        Field.QUERY,
        Field.RECORDS,
        Field.TRANSCRIPT,
    }
)
_ASKING = frozenset({"user", "system"})
# Where tables read content by a shape of their own rather than by a key.
_SPREAD = (
    *("llm.input_messages.*", "llm.output_messages.*", "llm.prompts.*", "llm.tools.*", "retrieval.documents.*"),
    *("gen_ai.prompt*", "gen_ai.completion*", "embedding.embeddings.*", "message.*", "document.*", "*.content"),
    *("*.arguments", "*.messages", "*.prompt", "*.completion", "*_instructions", "input.value", "output.value"),
)


class Stamps:
    """Makes the attributes that a span gets at its end."""

    def __init__(self, fingerprints: Fingerprints | None, *, keep_content: bool) -> None:
        """Take what makes fingerprints (None: none are made), and whether content stays on spans."""
        self._fingerprints = fingerprints
        self._keep_content = keep_content
        self._reader = SdkReader()

    def of(self, span: ReadableSpan) -> Mapping[str, Any]:
        """Return the attributes for a span of any convention; none for one that is of no agent, or carries events."""
        held = held_attributes(span)
        if not CARRIED.isdisjoint(held):
            return {}
        role = _role_by_kind(held)
        if role is not None and role not in _KINDS:
            return {}
        if role is not None and (self._fingerprints is None or (role is not SpanRole.TOOL and self._keep_content)):
            return _OF_KIND[role]
        facts = facts_of(self._of_attributes(span, held))
        kind = _KINDS.get(facts.role)
        if kind is None:
            return {}
        prints = {} if self._fingerprints is None else self._prints(facts, self._fingerprints)
        return {KIND: kind.value, **prints}

    def _of_attributes(self, span: ReadableSpan, held: Mapping[str, Any]) -> Span:
        """Return what the tables read of most spans, which is cheaper to have than the whole."""
        if span.events:
            return self._reader.span(span)
        return Span(trace_id="", span_id="", name=span.name, attributes=attributes_of(held))

    def stripped(self, held: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return attributes without content, or None when they may stay as they are."""
        if self._keep_content or not any(map(is_content_key, held)):
            return None
        return {key: value for key, value in held.items() if not is_content_key(key)}

    def _prints(self, facts: Facts, fingerprints: Fingerprints) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if facts.role is SpanRole.TOOL:
            arguments, result = facts.get(Field.TOOL_ARGUMENTS), facts.get(Field.TOOL_RESULT)
            if arguments is not None:
                made["input_fingerprint"] = fingerprints.of(arguments)
                made["input_parts"] = None if self._keep_content else fingerprints.parts(arguments)
            if result is not None:
                call_id = facts.get(Field.TOOL_CALL_ID)
                made["result_fingerprint"] = fingerprints.of_result(result, call_id)
                made["result_parts"] = None if self._keep_content else fingerprints.parts(result)
        elif facts.role is SpanRole.MODEL and not self._keep_content:
            said, asked = facts.get(Field.OUTPUT_MESSAGES), facts.get(Field.INPUT_MESSAGES)
            made["message_parts"] = fingerprints.parts([message.text for message in said or ()])
            texts = [message.text for message in asked or () if message.role in _ASKING]
            made["prompt_parts"] = fingerprints.parts([facts.get(Field.SYSTEM_INSTRUCTIONS), *texts])
        return {FINGERPRINTS[name]: value for name, value in made.items() if value}


def is_content_key(key: str) -> bool:
    """Return whether an attribute of this name holds what was said, asked or answered, in any convention."""
    known = _KNOWN_KEYS.get(key)
    if known is None:
        if len(_KNOWN_KEYS) >= _REMEMBERED:
            _KNOWN_KEYS.clear()
        known = _KNOWN_KEYS[key] = key in _CONTENT_KEYS or _matches(key, _SPREAD)
    return known


def _role_by_kind(held: Mapping[str, Any]) -> SpanRole | None:
    """Return the role that a kind attribute tells, in the order of the families; None where that is not enough."""
    for key, kinds in _KIND_KEYS:
        kind = held.get(key)
        if kind is not None:
            return kinds.get(kind) if isinstance(kind, str) else None
    return None


def _keys_of(cell: Any) -> Iterable[str]:
    match cell:
        case At(key=key) | FromEvent(key=key):
            yield key
        case When(key=_, cell=inner):
            yield from _keys_of(inner)
        case Everywhere() | _:
            return


def _content_keys(family: Convention) -> Iterable[str]:
    for field, cells in family.fields.items():
        if field in _CONTENT:
            for cell in cells:
                yield from _keys_of(cell)


def _matches(key: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(key, pattern) for pattern in patterns)


_REMEMBERED = 4096
_KNOWN_KEYS: dict[str, bool] = {}
_CONTENT_KEYS = frozenset(key for family in ALL for key in _content_keys(family))
_KIND_KEYS = tuple((family.kind_key, family.kinds) for family in ALL if family.kind_key is not None)
