"""What ties the traces of one run together, as far as a single span can tell: explicit ids, and an agent that speaks.

The last word has `reconstruct`, which sees the whole; these keys only say which traces to wait for together.
"""

from collections.abc import Iterable, Iterator, Mapping

from critiqor_otel.conventions.convention import At, Cell, Convention, Field, FromEvent, FromResource, SpanRole, When
from critiqor_otel.conventions.registry import ALL, SCATTERED, facts_of
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.span import AttributeValue, LogRecord, Span

__all__ = ["Key", "is_whole_agent", "keys_of", "names_in", "service_key"]

Key = tuple[str, str]

_FIELDS = (Field.RUN_ID, Field.SESSION_ID)


def names_in(span: Span) -> tuple[str, ...]:
    """Return the words on a span that may name a run; none where `keys_of` would find none.

    Cheap, where `keys_of` is not: spans with equal words need not be asked again.
    """
    attributes = span.attributes
    words = [f"{key}={attributes[key]!r}" for key in attributes if key in _ATTRIBUTES]
    if not _ATTRIBUTES.isdisjoint(span.resource.attributes):
        words += _words(span.resource.attributes)
    for event in span.events:
        words += _words(event.attributes)
    if _SIGNS.mark(span) and any(family.role_of(span) is not None for family in _LOOK_AT_ALL):
        words.append(span.span_id)
    return tuple(words)


def keys_of(span: Span) -> Iterator[Key]:
    """Yield the run id and the conversation id that a span names."""
    facts = facts_of(span)
    for field in _FIELDS:
        named = facts.get(field)
        if isinstance(named, str) and named:
            yield field.value, named


def service_key(told: Span | LogRecord) -> Key:
    """Return the key of the service it comes from, under which traces without any other key wait."""
    return "service", repr(told.resource.attributes.get("service.name"))


def is_whole_agent(span: Span) -> bool:
    """Tell whether the span is the run of an agent, and its family one that keeps a run in one trace."""
    facts = facts_of(span)
    return facts.role is SpanRole.AGENT and facts.family not in SCATTERED


def _cells(families: Iterable[Convention]) -> tuple[Cell, ...]:
    return tuple(cell for family in families for field in _FIELDS for cell in family.fields.get(field, ()))


def _attribute(cell: Cell) -> str | None:
    """Return the attribute a cell stands for, of span, resource or event; None for one that looks at the whole span."""
    match cell:
        case At(key=key) | FromResource(key=key) | FromEvent(key=key):
            return key
        case When(cell=inner):
            return _attribute(inner)
        case _:
            return None


_ATTRIBUTES = frozenset(key for cell in _cells(ALL) if (key := _attribute(cell)) is not None)
_LOOK_AT_ALL = tuple(family for family in ALL if any(_attribute(cell) is None for cell in _cells((family,))))
"""Families that find the id of a run anywhere on a span."""


def _signs_of(families: Iterable[Convention]) -> Signs:
    """Return what a span must have for any of the families to be asked about it."""
    signs = [family.signs or Signs(names=("",)) for family in families]  # every name begins with nothing
    return Signs(
        keys=frozenset(key for one in signs for key in one.keys),
        scopes=tuple(scope for one in signs for scope in one.scopes),
        names=tuple(name for one in signs for name in one.names),
        resource=frozenset(key for one in signs for key in one.resource),
    )


_SIGNS = _signs_of(_LOOK_AT_ALL)


def _words(attributes: Mapping[str, AttributeValue]) -> list[str]:
    return [f"{key}={attributes[key]!r}" for key in attributes if key in _ATTRIBUTES]
