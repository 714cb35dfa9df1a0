"""Which tools a model was offered: `[{name, description?, parameters?}]` from every vendor's spelling."""

from collections.abc import Callable, Mapping
from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.conventions.indexed import unflattened
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.span import Span

__all__ = ["indexed_tools", "tools"]

_PARAMETERS = ("parameters", "input_schema", "inputSchema", "parameters_json_schema", "json_schema", "schema")
_NESTED = ("function_tools", "function_declarations", "functionDeclarations", "tools")


def tools(value: Any) -> list[dict[str, Any]] | None:
    """Return the definitions in a value: a list, JSON text of one, or a list of JSON texts; None without any."""
    return _definitions(structured(value)) or None


def indexed_tools(*prefixes: str) -> Callable[[Span], list[dict[str, Any]] | None]:
    """Return the shape that reads numbered definitions under the first prefix that has any."""

    def read(span: Span) -> list[dict[str, Any]] | None:
        for prefix in prefixes:
            if found := _definitions(unflattened(span.attributes, prefix)):
                return found
        return None

    return read


_DEEPEST = 3  # a config holds tools, a tool declarations (Gemini)


def _definitions(value: Any, depth: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for item in value if is_list(value) else (value,):
        decoded = structured(item)
        inside = _nested(decoded) if depth < _DEEPEST else None
        if inside is not None:
            found.extend(_definitions(inside, depth + 1))
        elif (definition := _definition(decoded)) is not None:
            found.append(definition)
    return found


def _nested(item: Any) -> list[Any] | None:
    """Return the definitions that an object holds, or None when it is no holder of any."""
    if not is_object(item):
        return None
    return next((inner for key in _NESTED if is_list(inner := item.get(key))), None)


def _definition(item: Any) -> dict[str, Any] | None:
    """Return one definition: as OpenAI nests it under `function`, OpenInference under `json_schema`, or flat."""
    if not is_object(item):
        return None
    schema = structured(item.get("json_schema"))
    for inner in (item.get("function"), item.get("toolSpec"), item.get("data"), schema):
        if is_object(inner) and (named := _flat(inner)) is not None:
            return named
    return _flat(item)


def _flat(item: Mapping[str, Any]) -> dict[str, Any] | None:
    function = item.get("function")
    if is_object(function):
        item = function
    name = item.get("name")
    if not isinstance(name, str) or not name:
        return None
    definition: dict[str, Any] = {"name": name}
    if item.get("description"):
        definition["description"] = item["description"]
    parameters = next((structured(item[key]) for key in _PARAMETERS if item.get(key) is not None), None)
    if parameters is not None:
        definition["parameters"] = parameters
    return definition
