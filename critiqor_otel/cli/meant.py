"""Which of the known names a user meant who typed another."""

from collections.abc import Iterable
from importlib import import_module

__all__ = ["meant"]

_MOST = 3


def meant(word: str, known: Iterable[str]) -> str:
    """Return `did you mean …?` with the names that are spelled like the word or hold it; empty where none does."""
    names = list(known)
    lower = word.lower()
    near = (
        import_module("difflib").get_close_matches(lower, names, n=1)
        or [name for name in names if lower and lower in name][:_MOST]
    )
    return f"did you mean {' or '.join(near)}?" if near else ""
