"""Which mutants live, and why: docs/mutants.md from `argued_mutants.json`, which people write and `mutants.py` checks.

The file holds what the last whole run counted, and in groups the mutants that lived through it, each with its argument.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["ARGUED", "PAGE", "argued", "page", "settle", "unargued"]

ARGUED = Path(__file__).with_name("argued_mutants.json")
PAGE = Path(__file__).parents[2] / "docs" / "mutants.md"
GROUPS = {
    "equivalent": "They change nothing that can be seen.",
    "saves time": "They only make the rule slower: what is looked at in addition is found harmless.",
    "number": "They move a number by one that is a choice, not a promise: a cap, how much of a text is looked at.",
    "open": "A case is missing.",
}
_HEAD = """\
# Faults put into the detectors, and those that no test found

`make mutants` puts one fault at a time into a rule of `analyzer/detectors` (a comparison turned or shifted by one,
`and` for `or`, a number plus one, a condition taken away, `break` for `continue`) and lets the cases of the detectors
and their tests judge. Texts are left alone: what a detector says is in the golden cases, and its lists of words are
data.

One process is warm: it has collected the tests, and knows which of them reaches which line. A mutant is a fork of it
that runs those that reach its statement, the cases of its own detector first, up to the first that fails; one that uses
20 seconds of processor time, or 2 GB, is found as well. All of them take some minutes.

This page is written by `python tests/fuzz/mutants.py --write` from `tests/support/argued_mutants.json`, where the
arguments are; a test holds the two together, and every mutant named here against the code. A run ends with what
survived without an argument and with what is argued and was found.
"""


def _read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ARGUED.read_text("utf-8"))
    return found


def argued() -> list[str]:
    """Return the keys of all mutants that are argued."""
    return [key for entries in _read()["groups"].values() for entry in entries for key in entry["mutants"]]


def unargued(survived: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the mutants that survived without an argument, and those that are argued but did not survive."""
    known = argued()
    return [key for key in survived if key not in known], sorted(set(known) - set(survived))


def settle(survived: Sequence[str], *, tried: int) -> None:
    """Take a whole run for what is so: its counts, what survived without an argument as open, what was found off."""
    told = _read()
    fresh, stale = unargued(survived)
    groups = {
        group: [
            {**entry, "mutants": left}
            for entry in told["groups"].get(group, ())
            if (left := [key for key in entry["mutants"] if key not in stale])
        ]
        for group in GROUPS
    }
    if fresh:
        groups["open"].append({"why": "nobody has looked at it yet", "mutants": fresh})
    whole = {"tried": tried, "survived": len(survived), "groups": groups}
    ARGUED.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")


def page() -> str:
    """Return the page."""
    told = _read()
    return "\n".join((_HEAD, *_counts(told), *_tables(told["groups"])))


def _counts(told: Mapping[str, Any]) -> Iterator[str]:
    tried, survived = told["tried"], told["survived"]
    sizes = {group: sum(len(entry["mutants"]) for entry in told["groups"].get(group, ())) for group in GROUPS}
    can_be_found = tried - survived + sizes["open"]
    yield f"Of {tried:,} mutants **{tried - survived:,} were found, {survived} lived**:"
    yield "".join(f"\n- {size} {group}" for group, size in sizes.items())
    yield ""
    yield f"That makes {tried - survived:,} of {can_be_found:,} mutants that a test can be asked to find"
    yield f"({100 * (tried - survived) / can_be_found:.1f} %). {told.get('how', '')}".rstrip()


def _tables(groups: Mapping[str, Any]) -> Iterator[str]:
    for group, says in GROUPS.items():
        if groups.get(group):
            yield f"\n## {group.capitalize()}\n\n{says}\n\n| mutant | why it lives |\n|---|---|"
            for entry in groups[group]:
                for key in entry["mutants"]:
                    yield f"| `{_cell(key)}` | {_cell(entry['why'])} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
