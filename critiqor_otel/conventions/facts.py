"""The facts of a span: its role, and each field read through the tables of the families that recognise it.

Fields are read when they are asked for, since messages are long and most are never looked at.
"""

from typing import Any

from analyzer.session.model import Note, SpanRef
from critiqor_otel.conventions.convention import BadValueError, Cell, Convention, Field, Salvaged, SpanRole
from critiqor_otel.conventions.plans import plan_for
from critiqor_otel.span import Span

__all__ = ["Facts"]


class Facts:
    """What the tables say of one span."""

    __slots__ = ("_notes", "_plan", "_values", "family", "role", "span")

    def __init__(self, span: Span, families: tuple[tuple[Convention, SpanRole], ...]) -> None:
        """Take the families that recognise the span, in order of precedence; the first one's role counts."""
        self.span = span
        self.role = families[0][1] if families else SpanRole.OTHER
        self.family = families[0][0].name if families else None
        self._plan = plan_for(span, tuple([family for family, _ in families]))
        self._values: dict[Field, tuple[Any, str]] = {}
        self._notes: list[Note] = []

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was found wrong in the fields read so far."""
        return tuple(self._notes)

    def get(self, field: Field) -> Any:
        """Return the fact, or None when no family has it; see `Field` for its type."""
        places = self._plan.get(field)
        return None if places is None else self._look_up(field, places)[0]

    def source(self, field: Field) -> str | None:
        """Return the family a fact comes from, or None when there is no such fact."""
        value, family = self._look_up(field, self._plan.get(field, ()))
        return None if value is None else family

    def _look_up(self, field: Field, places: tuple[tuple[Cell, str], ...]) -> tuple[Any, str]:
        found = self._values.get(field)
        if found is None:
            found = self._values[field] = self._read(field, places)
        return found

    def _read(self, field: Field, places: tuple[tuple[Cell, str], ...]) -> tuple[Any, str]:
        for cell, family in places:
            try:
                value = cell.read(self.span)
            except BadValueError as error:
                self._notes.append(self._note("bad-value", f"{field} in the words of {family} was left out: {error}"))
                continue
            if isinstance(value, Salvaged):
                self._notes.append(self._note("cut-json", f"{field} in the words of {family}: {value.message}"))
                value = value.value
            if value is not None:
                return value, family
        return None, ""

    def _note(self, code: str, message: str) -> Note:
        return Note(code=code, message=message, span=SpanRef(self.span.trace_id, self.span.span_id))
