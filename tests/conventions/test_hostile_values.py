"""Captured spans with one attribute at a time turned into something else: nothing raises, the rest is still read."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from command import CAPTURES, FURTHER_CAPTURES

from critiqor_otel.conventions.convention import Field
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.span import Span

FIRST = sorted(
    f"{family.name}/{min(family.glob('*.facts.json')).name.removesuffix('.facts.json')}"
    for folder in (CAPTURES, FURTHER_CAPTURES)
    for family in folder.iterdir()
    if family.name != "_formats"
)
HOSTILE: list[Any] = [
    "",
    "x",
    -1,
    1.5,
    float("nan"),
    True,
    b"\xff",
    None,
    [],
    [None, [1], {"type": ["list"]}],
    {"type": {"a": 1}, "role": [], "content": 5},
    '{"type": [1], "role": {}, "parts": [{"type": []}]',
    '[{"role": "user", "content": [{"toolResult": 1}, {"toolUse": []}, {"function_call": "x"}]}]',
    "[" * 5_000,
    "\ud83e",
]


def mutated(span: Span, turn: int) -> list[Span]:
    """Return the span once for each attribute, that attribute turned into a hostile value, another one each time."""
    changed = []
    for place, key in enumerate(sorted(span.attributes)):
        value = HOSTILE[(place + turn) % len(HOSTILE)]
        changed.append(msgspec.structs.replace(span, attributes={**span.attributes, key: value}))
    return changed


@pytest.mark.parametrize("name", FIRST)
def test_a_hostile_attribute_never_makes_a_field_raise(capture: Callable[[str], Any], name: str) -> None:
    read = capture(name)
    for turn, facts in enumerate((*read.facts, *read.from_records)):
        for span in mutated(facts.span, turn):
            odd = facts_of(span)
            for field in Field:
                odd.get(field)
            assert all(note.code in ("bad-value", "cut-json") for note in odd.notes)
