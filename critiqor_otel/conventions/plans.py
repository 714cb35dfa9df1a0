"""How spans of one shape are read: what they are, and where on them each fact can stand.

Spans of one instrumentation have the same attribute keys over and over, and most places of most fields are empty on
them. What can be there is worked out once for each set of keys.
"""

from collections.abc import Callable, Iterator, Mapping
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
    Shape,
    SpanRole,
    When,
)
from critiqor_otel.conventions.shapes import PLAIN
from critiqor_otel.span import Span

__all__ = ["Form", "Plan", "Spot", "keys_of", "plan_for", "resource_keys_of"]

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
    plain: tuple[tuple[Field, str, Shape], ...] = ()
    """The first places of those facts that are a text or a number in an attribute of their own: field, key, shape."""
    forms: dict[Form, tuple[tuple[str, Field, tuple[Spot, ...]], ...]] = {}
    """What `of_form` returned."""
    lacking: dict[frozenset[Field], bool] = {}
    """What `lacks` returned."""

    def of_form(self, form: Form) -> tuple[tuple[str, Field, tuple[Spot, ...]], ...]:
        """Return name, field and places of those facts of a form that can be there, and remember it."""
        spots = self.spots
        found = self.forms[form] = tuple((name, field, spots[field]) for name, field in form.fields if field in spots)
        return found

    def lacks(self, fields: frozenset[Field]) -> bool:
        """Tell that none of these facts can be there, and remember it."""
        found = self.lacking[fields] = fields.isdisjoint(self.spots)
        return found


def plan_for(
    span: Span,
    families: tuple[Convention, ...],
    roles: tuple[SpanRole | None, ...],
    *,
    fixed: frozenset[str] = frozenset(),
    named: bool = False,
) -> Plan:
    """Return the plan for spans with these keys that the families take for these roles.

    The families come in order of precedence; those without a role do not know the span. The first that does says what
    it is. All spans the plan is for have the same values under the fixed keys; where they are `named`, they have no
    keys but those that tables name.
    """
    known = [(family, role) for family, role in zip(families, roles, strict=True) if role is not None]
    if not known:
        return _NOTHING
    first, role = known[0]
    spots = _spots(span, [family for family, _ in known], fixed=fixed, named=named)
    return Plan(role, first.name, spots, tuple(_plain(spots)))


_NOTHING = Plan(SpanRole.OTHER, None, {})


def _plain(spots: Mapping[Field, tuple[Spot, ...]]) -> Iterator[tuple[Field, str, Shape]]:
    for field, places in spots.items():
        key, read, _ = places[0]
        if key is not None and read in PLAIN:
            yield field, key, read


def _spots(
    span: Span, families: list[Convention], *, fixed: frozenset[str], named: bool
) -> Mapping[Field, tuple[Spot, ...]]:
    """Return the places where facts of a span with these keys can stand, in the words of these families."""
    spots: dict[Field, list[Spot]] = {}
    for family in families:
        for field, cells in family.fields.items():
            for cell in cells:
                place = _possible(cell, span, fixed=fixed, named=named)
                if place is not None:
                    spots.setdefault(field, []).append(_spot(place, family.name))
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
        case Everywhere(shape=shape):
            return None, shape, family
        case _:
            return None, cell.read, family


def _possible(cell: Cell, span: Span, *, fixed: frozenset[str], named: bool) -> Cell | None:
    """Return the place, bare of conditions that always hold on these spans; None of one that is always empty."""
    match cell:
        case When() if cell.key in fixed:
            holds = span.attributes[cell.key] in cell.words
            return _possible(cell.cell, span, fixed=fixed, named=named) if holds else None
        case When():
            inner = _possible(cell.cell, span, fixed=fixed, named=named)
            possible = cell.key in span.attributes and inner is not None
        case At():
            possible = cell.key in span.attributes
        case FromResource():
            possible = cell.key in span.resource.attributes
        case Everywhere(starts=starts) if starts and named:
            possible = any(key.startswith(starts) for key in span.attributes)
        case FromEvent() | Everywhere(of_events=True):
            possible = bool(span.events)
        case _:
            possible = True
    return cell if possible else None
