"""Any JSON that means OTLP becomes its forms: snake_case, old names, nulls, values without a type, attributes as a map.

Unknown fields are passed over, as the protobuf JSON mapping asks of a receiver. What stands in the wrong place (a list
where an object belongs) is left out and told.
"""

from typing import Any, TypeVar

import msgspec

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode import otlp_json_forms as forms
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.json_attributes import MAX_DEPTH

__all__ = ["FormFiller"]

_Form = TypeVar("_Form", bound=msgspec.Struct)

# instrumentation library, logs: OTLP before 0.16; batches: the API of Tempo
_OLD_NAMES = {
    "instrumentation_library_spans": "scope_spans",
    "instrumentation_library_logs": "scope_logs",
    "instrumentation_library": "scope",
    "instrumentation_scope": "scope",
    "batches": "resource_spans",
    "logs": "log_records",
}
_AnyForm = type[msgspec.Struct]
_MESSAGES: dict[str, _AnyForm] = {
    "resource": forms.ResourceForm,
    "scope": forms.ScopeForm,
    "status": forms.StatusForm,
}
_LISTS: dict[str, _AnyForm] = {
    "resource_spans": forms.ResourceSpansForm,
    "scope_spans": forms.ScopeSpansForm,
    "spans": forms.SpanForm,
    "events": forms.EventForm,
    "links": forms.LinkForm,
    "resource_logs": forms.ResourceLogsForm,
    "scope_logs": forms.ScopeLogsForm,
    "log_records": forms.LogForm,
}
_TEXTS = frozenset(("name", "version", "trace_state", "message", "severity_text", "event_name", "schema_url"))
_VALUE_TYPES = {"true": True, "false": False}
_DEEPEST = MAX_DEPTH + 1  # one more than is read, so that the reader tells what it cuts


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _names(form: type[msgspec.Struct]) -> dict[str, str]:
    fields = form.__struct_fields__
    known = {field: field for field in fields}
    known |= {name: field for name, field in _OLD_NAMES.items() if field in fields}
    return known | {_camel(name): field for name, field in known.items()}


_FORMS: tuple[_AnyForm, ...] = (forms.RequestForm, *_MESSAGES.values(), *_LISTS.values())
_NAMES = {form: _names(form) for form in _FORMS}
_VALUE_NAMES = _names(forms.AnyValueForm)


class FormFiller:
    """Fills the forms of one request, or of single records."""

    def __init__(self, findings: Findings) -> None:
        """Tell what is wrong to the findings."""
        self._findings = findings

    def fill(self, form: type[_Form], document: Any) -> _Form:
        """Return the form with what the document says; empty where the document is no object (told)."""
        if not is_object(document):
            if document is not None:
                self._wrong_place(form)
            return form()
        names = _NAMES[form]
        found: dict[str, Any] = {}
        for name, value in document.items():
            field = names.get(name)
            # An empty list says no more than an absent one, and old and new names may stand side by side.
            if field is not None and value is not None and (value != [] or field not in found):
                found[field] = self._field(field, value)
        return form(**found)

    def _field(self, field: str, value: Any) -> Any:
        if field in _LISTS:
            return self._list(_LISTS[field], value)
        if field == "attributes":
            return self._attributes(value)
        if field == "body":
            return self._value(value, 0)
        if field in _TEXTS:
            return self._text(value)
        if field == "status" and not is_object(value):
            return forms.StatusForm(code=value)
        return self.fill(_MESSAGES[field], value) if field in _MESSAGES else value

    def _list(self, form: type[_Form], value: Any) -> list[_Form]:
        if not is_list(value):
            self._wrong_place(form)
            return []
        filled: list[_Form] = []
        for item in value:
            if is_object(item):
                filled.append(self.fill(form, item))
            else:
                self._wrong_place(form)
        return filled

    def _attributes(self, value: Any, depth: int = 0) -> list[forms.KeyValueForm]:
        if is_object(value):
            return [forms.KeyValueForm(key, self._value(item, depth)) for key, item in value.items()]
        if not is_list(value):
            self._wrong_place(forms.KeyValueForm)
            return []
        pairs: list[forms.KeyValueForm] = []
        for item in value:
            if is_object(item):
                pairs.append(
                    forms.KeyValueForm(self._text(item.get("key")) or "", self._value(item.get("value"), depth))
                )
            else:
                self._wrong_place(forms.KeyValueForm)
        return pairs

    def _value(self, value: Any, depth: int) -> forms.AnyValueForm | None:
        if value is None or depth > _DEEPEST:
            return None
        if is_object(value):
            return self._object(value, depth)
        if is_list(value):
            return forms.AnyValueForm(array_value=self._array(value, depth))
        if isinstance(value, bool):
            return forms.AnyValueForm(bool_value=value)
        if isinstance(value, str):
            return forms.AnyValueForm(string_value=value)
        return forms.AnyValueForm(int_value=value) if isinstance(value, int) else forms.AnyValueForm(double_value=value)

    def _object(self, value: dict[str, Any], depth: int) -> forms.AnyValueForm | None:
        typed = [(_VALUE_NAMES[name], item) for name, item in value.items() if name in _VALUE_NAMES]
        if value and not typed:
            pairs = self._attributes(value, depth + 1)
            return forms.AnyValueForm(kvlist_value=forms.KeyValueListForm(pairs))
        for field, item in reversed(typed):
            if item is not None:
                return self._typed(field, item, depth)
        return None

    def _typed(self, field: str, item: Any, depth: int) -> forms.AnyValueForm:
        held: Any = item
        if field == "array_value":
            held = self._array(item.get("values") if is_object(item) else item, depth)
        elif field == "kvlist_value":
            pairs = item.get("values") if is_object(item) else item
            held = forms.KeyValueListForm(self._attributes(pairs, depth + 1) if pairs else None)
        elif field == "string_value":
            held = self._text(item)
        elif field == "bool_value":
            held = self._truth(item)
        return forms.AnyValueForm(**{field: held})

    def _array(self, values: Any, depth: int) -> forms.ArrayForm:
        if values is not None and not is_list(values):
            self._wrong_place(forms.ArrayForm)
            return forms.ArrayForm()
        return forms.ArrayForm([self._value(item, depth + 1) for item in values or ()])

    def _truth(self, value: Any) -> bool | None:
        truth = value if isinstance(value, bool) else _VALUE_TYPES.get(value) if isinstance(value, str) else None
        if truth is None:
            self._findings.add(Finding.BAD_VALUE, "a truth value that is none")
        return truth

    def _text(self, value: Any) -> str | None:
        if isinstance(value, str) or value is None:
            return value
        if isinstance(value, int | float):
            return str(value)
        self._findings.add(Finding.BAD_VALUE, "a text that is none")
        return None

    def _wrong_place(self, form: type[msgspec.Struct]) -> None:
        self._findings.add(Finding.BAD_VALUE, f"something else in the place of a {form.__name__.removesuffix('Form')}")
