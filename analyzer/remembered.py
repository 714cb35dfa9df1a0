"""What a text means, worked out once where texts come again; long ones, which strangers may send, are not kept."""

from collections.abc import Callable
from typing import TypeVar

__all__ = ["remembered"]

_Found = TypeVar("_Found")

_LONGEST = 256


def remembered(most: int, longest: int = _LONGEST) -> Callable[[Callable[[str], _Found]], Callable[[str], _Found]]:
    """Return a decorator for functions of one text, whose answers are kept in a table.

    Args:
        most: answers that are kept; when there are more, the table begins anew.
        longest: characters of a text whose answer is kept, so that the texts take at most `most * longest`.
    """

    def decorated(function: Callable[[str], _Found]) -> Callable[[str], _Found]:
        return _Table(function, most, longest).__getitem__

    return decorated


class _Table(dict[str, _Found]):
    """Answers by text. Asking for one that is there takes no call of Python."""

    def __init__(self, function: Callable[[str], _Found], most: int, longest: int) -> None:
        super().__init__()
        self._function: Callable[[str], _Found] = function
        self._most = most
        self._longest = longest

    def __missing__(self, key: str) -> _Found:
        found: _Found = self._function(key)
        if len(key) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[key] = found
        return found
