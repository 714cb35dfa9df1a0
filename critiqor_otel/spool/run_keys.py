"""What ties the traces of one run together, as far as a single span can tell: explicit ids, and an agent that speaks.

The last word has `reconstruct`, which sees the whole; these keys only say which traces to wait for together.
"""

from collections.abc import Iterator, Mapping

from critiqor_otel.conventions.convention import At, Cell, Field, FromEvent, FromResource, SpanRole, When
from critiqor_otel.conventions.registry import ALL, facts_of
from critiqor_otel.span import AttributeValue, Span

__all__ = ["Key", "is_agent", "keys_of", "names_in", "service_key"]

Key = tuple[str, str]

_FIELDS = (Field.RUN_ID, Field.SESSION_ID)


def names_in(span: Span) -> tuple[str, ...]:
    """Return the words on a span that may name a run; none where `keys_of` would find none.

    Cheap, where `keys_of` is not: spans with equal words need not be asked again.
    """
    if _ON_ANY_SPAN:
        return (span.span_id,)
    words = [_word(span.attributes, key) for key in _ATTRIBUTES if key in span.attributes]
    words += [_word(span.resource.attributes, key) for key in _ATTRIBUTES if key in span.resource.attributes]
    for event in span.events:
        words += [_word(event.attributes, key) for key in _ATTRIBUTES if key in event.attributes]
    return tuple(words)


def keys_of(span: Span) -> Iterator[Key]:
    """Yield the run id and the conversation id that a span names."""
    facts = facts_of(span)
    for field in _FIELDS:
        named = facts.get(field)
        if isinstance(named, str) and named:
            yield field.value, named


def service_key(span: Span) -> Key:
    """Return the key of the service a span comes from, under which traces without any other key wait."""
    return "service", repr(span.resource.attributes.get("service.name"))


def is_agent(span: Span) -> bool:
    """Tell whether the span is the run of an agent."""
    return facts_of(span).role is SpanRole.AGENT


def _cells() -> tuple[Cell, ...]:
    return tuple(cell for family in ALL for field in _FIELDS for cell in family.fields.get(field, ()))


def _attribute(cell: Cell) -> str | None:
    """Return the attribute a cell stands for, of span, resource or event; None for one that looks at the whole span."""
    match cell:
        case At(key=key) | FromResource(key=key) | FromEvent(key=key):
            return key
        case When(cell=inner):
            return _attribute(inner)
        case _:
            return None


_ATTRIBUTES = sorted({key for cell in _cells() if (key := _attribute(cell)) is not None})
_ON_ANY_SPAN = any(_attribute(cell) is None for cell in _cells())


def _word(attributes: Mapping[str, AttributeValue], key: str) -> str:
    return f"{key}={attributes[key]!r}"
