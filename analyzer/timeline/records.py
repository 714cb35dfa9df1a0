"""Which things do tool results tell of, by id, in what state, and how many are there? Read from results that are JSON.

A record is an object with an id of its own; what stands below it belongs to it. About 3,000 objects and lists of a
result are looked at, 12 levels deep.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from msgspec import Struct

from analyzer.pattern import pattern
from analyzer.remembered import remembered
from analyzer.session.accessors import ABSENT
from analyzer.session.model import Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.call import Call
from analyzer.timeline.outcome import unblocked
from analyzer.timeline.tool_words import name_words

__all__ = ["Collection", "Record", "collections_in", "numbers_in", "records_of"]

_MOST_VALUES = 3_000
_DEEPEST = 12
_INNER = (dict, list)
_LONGEST_WORD = 40
_MOST_ITEMS = 200
_MOST_TRAITS = 24
_ID_KEYS = pattern(r"(?:.*[_\-. ])?(?:id|uuid|number|no|code|key|ref|reference)|.*Id|id", re.IGNORECASE)
_ID = pattern(r"\W{0,2}(?=\D{0,20}\d)[\w\-./]{1,60}")
_SHORTEST_ID = 3
_STATES = frozenset(("status", "state", "phase", "stage"))
_STATE = pattern(r"[^\W\d_]{3,30}(?:[ _-][^\W\d_]{2,30}){0,2}")


class Record(Struct, frozen=True, kw_only=True):
    """What one result tells of one thing."""

    key: str
    """Its id without signs in front, in lower case."""
    position: int
    """Of the output."""
    state: str | None
    fields: dict[str, Any]
    """What the result tells of it."""

    def words(self) -> frozenset[str]:
        """Return the words of the fields below it that hold something, in lower case."""
        return frozenset(_filled(self.fields))


class Collection(Struct, frozen=True, kw_only=True):
    """Several objects of one kind in a result."""

    name: str
    size: int
    counts: frozenset[int]
    """How many there are in all, with any one trait, with any two, and how many kinds of a trait."""


def records_of(calls: Iterable[Call]) -> tuple[Record, ...]:
    """Return the records that the results of calls tell of, in order."""
    return tuple(
        record
        for call in sorted(calls, key=lambda call: call.output_position)
        if call.result is not ABSENT and call.status != "error" and call.output_position >= 0
        for record in _records(unblocked(call.result), call.output_position)
    )


def collections_in(result: Json) -> list[Collection]:
    """Return the collections of three objects or more in a result."""
    found: list[Collection] = []
    for name, value in _walk(unblocked(result)):
        items = list(value.values()) if is_object(value) else value
        if not is_list(items) or len(items) < 3 or not all(map(is_object, items)):  # noqa: PLR2004  # two are a pair
            continue
        found.append(Collection(name=name, size=len(items), counts=_counts(items[:_MOST_ITEMS])))
    return found


def numbers_in(result: Json) -> frozenset[int]:
    """Return the whole numbers that stand in a result as values of their own."""
    values = (value.values() if is_object(value) else value for _, value in _walk(unblocked(result)))
    return frozenset(one for inner in values for one in inner if isinstance(one, int))


def _walk(value: Json) -> Iterator[tuple[str, Any]]:
    """Yield the objects and lists of a value with the names under which they stand, the outermost first."""
    waiting: list[tuple[str, Any, int]] = [("", value, 0)] if isinstance(value, _INNER) else []
    for name, one, depth in waiting:
        yield name, one
        if depth >= _DEEPEST or len(waiting) >= _MOST_VALUES:
            continue
        if is_object(one):
            waiting += [(key, item, depth + 1) for key, item in one.items() if isinstance(item, _INNER)]
        else:
            waiting += [(name, item, depth + 1) for item in one if isinstance(item, _INNER)]


def _records(value: Json, position: int) -> Iterator[Record]:
    for _, one in _walk(value):
        key = _id_of(one) if is_object(one) else None
        if key is not None:
            yield Record(key=key, position=position, state=_state_of(one), fields=one)


def _id_of(value: Mapping[str, Any]) -> str | None:
    for name, one in value.items():
        if not _names_id(name):
            continue
        text = one if isinstance(one, str) else str(one) if isinstance(one, int) else ""
        if _SHORTEST_ID <= len(text) <= _LONGEST_WORD and _ID.fullmatch(text):
            return text.lstrip("#№$@*-. ").lower()
    return None


@remembered(4096)
def _names_id(name: str) -> bool:
    return _ID_KEYS.fullmatch(name) is not None


def _state_of(value: Mapping[str, Any]) -> str | None:
    for name in _STATES:
        state = value.get(name)
        if isinstance(state, str) and _STATE.fullmatch(state):
            return state.lower().replace("_", " ").replace("-", " ")
    return None


def _filled(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of the names under which something stands; empty lists and texts are nothing."""
    for _, one in _walk(value):
        for name, inner in one.items() if is_object(one) else ():
            if inner or inner == 0:
                yield from name_words(str(name))


def _counts(items: list[Any]) -> frozenset[int]:
    traits = [sorted(_traits(item))[:_MOST_TRAITS] for item in items]
    counts = Counter(trait for own in traits for trait in own)
    pairs = Counter(pair for own in traits for pair in combinations(own, 2))
    kinds = Counter(trait.partition("=")[0] for trait in counts)
    return frozenset({len(items), *counts.values(), *pairs.values(), *kinds.values()})


def _traits(item: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """Yield what may be counted: a field's name with its value, if that is true, false or a short text."""
    for name, value in item.items():
        if isinstance(value, bool) or (isinstance(value, str) and len(value) <= _LONGEST_WORD):
            yield f"{within}{name}={value}"
        elif is_object(value) and not within:
            yield from _traits(value, f"{name}.")
