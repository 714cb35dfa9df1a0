"""Do these arguments break the schema of their tool? The part of JSON Schema that tools use.

Looked at are `type`, `enum`, `const`, `required`, `properties`, `additionalProperties`, `items`, the bounds of numbers,
texts and lists, `anyOf`, `oneOf`, `allOf` and local `$ref`. Anything else is taken for satisfied, `pattern` too: it
comes from outside and may run without end. A breach is soft where tools put it right by themselves: a number in a text,
a null for what is optional, a property too many.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from analyzer.session.model import Json
from analyzer.session.shapes import is_list, is_number, is_object

__all__ = ["Breach", "Plain", "breach_of", "plain_of"]

_DEEPEST = 12
_MOST_ITEMS = 50
_MOST_PARTS = 500
"""Parts of a schema that one value is held against; what forms within forms ask beyond is taken for satisfied."""
_SHORT = 60


class Breach(Struct, frozen=True):
    """One way in which a value breaks its schema."""

    path: str
    """Where, with dots; empty at the top."""
    what: str
    soft: bool = False


class Plain(Struct, frozen=True):
    """What most schemas ask for, in a form that is quickly held against a value: names and plain types."""

    required: frozenset[str]
    types: Mapping[str, frozenset[type]]

    def fits(self, value: dict[str, Any]) -> bool:
        """Return whether a value surely keeps the schema; where not, it has to be looked at closely."""
        types = self.types
        for name, item in value.items():
            allowed = types.get(name)
            if allowed is None or type(item) not in allowed:
                return False
        return self.required <= value.keys()


def plain_of(schema: Mapping[str, Any]) -> Plain:
    """Return the plain part of a schema; what it asks for besides fits nothing."""
    properties, required = schema.get("properties"), schema.get("required")
    is_plain = schema.keys() <= _PLAIN_OBJECT and is_object(properties)
    types: Mapping[str, frozenset[type]] = {}
    if is_plain and is_object(properties):
        types = {name: plain for name, part in properties.items() if (plain := _plain_types(part)) is not None}
    return Plain(
        frozenset(name for name in required if isinstance(name, str)) if is_list(required) else frozenset(), types
    )


_NOTES = frozenset(("description", "title", "default", "examples", "example"))
_PLAIN_OBJECT = _NOTES | {"type", "properties", "required", "additionalProperties", "$schema", "$defs", "definitions"}
_PLAIN_TYPES: Mapping[str, frozenset[type]] = {
    "string": frozenset((str,)),
    "integer": frozenset((int,)),
    "number": frozenset((int, float)),
    "boolean": frozenset((bool,)),
}


def _plain_types(part: Json) -> frozenset[type] | None:
    said = part.get("type") if is_object(part) and part.keys() <= _NOTES | {"type"} else None
    return _PLAIN_TYPES.get(said.lower()) if isinstance(said, str) else None


def breach_of(value: Json, schema: Mapping[str, Any]) -> Breach | None:
    """Return the first breach that no tool puts right, else the first soft one, else None."""
    return _worst(_Check(schema).breaches(value, schema, "", 0))


def _worst(breaches: Iterator[Breach]) -> Breach | None:
    soft: Breach | None = None
    for breach in breaches:
        if not breach.soft:
            return breach
        soft = soft or breach
    return soft


def _is_integer(value: Json) -> bool:
    return is_number(value) and (isinstance(value, int) or value.is_integer())


_TYPES: Mapping[str, Callable[[Json], bool]] = {
    "object": is_object,
    "array": is_list,
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": _is_integer,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
_BOUNDS: tuple[tuple[str, Callable[[Any], bool], Callable[[Any, Any], bool], str], ...] = (
    ("minimum", is_number, lambda value, bound: value >= bound, "is below {}"),
    ("maximum", is_number, lambda value, bound: value <= bound, "is above {}"),
    ("exclusiveMinimum", is_number, lambda value, bound: value > bound, "is not above {}"),
    ("exclusiveMaximum", is_number, lambda value, bound: value < bound, "is not below {}"),
    ("minLength", lambda value: isinstance(value, str), lambda value, bound: len(value) >= bound, "is shorter than {}"),
    ("maxLength", lambda value: isinstance(value, str), lambda value, bound: len(value) <= bound, "is longer than {}"),
    ("minItems", is_list, lambda value, bound: len(value) >= bound, "has fewer than {} items"),
    ("maxItems", is_list, lambda value, bound: len(value) <= bound, "has more than {} items"),
)


class _Check:
    """Checks values against the parts of one schema."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MOST_PARTS

    def breaches(self, value: Json, schema: Json, path: str, depth: int) -> Iterator[Breach]:
        """Yield the breaches of a value, in the order of the schema's keywords."""
        self._left -= 1
        if not is_object(schema) or depth > _DEEPEST or self._left < 0:
            return
        if "$ref" in schema:
            yield from self.breaches(value, self._referred(schema["$ref"]), path, depth + 1)
        wrong = _wrong_type(value, schema)
        if wrong is not None:
            yield Breach(path, *wrong)
            return
        yield from _wrong_value(value, schema, path)
        yield from self._combined(value, schema, path, depth)
        if is_object(value):
            yield from self._properties(value, schema, path, depth)
        elif is_list(value) and "items" in schema:
            for place, item in enumerate(value[:_MOST_ITEMS]):
                yield from self.breaches(item, schema["items"], f"{path}[{place}]", depth + 1)

    def _referred(self, reference: Json) -> Json:
        """Return the part of the schema that a local reference names, None for any other."""
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        part: Json = self._root
        for name in reference[2:].split("/"):
            part = part.get(name) if is_object(part) else None
        return part

    def _combined(self, value: Json, schema: Mapping[str, Any], path: str, depth: int) -> Iterator[Breach]:
        every = schema.get("allOf")
        for part in every if is_list(every) else ():
            yield from self.breaches(value, part, path, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            parts = schema.get(keyword)
            if not is_list(parts) or not parts:
                continue
            worst = [_worst(self.breaches(value, part, path, depth + 1)) for part in parts[:_MOST_ITEMS]]
            if None not in worst:
                yield Breach(path, "fits none of the allowed forms", soft=any(one.soft for one in worst if one))

    def _properties(self, value: dict[str, Any], schema: Mapping[str, Any], path: str, depth: int) -> Iterator[Breach]:
        declared = schema.get("properties")
        properties: Mapping[str, Any] = declared if is_object(declared) else {}
        required = schema.get("required")
        needed = {name for name in required if isinstance(name, str)} if is_list(required) else set[str]()
        for name in required if is_list(required) else ():
            if isinstance(name, str) and name not in value:
                yield Breach(_joined(path, name), "is missing")
        for name, item in value.items():
            if name in properties:
                if item is not None or name in needed:
                    yield from self.breaches(item, properties[name], _joined(path, name), depth + 1)
            elif schema.get("additionalProperties") is False:
                yield Breach(_joined(path, name), "is no parameter", soft=True)


def _wrong_type(value: Json, schema: Mapping[str, Any]) -> tuple[str, bool] | None:
    """Return what is wrong with the type, and whether tools put it right; None when it fits."""
    said = schema.get("type")
    names = [name.lower() for name in (said if is_list(said) else (said,)) if isinstance(name, str)]
    if not names or any(name not in _TYPES or _TYPES[name](value) for name in names):
        return None
    if value is None and schema.get("nullable") is True:
        return None
    return f"is {_shown(value)}, no {' or '.join(names)}", any(_is_like(value, name) for name in names)


def _is_like(value: Json, name: str) -> bool:
    """Return whether tools read a value as one of a type by themselves."""
    if name == "string":
        return is_number(value) or isinstance(value, bool)
    if not isinstance(value, str):
        return False
    text = value.strip().lower()
    if name in {"number", "integer"}:
        return _reads_as_number(text)
    if name == "boolean":
        return text in {"true", "false"}
    return (name, text[:1]) in {("object", "{"), ("array", "[")} or (name == "null" and text in {"", "null", "none"})


def _reads_as_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdecimal()


def _wrong_value(value: Json, schema: Mapping[str, Any], path: str) -> Iterator[Breach]:
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if is_list(allowed) and value not in allowed:
        near = str(value).lower() in {str(one).lower() for one in allowed}
        yield Breach(path, f"is {_shown(value)}, none of the allowed values", soft=near)
    for keyword, applies, holds, words in _BOUNDS:
        bound = schema.get(keyword)
        if is_number(bound) and applies(value) and not holds(value, bound):
            yield Breach(path, f"{words.format(bound)}")


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: Json) -> str:
    if is_object(value):
        return "an object"
    if is_list(value):
        return "a list"
    text = "null" if value is None else repr(value)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"
