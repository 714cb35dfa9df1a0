"""Which entry of a table means this model? Names come with providers before them, dates and versions behind."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TypeVar

from analyzer.pattern import pattern

__all__ = ["entry_of"]

_Entry = TypeVar("_Entry")

_BEFORE = pattern(r"[/.:]")
# `-2024-08-06`, `-20250929`, `-v1:0`, `@001`, `-latest`, `-preview-09-2025`
_BEHIND = pattern(
    r"(?:[-@:](?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{2}-[0-9]{4}|[0-9]{3,8}|latest|preview|exp|v[0-9]+(?::[0-9]+)?))$"
)
_BRACKETS = pattern(r"\[[^\]]*\]$")
_LONGEST = 200


def entry_of(model: str, table: Mapping[str, _Entry]) -> _Entry | None:
    """Return the entry of a model, or None: by its name, by that without provider and version, by a pattern (`*`)."""
    name = model.strip().lower()[:_LONGEST]
    for spelling in _spellings(name):
        if spelling in table:
            return table[spelling]
    for names, entry in table.items():
        if "*" in names and fnmatchcase(name, names.lower()):
            return entry
    return None


@lru_cache(maxsize=1024)
def _spellings(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_shorter_and_shorter(name)))


def _shorter_and_shorter(name: str) -> Iterator[str]:
    """Yield the name, then shorter ones: `anthropic.claude-opus-4-20250514-v1:0` ends as `claude-opus-4`."""
    whole = _BRACKETS.sub("", name)
    yield name
    for start in (0, *(sign.end() for sign in _BEFORE.finditer(whole))):
        spelling: str | None = whole[start:]
        while spelling:
            yield spelling
            if spelling.startswith("claude"):
                yield spelling.replace(".", "-")
            shorter = _BEHIND.sub("", spelling)
            spelling = shorter if shorter != spelling else None
