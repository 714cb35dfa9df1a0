"""Contents that nobody can change: what a list or dict handed to an evaluation type becomes.

They stay a list and a dict to readers (equality, `json.dumps`, `isinstance`, copying and pickling work), so code
written against the documented `list` and `dict` fields goes on working.
"""

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NoReturn, TypeGuard

from analyzer.lenient import as_text, is_mapping, is_sequence

__all__ = ["DEPTH_LIMIT", "MAX_DEPTH", "FrozenDict", "FrozenList", "document", "freeze", "plain"]

MAX_DEPTH = 100
"""Levels kept of a nested value; Python's own encoders give up at about a thousand."""

DEPTH_LIMIT = "[depth_limit]"
"""What stands for a value below that, or for one that holds itself (the original's word, specification §1.4)."""


class FrozenDict(dict[str, Any]):
    """A dict that refuses every change."""


class FrozenList(list[Any]):
    """A list that refuses every change."""


def _refuse(self: object, *_args: object, **_kwargs: object) -> NoReturn:
    raise TypeError(f"{type(self).__name__} can't be changed: make a new value from to_dict()")


def _remake_dict(self: FrozenDict) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
    return FrozenDict, (dict(self),)


def _remake_list(self: FrozenList) -> tuple[type[FrozenList], tuple[list[Any]]]:
    return FrozenList, (list(self),)


_CHANGES = {
    FrozenDict: "__setitem__ __delitem__ __ior__ clear pop popitem setdefault update",
    FrozenList: "__setitem__ __delitem__ __iadd__ __imul__ append clear extend insert pop remove reverse sort",
}
for _kind, _names in _CHANGES.items():
    for _name in _names.split():
        setattr(_kind, _name, _refuse)
# Copying and pickling fill an empty object by default, which is a change.
setattr(FrozenDict, "__reduce__", _remake_dict)  # noqa: B010  # an override the type checkers need not weigh
setattr(FrozenList, "__reduce__", _remake_list)  # noqa: B010  # as above


def freeze(value: Any) -> Any:
    """Return a deep copy that can't be changed: mappings become FrozenDict with text keys, lists and sets FrozenList.

    Tuples count as lists, sets are sorted by their text; other objects are kept as they are.
    """
    return _freeze(value, set())


def plain(value: Any) -> Any:
    """Return a value as plain dicts, lists, text and numbers that JSON can spell; anything else as its text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _plain_number(value)
    if is_mapping(value):
        return {as_text(key): plain(item) for key, item in value.items()}
    if is_sequence(value):
        return [plain(item) for item in value]
    to_dict = getattr(value, "to_dict", None)
    return to_dict() if callable(to_dict) else as_text(value)


def document(fields: Mapping[str, Any], *, unless_none: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the fields as a JSON-serialisable dict, without those of `unless_none` that are None."""
    return {name: plain(value) for name, value in fields.items() if value is not None or name not in unless_none}


def _plain_number(value: float) -> int | float | str:
    if isinstance(value, int):
        return int(value)
    return float(value) if math.isfinite(value) else str(value)


def _is_set(value: Any) -> TypeGuard[AbstractSet[Any]]:
    return isinstance(value, AbstractSet)


def _freeze(value: Any, above: set[int]) -> Any:
    """Copy a value that lies below the containers whose ids are in `above`."""
    if not (is_mapping(value) or is_sequence(value) or _is_set(value)):
        return value
    if len(above) >= MAX_DEPTH or id(value) in above:
        return DEPTH_LIMIT
    above.add(id(value))
    frozen = _copy(value, above)
    above.discard(id(value))
    return frozen


def _copy(value: Any, above: set[int]) -> FrozenDict | FrozenList:
    if is_mapping(value):
        return FrozenDict({as_text(key): _freeze(item, above) for key, item in value.items()})
    items = sorted(value, key=as_text) if _is_set(value) else value
    return FrozenList([_freeze(item, above) for item in items])
