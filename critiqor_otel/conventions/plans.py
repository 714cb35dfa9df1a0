"""Which places are worth looking at on a span of this shape.

Spans of one instrumentation have the same attribute keys over and over, and most places of most fields are empty on
them. What can be there is worked out once for each set of keys.
"""

from collections.abc import Mapping

from critiqor_otel.conventions.convention import At, Cell, Convention, Field, FromEvent, When
from critiqor_otel.span import Span

__all__ = ["Plan", "plan_for"]

Plan = Mapping[Field, tuple[tuple[Cell, str], ...]]
"""For each field that can be there: its places in order of precedence, each with the name of its family."""

_MOST_PLANS = 4096
_MOST_KEYS = 64  # indexed messages make every span's keys its own: such a plan is not kept

_plans: dict[tuple[tuple[str, ...], tuple[str, ...], bool], Plan] = {}


def plan_for(span: Span, families: tuple[Convention, ...]) -> Plan:
    """Return the places where facts of this span can stand."""
    if len(span.attributes) > _MOST_KEYS:
        return _plan(span, families)
    shape = (tuple(family.name for family in families), tuple(span.attributes), bool(span.events))
    plan = _plans.get(shape)
    if plan is None:
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        plan = _plans[shape] = _plan(span, families)
    return plan


def _plan(span: Span, families: tuple[Convention, ...]) -> Plan:
    places: dict[Field, list[tuple[Cell, str]]] = {}
    for family in families:
        for field, cells in family.fields.items():
            for cell in cells:
                if _is_possible(cell, span):
                    places.setdefault(field, []).append((cell, family.name))
    return {field: tuple(found) for field, found in places.items()}


def _is_possible(cell: Cell, span: Span) -> bool:
    """Tell whether a place can hold anything on a span with these keys."""
    match cell:
        case At():
            return cell.key in span.attributes
        case When():
            return cell.key in span.attributes and _is_possible(cell.cell, span)
        case FromEvent():
            return bool(span.events)
        case _:
            return True
