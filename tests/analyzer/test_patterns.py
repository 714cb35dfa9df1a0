"""Patterns that are compiled late, and stems that are looked for before a large one is: nothing else is found."""

import re
from importlib import import_module
from pkgutil import walk_packages

import pytest
from hypothesis import given
from hypothesis.strategies import DataObject, data, from_regex

import analyzer
from analyzer.pattern import mentions, pattern

GATED = [
    ("budget_exhausted", "_LIMIT"),
    ("content_refused", "_REFUSAL"),
    ("no_final_answer", "_ANNOUNCED"),
    ("skipped_verification", "_DEMANDED"),
    ("unconfirmed_action", "_DEMANDED"),
    ("broken_limits", "_AT_MOST"),
    ("broken_limits", "_JSON"),
    ("broken_limits", "_YES_OR_NO"),
]


def test_a_pattern_does_what_re_does() -> None:
    late, early = pattern(r"(?P<word>\w+)-(\d+)", re.IGNORECASE), re.compile(r"(?P<word>\w+)-(\d+)", re.IGNORECASE)

    assert late.findall("a-1, B-22") == early.findall("a-1, B-22")
    assert late.sub("x", "a-1, B-22", 1) == early.sub("x", "a-1, B-22", 1)
    assert (late.pattern, late.flags, late.groupindex) == (early.pattern, early.flags, early.groupindex)


def test_a_wrong_pattern_is_told_by_the_first_text() -> None:
    wrong = pattern("(")

    with pytest.raises(re.error, match="missing"):
        wrong.search("text")


def test_every_pattern_of_the_analyzer_can_be_compiled() -> None:
    modules = [import_module(found.name) for found in walk_packages(analyzer.__path__, "analyzer.")]
    late = [value for module in modules for value in vars(module).values() if type(value) is type(pattern(""))]

    assert len(late) > 100
    assert all(re.compile(one.pattern, one.flags) for one in late)


@pytest.mark.parametrize(("detector", "name"), GATED)
@given(drawn=data())
def test_what_a_gated_pattern_finds_mentions_a_stem(detector: str, name: str, drawn: DataObject) -> None:
    module = import_module(f"analyzer.detectors.{detector}")
    gated = getattr(module, name)
    as_written = re.compile(gated.pattern, gated.flags & ~re.IGNORECASE)
    stems = vars(module)["_STEMS"]
    text = drawn.draw(from_regex(as_written, fullmatch=True))

    assert mentions(text, stems)
    assert mentions(text.upper(), stems)
