"""How many tokens fit into a model's window? By a dated table, which a user's settings go before."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from analyzer.models.naming import entry_of

__all__ = ["WindowTable", "known_windows", "window_of"]

_WHOLE_MILLION = "[1m]"  # Claude Code's mark of a model with a window of a million
_MILLION = 1_000_000


class WindowTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Windows in tokens by model."""

    as_of: str
    """The day the sources were read last, ISO."""
    source: str
    windows: dict[str, int]


@cache
def known_windows() -> WindowTable:
    """Return the built-in table, `windows.json`."""
    return msgspec.json.decode(Path(__file__).with_name("windows.json").read_bytes(), type=WindowTable)


def window_of(model: str | None, own: Mapping[str, int]) -> int | None:
    """Return a model's window in tokens, or None where nobody knows it; `own` is a user's table."""
    if model is None:
        return None
    told = entry_of(model, own)
    if told is not None:
        return told
    return _MILLION if model.lower().endswith(_WHOLE_MILLION) else entry_of(model, known_windows().windows)
