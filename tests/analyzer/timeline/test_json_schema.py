"""Arguments against schemas: what breaks them, what tools put right, and what no input can make slow."""

import time
from typing import Any

import pytest

from analyzer.timeline.json_schema import breach_of, plain_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "hour": {"type": "integer", "minimum": 0, "maximum": 23},
        "label": {"type": ["string", "null"], "maxLength": 5},
        "on": {"type": "boolean"},
        "days": {"type": "array", "items": {"enum": ["mon", "tue"]}, "maxItems": 2},
        "place": {"$ref": "#/$defs/place"},
        "tone": {"anyOf": [{"type": "integer"}, {"const": "soft"}]},
    },
    "required": ["hour"],
    "additionalProperties": False,
    "$defs": {"place": {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}},
}
HARD: dict[str, tuple[Any, str]] = {
    "missing": ({}, "hour is missing"),
    "wrong type": ({"hour": "seven"}, "hour is 'seven', no integer"),
    "above": ({"hour": 24}, "hour is above 23"),
    "below": ({"hour": -1}, "hour is below 0"),
    "too long": ({"hour": 1, "label": "abcdef"}, "label is longer than 5"),
    "item": ({"hour": 1, "days": ["sun"]}, "days[0] is 'sun', none of the allowed values"),
    "too many": ({"hour": 1, "days": ["mon", "mon", "mon"]}, "days has more than 2 items"),
    "referred": ({"hour": 1, "place": {}}, "place.room is missing"),
    "no form": ({"hour": 1, "tone": "loud"}, "tone fits none of the allowed forms"),
    "no object": ([], " is a list, no object"),
}
SOFT: dict[str, Any] = {
    "number in a text": {"hour": "7"},
    "too many properties": {"hour": 7, "snooze": 1},
    "other case": {"hour": 7, "days": ["MON"]},
    "truth in a text": {"hour": 7, "on": "true"},
}
KEPT: dict[str, Any] = {
    "least": {"hour": 7},
    "all": {"hour": 7, "label": "up", "on": True, "days": ["mon"], "place": {"room": "a"}, "tone": "soft"},
    "null allowed": {"hour": 7, "label": None},
    "null for what is optional": {"hour": 7, "on": None},
    "whole number as a fraction": {"hour": 7.0},
}


@pytest.mark.parametrize(("value", "told"), HARD.values(), ids=HARD)
def test_a_breach_is_told(value: Any, told: str) -> None:
    breach = breach_of(value, SCHEMA)

    assert breach is not None
    assert (f"{breach.path} {breach.what}", breach.soft) == (told, False)


@pytest.mark.parametrize("value", SOFT.values(), ids=SOFT)
def test_what_tools_put_right_is_soft(value: Any) -> None:
    breach = breach_of(value, SCHEMA)

    assert breach is not None
    assert breach.soft


@pytest.mark.parametrize("value", KEPT.values(), ids=KEPT)
def test_what_fits_is_no_breach(value: Any) -> None:
    assert breach_of(value, SCHEMA) is None


def test_a_breach_that_nobody_puts_right_counts_before_a_soft_one() -> None:
    breach = breach_of({"snooze": 1, "hour": "seven"}, SCHEMA)

    assert breach is not None
    assert breach.path == "hour"


@pytest.mark.parametrize("schema", [{}, {"type": "what"}, {"type": 7}, {"$ref": "http://x.test"}, {"$ref": "#/no"}])
def test_what_is_not_understood_is_taken_for_kept(schema: dict[str, Any]) -> None:
    assert breach_of({"a": 1}, schema) is None


@pytest.mark.parametrize("types", ["STRING", "string"])
def test_types_are_known_in_capitals_too(types: str) -> None:
    assert breach_of(1.5, {"type": types}) is not None


def test_schemas_that_refer_to_themselves_come_to_an_end() -> None:
    schema: dict[str, Any] = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]}
    started = time.process_time()

    breach_of({"a": 1}, schema)

    assert time.process_time() - started < 1


@pytest.mark.parametrize("value", [{"hour": 7}, {"hour": 7, "on": True}])
def test_the_plain_part_never_says_that_something_fits_which_does_not(value: dict[str, Any]) -> None:
    plain = plain_of({**SCHEMA, "properties": {"hour": {"type": "integer"}, "on": {"type": "boolean"}}})

    assert plain.fits(value)
    assert not plain.fits({**value, "hour": "7"})
    assert not plain.fits({**value, "hour": True})
    assert not plain.fits({**value, "more": 1})
    assert not plain.fits({"on": True})


@pytest.mark.parametrize("value", HARD.values(), ids=HARD)
def test_what_breaks_a_schema_does_not_fit_its_plain_part(value: tuple[Any, str]) -> None:
    assert not isinstance(value[0], dict) or not plain_of(SCHEMA).fits(value[0])
