"""The table of settings in `docs/configuration.md`, made of the fields that hold them."""

from typing import Any

import msgspec

from analyzer.models.prices import PriceList
from analyzer.options import Options

__all__ = ["keys", "table"]


def keys() -> list[str]:
    """Return the settings in the order of the page."""
    return [field.name for field in _fields()]


def table() -> str:
    """Return the table's rows."""
    return "".join(
        f"| `{field.name}` | {_type(field.type)} | {_default(field)} | {_description(field.type)} |\n"
        for field in _fields()
    )


def _fields() -> tuple[msgspec.inspect.Field, ...]:
    info = msgspec.inspect.type_info(Options)
    assert isinstance(info, msgspec.inspect.StructType)
    return info.fields


def _description(kind: Any) -> str:
    assert isinstance(kind, msgspec.inspect.Metadata)
    return str((kind.extra_json_schema or {})["description"])


def _type(kind: Any) -> str:
    return _NAMES[type(kind)](kind)


def _number(word: str, kind: Any) -> str:
    signs = (("≥", kind.ge), (">", kind.gt), ("≤", kind.le))
    bounds = [f"{sign} {bound:g}" for sign, bound in signs if bound is not None]
    return f"{word} {', '.join(bounds)}" if bounds else word


def _union(kind: Any) -> str:
    return " or ".join(_type(one) for one in kind.types if not isinstance(one, msgspec.inspect.NoneType))


def _struct(kind: Any) -> str:
    assert kind.cls is PriceList
    return "file or table"


_NAMES: dict[type, Any] = {
    msgspec.inspect.Metadata: lambda kind: _type(kind.type),
    msgspec.inspect.UnionType: _union,
    msgspec.inspect.IntType: lambda kind: _number("integer", kind),
    msgspec.inspect.FloatType: lambda kind: _number("number", kind),
    msgspec.inspect.StrType: lambda _: "text",
    msgspec.inspect.BoolType: lambda _: "true or false",
    msgspec.inspect.VarTupleType: lambda kind: f"list of {_type(kind.item_type)}",
    msgspec.inspect.DictType: lambda kind: f"table of {_type(kind.value_type)}",
    msgspec.inspect.StructType: _struct,
}


def _default(field: msgspec.inspect.Field) -> str:
    value = field.default if field.default is not msgspec.NODEFAULT else None
    if value is None or value == ():
        return "none"
    return f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value).lower()
