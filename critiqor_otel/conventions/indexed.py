"""Messages and tools spread over numbered attributes: `llm.input_messages.0.message.role`, `gen_ai.prompt.0.role`."""

from collections.abc import Callable, Mapping
from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.conventions.message_shapes import message_of
from critiqor_otel.conventions.messages import Message
from critiqor_otel.span import Span

__all__ = ["indexed_messages", "nested", "unflattened"]

_DEEPEST = 8  # dots below the prefix; the conventions use seven
_LONGEST_INDEX = 9  # digits


class _Branch(dict[str, Any]):
    """A level of the keys; an attribute's own value may be an object too and stays as it is."""


def indexed_messages(*prefixes: str, role: str) -> Callable[[Span], list[Message] | None]:
    """Return the shape that reads the messages under the first prefix that has any, in order of their numbers."""

    def read(span: Span) -> list[Message] | None:
        for prefix in prefixes:
            items = unflattened(span.attributes, prefix)
            found = [message for item in items if (message := message_of(item, role=role)) is not None]
            if found:
                return found
        return None

    return read


_WRAPPERS = frozenset({"message", "tool_call", "message_content", "tool", "document"})
"""Levels OpenInference puts around each item of a list; what they hold belongs to the item."""


def nested(prefix: str) -> Callable[[Span], dict[str, Any] | None]:
    """Return the shape that reads the attributes under a prefix as one object: `mcp.request.argument.city`."""

    def read(span: Span) -> dict[str, Any] | None:
        found = _tree(span.attributes, prefix)
        return found if is_object(found) and found else None

    return read


def unflattened(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """Return the items under a prefix that ends in a dot, as nested objects and lists; one pass over the attributes."""
    found = _tree(attributes, prefix)
    return found if is_list(found) else []


def _tree(attributes: Mapping[str, Any], prefix: str) -> Any:
    held = [key for key in attributes if key.startswith(prefix)]
    if not held:
        return {}
    root = _Branch()
    for key in held:
        branch = root
        *path, leaf = key[len(prefix) :].split(".", _DEEPEST)
        for step in path:
            below = branch.get(step)
            if not isinstance(below, _Branch):
                below = branch[step] = _Branch()
            branch = below
        branch.setdefault(leaf, attributes[key])
    return _folded(root)


def _folded(tree: Any) -> Any:
    """Return numbered branches as lists in order, and wrappers merged into what they stand in."""
    if not isinstance(tree, _Branch):
        return tree
    if tree and all(_is_index(key) for key in tree):
        return [_folded(tree[key]) for key in sorted(tree, key=int)]
    folded: dict[str, Any] = {}
    for key, value in tree.items():
        below = _folded(value)
        if key in _WRAPPERS and isinstance(value, _Branch) and is_object(below):
            folded.update(below)
        else:
            folded[key] = below
    return folded


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) <= _LONGEST_INDEX
