"""Does a text look like this? Patterns that are compiled when a text is first held against them.

The analyzer holds some two hundred patterns, and a run of a few spans asks for a tenth of them: compiling the rest
would take as long as everything else that the command does.
"""

import re
from collections.abc import Iterable
from typing import Any, AnyStr, cast

__all__ = ["mentions", "pattern"]

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


def pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns for this source, compiled when one of its methods is first asked for.

    Raises:
        re.error: By that first method, if the source is no pattern.
    """
    return cast("re.Pattern[AnyStr]", _Pattern(source, flags))


def mentions(text: str, stems: Iterable[str]) -> bool:
    """Return whether a text holds one of the stems, which are in lower case: asked before a large pattern is."""
    return any(map(text.casefold().__contains__, stems))


class _Pattern:
    """The methods of a pattern, each bound when the pattern is compiled."""

    __slots__ = ("_flags", "_source", *_METHODS)

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # Asked for slots that hold nothing yet, and for what the slots do not have.
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(self._source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
