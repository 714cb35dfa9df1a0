"""How spans of one shape are read: what they are, and where on them each fact can stand.

Spans of one instrumentation have the same attribute keys over and over, and most places of most fields are empty on
them. What can be there is worked out once for each set of keys.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from critiqor_otel.conventions.convention import (
    At,
    Cell,
    Convention,
    Everywhere,
    Field,
    FromEvent,
    FromResource,
    SpanRole,
    When,
)
from critiqor_otel.span import Span

__all__ = ["Form", "Plan", "Spot", "keys_of", "plan_for", "resource_keys_of", "spots_of"]

Spot = tuple[str | None, Callable[[Any], Any], str]
"""A place: the attribute's key and its shape, or None and what reads the whole span; and the name of its family."""


class Form:
    """Facts that are asked for together, in the order in which they are read, and the names they are told under."""

    __slots__ = ("fields",)

    def __init__(self, **fields: Field) -> None:
        """Take name and field of each."""
        self.fields = tuple(fields.items())


class Plan(Struct, frozen=True):
    """What spans of one shape are, and where their facts can stand."""

    role: SpanRole
    family: str | None
    spots: Mapping[Field, tuple[Spot, ...]]
    """For each field that can be there: its places in order of precedence."""
    _forms: dict[Form, tuple[tuple[str, Field, tuple[Spot, ...]], ...]] = {}

    def of_form(self, form: Form) -> tuple[tuple[str, Field, tuple[Spot, ...]], ...]:
        """Return name, field and places of those facts of a form that can be there."""
        found = self._forms.get(form)
        if found is None:
            spots = self.spots
            found = tuple((name, field, spots[field]) for name, field in form.fields if field in spots)
            self._forms[form] = found
        return found


def plan_for(span: Span, families: tuple[Convention, ...], roles: tuple[SpanRole | None, ...]) -> Plan:
    """Return the plan for spans with these keys that the families take for these roles.

    The families come in order of precedence; those without a role do not know the span. The first that does says what
    it is.
    """
    known = [(family, role) for family, role in zip(families, roles, strict=True) if role is not None]
    if not known:
        return _NOTHING
    first, role = known[0]
    return Plan(role, first.name, spots_of(span, [family for family, _ in known]))


_NOTHING = Plan(SpanRole.OTHER, None, {})


def spots_of(span: Span, families: list[Convention]) -> Mapping[Field, tuple[Spot, ...]]:
    """Return the places where facts of a span with these keys can stand, in the words of these families."""
    spots: dict[Field, list[Spot]] = {}
    for family in families:
        for field, cells in family.fields.items():
            for cell in cells:
                if _is_possible(cell, span):
                    spots.setdefault(field, []).append(_spot(cell, family.name))
    return {field: tuple(found) for field, found in spots.items()}


def keys_of(family: Convention) -> frozenset[str]:
    """Return the attributes whose presence decides how the family reads a span."""
    named = {key for cells in family.fields.values() for cell in cells for key in _keys(cell)}
    signs = frozenset[str]() if family.signs is None else family.signs.keys
    return signs.union(named)


def resource_keys_of(family: Convention) -> frozenset[str]:
    """Return the resource's attributes whose presence decides how the family reads a span."""
    inner = [_innermost(cell) for cells in family.fields.values() for cell in cells]
    signs = frozenset[str]() if family.signs is None else family.signs.resource
    return signs.union(cell.key for cell in inner if isinstance(cell, FromResource))


def _innermost(cell: Cell) -> Cell:
    return _innermost(cell.cell) if isinstance(cell, When) else cell


def _keys(cell: Cell) -> tuple[str, ...]:
    match cell:
        case At():
            return (cell.key,)
        case When():
            return cell.key, *_keys(cell.cell)
        case _:
            return ()


def _spot(cell: Cell, family: str) -> Spot:
    match cell:
        case At(key=key, shape=shape):
            return key, shape, family
        case _:
            return None, cell.read, family


def _is_possible(cell: Cell, span: Span) -> bool:
    """Tell whether a place can hold anything on a span with these keys."""
    match cell:
        case At():
            return cell.key in span.attributes
        case When():
            return cell.key in span.attributes and _is_possible(cell.cell, span)
        case FromResource():
            return cell.key in span.resource.attributes
        case FromEvent():
            return bool(span.events)
        case Everywhere(of_events=True):
            return bool(span.events)
        case _:
            return True
