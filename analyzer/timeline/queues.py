"""Who waits under this key? First come, first served; one that waits alone needs no queue of its own."""

from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["Queues"]

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Queues(Generic[_Key, _Value]):
    """A queue for each key."""

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._first: dict[_Key, _Value] = {}
        self._others: dict[_Key, deque[_Value]] = {}

    def put(self, key: _Key, value: _Value) -> None:
        """Let a value wait behind those of its key."""
        if key in self._first:
            self._others.setdefault(key, deque()).append(value)
        else:
            self._first[key] = value

    def peek(self, key: _Key) -> _Value | None:
        """Return who waits longest; None where nobody does."""
        return self._first.get(key)

    def take(self, key: _Key) -> _Value | None:
        """Return who waits longest, and let it go; None where nobody does."""
        found = self._first.pop(key, None)
        others = self._others.get(key) if found is not None else None
        if others:
            self._first[key] = others.popleft()
        return found
