"""The facts of a span: its role, and each field read through the tables of the families that recognise it.

Texts and numbers are read at once. Other fields are read when they are asked for, since messages are long and most
are never looked at.
"""

from typing import Any

from analyzer.session.model import Note, SpanRef
from critiqor_otel.conventions.convention import BadValueError, Field, Salvaged, SpanRole
from critiqor_otel.conventions.plans import Form, Plan, Spot
from critiqor_otel.span import Span

__all__ = ["Facts"]


class Facts:
    """What the tables say of one span."""

    __slots__ = ("_plan", "_spots", "_values", "family", "notes", "role", "span")

    def __init__(self, span: Span, plan: Plan) -> None:
        """Take how spans of its shape are read."""
        self.span = span
        self.role: SpanRole = plan.role
        self.family: str | None = plan.family
        self.notes: tuple[Note, ...] = ()
        """What was found wrong in the fields read so far."""
        self._plan = plan
        self._spots = plan.spots
        self._values = _plain_values(span, plan)

    def get(self, field: Field) -> Any:
        """Return the fact, or None when no family has it; see `Field` for its type."""
        values = self._values
        if field in values:
            return values[field]
        spots = self._spots.get(field)
        if spots is None:
            return None
        values[field] = value = self._read(field, spots)
        return value

    def known(self, form: Form) -> dict[str, Any]:
        """Return those facts of a form that are known, each as `get` does; cheaper than to ask for each."""
        values = self._values
        found: dict[str, Any] = {}
        places = self._plan.forms.get(form)
        for name, field, spots in self._plan.of_form(form) if places is None else places:
            if field in values:
                value = values[field]
            else:
                values[field] = value = self._read(field, spots)
            if value is not None:
                found[name] = value
        return found

    def lacks(self, fields: frozenset[Field]) -> bool:
        """Tell that spans of this shape have none of these facts; else they may have some."""
        found = self._plan.lacking.get(fields)
        return self._plan.lacks(fields) if found is None else found

    def source(self, field: Field) -> str | None:
        """Return the family a fact comes from, or None when there is no such fact."""
        notes = self.notes
        found = (spot for spot in self._spots.get(field, ()) if self._read(field, (spot,)) is not None)
        _, _, family = next(found, (None, None, None))
        self.notes = notes  # reading again says nothing new
        return family

    def _read(self, field: Field, spots: tuple[Spot, ...]) -> Any:
        for key, read, family in spots:
            try:
                if key is None:
                    value = read(self.span)
                elif (value := self.span.attributes[key]) is not None:
                    value = read(value)
            except BadValueError as error:
                self._note("bad-value", f"{field} in the words of {family} was left out: {error}")
                continue
            if value is None:
                continue
            if isinstance(value, Salvaged):
                self._note("cut-json", f"{field} in the words of {family}: {value.message}")
                value = value.value
            if value is not None:
                return value
        return None

    def _note(self, code: str, message: str) -> None:
        note = Note(code=code, message=message, span=SpanRef(self.span.trace_id, self.span.span_id))
        self.notes = (*self.notes, note)


def _plain_values(span: Span, plan: Plan) -> dict[Field, Any]:
    """Return what stands in the plain places; nothing where one of them holds what it should not.

    Then each place is read when it is asked for, and there will be a note.
    """
    held = span.attributes
    try:
        return {field: value for field, key, read in plan.plain if (value := read(held[key])) is not None}
    except ValueError:
        return {}
