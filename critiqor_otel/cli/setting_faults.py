"""What is wrong with a setting? In its user's words: what was found there, and what may stand there."""

import json
import re
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from analyzer.session.shapes import is_list, is_object

__all__ = ["setting_fault"]

_STEP = re.compile(r"\.?([A-Za-z_]\w*)|\[(\d+)\]|(\[\.\.\.\])")
_SHOWN = 60
_BOUNDS = (("ge", "of {} or more"), ("gt", "above {}"), ("le", "of {} or less"), ("lt", "below {}"))


class _Spot(NamedTuple):
    """A place among the settings: its name, what stands there, and what may."""

    name: str
    value: Any
    type: inspect.Type


def setting_fault(settings: Any, to: Any, path: str) -> tuple[str, str] | None:
    """Return the name of the setting at a path of msgspec's, and a sentence on it; None where the path leads nowhere.

    The path is that of its message without `$`: `windows[...]`, `models[...].input`.
    """
    spot = _Spot("", settings, inspect.type_info(to))
    for field, index, any_key in _STEP.findall(path):
        inner = _of_some_key(spot) if any_key else _inside(spot, field or int(index))
        if inner is None:
            return None
        spot = inner
    return spot.name, f"{_shown(spot.value)} stands there, where {_wanted(spot.type)} has to be"


def _inside(spot: _Spot, step: str | int) -> _Spot | None:
    kind = _plain(spot.type)
    if isinstance(step, int):
        if not is_list(spot.value) or not isinstance(kind, (inspect.ListType, inspect.VarTupleType)):
            return None
        return _Spot(f"{spot.name}[{step}]", spot.value[step], kind.item_type)
    if not is_object(spot.value) or not isinstance(kind, inspect.StructType):
        return None
    found = next((field for field in kind.fields if field.encode_name == step), None)
    if found is None or step not in spot.value:
        return None
    return _Spot(f"{spot.name}.{step}".lstrip("."), spot.value[step], found.type)


def _of_some_key(spot: _Spot) -> _Spot | None:
    """Return the first entry of a table that is not what it has to be: the path doesn't tell which."""
    kind = _plain(spot.type)
    if not is_object(spot.value) or not isinstance(kind, inspect.DictType):
        return None
    entries = (_Spot(f"{spot.name}.{key}", value, kind.value_type) for key, value in spot.value.items())
    return next((entry for entry in entries if not _fits(entry)), None)


def _fits(spot: _Spot) -> bool:
    kind = _plain(spot.type)
    if isinstance(kind, inspect.StructType):
        wanted: Any = kind.cls
    elif isinstance(kind, (inspect.IntType, inspect.FloatType)):
        return isinstance(spot.value, int | float) and not isinstance(spot.value, bool) and _within(spot.value, kind)
    else:
        wanted = str
    try:
        msgspec.convert(spot.value, wanted)
    except msgspec.ValidationError:
        return False
    return True


def _within(value: float, kind: inspect.IntType | inspect.FloatType) -> bool:
    if isinstance(kind, inspect.IntType) and not isinstance(value, int):
        return False
    return (kind.ge is None or value >= kind.ge) and (kind.gt is None or value > kind.gt)


def _plain(kind: inspect.Type) -> inspect.Type:
    """Return a type without its description, and without the `None` beside it."""
    while isinstance(kind, (inspect.Metadata, inspect.UnionType)):
        if isinstance(kind, inspect.Metadata):
            kind = kind.type
        else:
            kind = next(one for one in kind.types if not isinstance(one, inspect.NoneType))
    return kind


def _wanted(kind: inspect.Type) -> str:
    kind = _plain(kind)
    if isinstance(kind, (inspect.IntType, inspect.FloatType)):
        return f"{'a whole number' if isinstance(kind, inspect.IntType) else 'a number'}{_range(kind)}"
    if isinstance(kind, (inspect.ListType, inspect.VarTupleType)):
        texts = isinstance(_plain(kind.item_type), inspect.StrType)
        return 'a list of texts, such as ["one", "two"],' if texts else "a list"
    return _WANTED.get(type(kind), "something else")


_WANTED: dict[type[inspect.Type], str] = {
    inspect.BoolType: "true or false",
    inspect.StrType: "a text in quotes",
    inspect.DictType: "a table",
    inspect.StructType: "a table",
}


def _range(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.ge is not None and kind.le is not None:
        return f" from {kind.ge:,} to {kind.le:,}"
    bounds = [words.format(f"{bound:,}") for name, words in _BOUNDS if (bound := getattr(kind, name)) is not None]
    return f" {' and '.join(bounds)}" if bounds else ""


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(value)  # a date, which TOML knows and JSON does not
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
