"""The AnyValue forms of OTLP/JSON become attribute values."""

from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.json_scalars import BadScalarError, as_bytes, as_double, as_integer
from critiqor_otel.decode.otlp_json_forms import AnyValueForm, KeyValueForm
from critiqor_otel.span import Attributes, AttributeValue

__all__ = ["MAX_DEPTH", "read_attributes", "read_value"]

MAX_DEPTH = 100
"""Lists and maps inside one another that are followed; what lies deeper is None."""

_REMEMBERED, _SHORT = 16_384, 256


class _TooDeepError(ValueError):
    """A value is nested beyond `MAX_DEPTH`."""


class _Keys(dict[str, str]):
    """Keys seen before, so that a million spans share them."""

    def __missing__(self, key: str) -> str:
        if len(key) <= _SHORT:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[key] = key
        return key


_KEYS = _Keys()


def read_attributes(pairs: list[KeyValueForm] | None, findings: Findings) -> Attributes:
    """Return the attributes, of a doubled key the last; one that can't be read is left out and told."""
    if not pairs:
        return {}
    try:
        return {
            _KEYS[pair.key]: text
            if (value := pair.value) is not None and (text := value.string_value) is not None
            else _value(value)
            for pair in pairs
        }
    except (BadScalarError, _TooDeepError):
        return {pair.key: value for pair in pairs for value in _careful(pair.value, findings)}


def read_value(form: AnyValueForm | None, findings: Findings) -> AttributeValue:
    """Return the value, None where it can't be read (told)."""
    return next(iter(_careful(form, findings)), None)


def _careful(form: AnyValueForm | None, findings: Findings) -> list[AttributeValue]:
    """Return the value as the only item of a list, nothing where there is none that can be read."""
    try:
        return [_value(form)]
    except BadScalarError as error:
        findings.add(Finding.BAD_VALUE, str(error))
        return []
    except _TooDeepError:
        findings.add(Finding.TOO_DEEP, f"more than {MAX_DEPTH} levels")
    try:
        return [_value(form, cut=True)]
    except BadScalarError as error:
        findings.add(Finding.BAD_VALUE, str(error))
        return []


def _value(form: AnyValueForm | None, depth: int = 0, *, cut: bool = False) -> AttributeValue:
    if form is None:
        return None
    if form.string_value is not None:
        return form.string_value
    if form.int_value is not None:
        return as_integer(form.int_value)
    if form.bool_value is not None:
        return form.bool_value
    if form.double_value is not None:
        return as_double(form.double_value)
    return _rare_value(form, depth, cut=cut)


def _rare_value(form: AnyValueForm, depth: int, *, cut: bool) -> AttributeValue:
    if form.bytes_value is not None:
        return as_bytes(form.bytes_value)
    if form.array_value is None and form.kvlist_value is None:
        return None
    if depth >= MAX_DEPTH:
        if cut:
            return None
        raise _TooDeepError
    if form.array_value is not None:
        return [_value(item, depth + 1, cut=cut) for item in form.array_value.values or ()]
    pairs = form.kvlist_value.values if form.kvlist_value is not None else None
    return {pair.key: _value(pair.value, depth + 1, cut=cut) for pair in pairs or ()}
