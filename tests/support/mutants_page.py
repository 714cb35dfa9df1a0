"""Which mutants live, and why: docs/mutants.md from what survived and from the arguments that people wrote."""

import json
from collections.abc import Sequence
from pathlib import Path

__all__ = ["ARGUED", "PAGE", "argued", "page_of", "unargued"]

ARGUED = Path(__file__).with_name("argued_mutants.json")
PAGE = Path(__file__).parents[2] / "docs" / "mutants.md"


def argued() -> dict[str, tuple[str, str]]:
    """Return the group and the reason a mutant's key."""
    groups = json.loads(ARGUED.read_text("utf-8"))
    return {
        key: (group, entry["why"]) for group, entries in groups.items() for entry in entries for key in entry["mutants"]
    }


def unargued(survived: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the mutants that survived without an argument, and those that are argued but did not survive."""
    known = argued()
    return [key for key in survived if key not in known], sorted(set(known) - set(survived))


def page_of(survived: Sequence[str], *, tried: int) -> str:
    """Return the page."""
    return f"{tried} {survived}"
