"""The page `docs/conventions.md`, made of the tables and the captured traces."""

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache

from captured import FAMILIES as FOLDERS
from captured import SCENARIOS, facts_told, sessions_of
from not_carried import ABSENT, NO_CACHED_INPUT, PARTIAL

from critiqor_otel.conventions.convention import Convention, SpanRole
from critiqor_otel.conventions.registry import ALL
from critiqor_otel.conventions.remedies import Aspect, Extra, Remedies
from critiqor_otel.engine.checkup import Carriage, Checkup, checkup
from critiqor_otel.engine.witnesses import ASPECTS

__all__ = ["COLUMNS", "MADE_UP", "ROWS", "page", "reasons_of", "roles_of", "states_of"]

MADE_UP = frozenset({"traps_synthetic"})  # traps for readers of traces, no library
ROWS = [folder for folder in FOLDERS if folder not in MADE_UP]
COLUMNS = tuple(aspect for aspect in ASPECTS if aspect not in {Extra.AGENT_NAME, Extra.CONVERSATION_ID})
NOT_TRIED = "not tried"

_SEVERITY = (Carriage.WHOLE, Carriage.PART, Carriage.NONE)
_HEAD = """\
# Conventions

A family is one table of attribute names (`critiqor_otel/conventions/families`). A span may speak several; the first in
this list that knows it says what it is, and each fact comes from the first that has it. `critiqor-otel doctor` says the
same of your own traces, with the setting that brings what they lack.

This page is made of the tables and of captured traces: `pytest tests/docs --update-golden` writes it anew.
"""


def page() -> str:
    """Return the page."""
    return "\n".join((_HEAD, *_families(), "", *_matrix(), "", *_switches())) + "\n"


def _families() -> Iterator[str]:
    yield "## Families\n"
    yield "| family | its spans are known by | they are | names |"
    yield "|---|---|---|---|"
    for convention in ALL:
        roles = ", ".join(role.value for role in SpanRole if role in roles_of(convention))
        yield f"| `{convention.name}` | {convention.known_by} | {roles} | {_link(convention.source)} |"


def _link(source: str) -> str:
    return f"[source]({source})" if "://" in source else f"[{source}]({source.removeprefix('docs/')})"


def roles_of(convention: Convention) -> set[SpanRole]:
    """Return what a family's spans can be: the roles that its module names or takes over in a table."""
    module = next(module for name, module in sys.modules.items() if _holds(name, module, convention))
    named = {SpanRole[word] for word in re.findall(r"\bSpanRole\.([A-Z]+)", inspect.getsource(module))}
    tables = [table for table in vars(module).values() if isinstance(table, Mapping) and table]
    return named | {role for table in tables for role in table.values() if isinstance(role, SpanRole)}


def _holds(name: str, module: object, convention: Convention) -> bool:
    return name.startswith("critiqor_otel.conventions.families.") and vars(module).get("CONVENTION") is convention


def _matrix() -> Iterator[str]:
    yield "## What each carries\n"
    yield "Captured runs of real libraries, one row a library in one setting. Runs of one script must give one session,"
    yield "whoever tells of them (`tests/captures/test_matrix.py`).\n"
    yield f"| captured | read as | {' | '.join(column.replace('_', ' ') for column in COLUMNS)} |"
    yield "|---" * (len(COLUMNS) + 2) + "|"
    footnotes: dict[str, int] = {}
    for folder in ROWS:
        read_as = ", ".join(f"`{family.family}`" for family in _checkup(folder).families)
        cells = (_cell(state, reasons_of(folder, column), footnotes) for column, state in states_of(folder).items())
        yield f"| {folder} | {read_as} | {' | '.join(cells)} |"
    yield ""
    for reason, number in footnotes.items():
        yield f"{number}. {reason}"


def _cell(state: str, reasons: list[str], footnotes: dict[str, int]) -> str:
    if state in {Carriage.WHOLE, NOT_TRIED}:
        return state
    numbers = sorted(footnotes.setdefault(reason, len(footnotes) + 1) for reason in reasons)
    return f"{state} <sup>{', '.join(map(str, numbers))}</sup>"


@cache
def _checkup(folder: str) -> Checkup:
    return checkup(session for scenario in _of(folder) for session in sessions_of(scenario))


def _of(folder: str) -> list[str]:
    return [scenario for scenario in SCENARIOS if scenario.partition("/")[0] == folder]


def states_of(folder: str) -> dict[Aspect, str]:
    """Return how much of each fact the captures of a folder carry: the worst that one of its families does."""
    families = _checkup(folder).families
    worst = {
        column: max((family.facts[column].carriage for family in families), key=_SEVERITY.index) for column in COLUMNS
    }
    return dict(worst) | {Extra.CACHED_INPUT: _cached_input(folder, worst[Extra.CACHED_INPUT])}


def _cached_input(folder: str, seen: Carriage) -> str:
    """Return how much cached input is told; where no script used a cache, nobody can say."""
    if folder in NO_CACHED_INPUT:
        return Carriage.PART if seen is Carriage.WHOLE else seen
    used = any((facts_told(scenario).get("token_totals") or {}).get("cache_read") for scenario in _of(folder))
    return seen if used else NOT_TRIED


def reasons_of(folder: str, column: Aspect) -> list[str]:
    """Return why captures of a folder don't carry a fact, or in part only."""
    if column is Extra.CACHED_INPUT:
        return [NO_CACHED_INPUT[folder]] if folder in NO_CACHED_INPUT else []
    keys = (folder, *_of(folder))
    found = (table[key][column] for key in keys for table in (ABSENT, PARTIAL) if column in table.get(key, {}))
    return list(dict.fromkeys(found))


def _switches() -> Iterator[str]:
    yield "## What to switch on\n"
    yield "| family | to get | do this |"
    yield "|---|---|---|"
    for convention in ALL:
        yield from _remedies(f"`{convention.name}`", convention.remedies)
        for library in convention.libraries:
            yield from _remedies(f"`{convention.name}`, {library.name}", library.remedies)


def _remedies(family: str, remedies: Remedies) -> Iterator[str]:
    brought: dict[str, list[str]] = {}
    for aspect in ASPECTS:
        if aspect in remedies:
            brought.setdefault(remedies[aspect], []).append(aspect.value.replace("_", " "))
    for remedy, names in brought.items():
        escaped = remedy.replace("*", "\\*")
        yield f"| {family} | {', '.join(names)} | {escaped} |"
