"""Plain values: what each shape reads, what it says nothing about, what it refuses."""

import math
from typing import Any

import pytest

from critiqor_otel.conventions.convention import BadValueError, Salvaged
from critiqor_otel.conventions.shapes import (
    always,
    composed,
    encoded,
    flag,
    inner,
    integer,
    json_value,
    number,
    one_of,
    signed,
    strings,
    text,
)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (812, 812),
        ("812", 812),
        (" 812 ", 812),
        (12.0, 12),
        ("12.0", 12),
        (3_000_000_000, 3_000_000_000),
        (0, 0),
        ("", None),
    ],
    ids=repr,
)
def test_a_count_is_read_from_any_spelling(value: Any, count: int | None) -> None:
    assert integer(value) == count


@pytest.mark.parametrize(
    "value", [-4, True, 12.5, "12.5", "twelve", math.nan, math.inf, [1], b"1", "9" * 50, "-1"], ids=repr
)
def test_what_is_no_count_is_refused(value: Any) -> None:
    with pytest.raises(BadValueError):
        integer(value)


@pytest.mark.parametrize(("value", "code"), [(-9, -9), ("-9", -9), (3, 3), ("0", 0), ("", None)], ids=repr)
def test_an_exit_code_may_be_negative(value: Any, code: int | None) -> None:
    assert signed(value) == code


@pytest.mark.parametrize(("value", "found"), [("0.012", 0.012), (2, 2.0), ("2.88e-05", 2.88e-05), ("", None)], ids=repr)
def test_a_number_is_read_from_text_too(value: Any, found: float | None) -> None:
    assert number(value) == found


@pytest.mark.parametrize("value", [True, "dear", math.nan, 10**400, "1e999", [1]], ids=repr)
def test_what_is_no_finite_number_is_refused(value: Any) -> None:
    with pytest.raises(BadValueError):
        number(value)


@pytest.mark.parametrize(
    ("value", "found"), [(7, "7"), ("x", "x"), ("", None), ("  ", None), (12345, "12345")], ids=repr
)
def test_a_name_may_come_as_a_number(value: Any, found: str | None) -> None:
    assert text(value) == found


@pytest.mark.parametrize("marker", ["<REDACTED>", "[REDACTED]", "__REDACTED__"], ids=repr)
def test_redacted_content_is_absent(marker: str) -> None:
    assert text(marker) is None
    assert json_value(marker) is None
    assert json_value(f'"{marker}"') is None


@pytest.mark.parametrize("value", [["a", "b"], {"a": 1}, True, b"x"], ids=repr)
def test_what_is_no_text_is_refused(value: Any) -> None:
    with pytest.raises(BadValueError):
        text(value)


@pytest.mark.parametrize(
    ("value", "found"), [(True, True), ("False", False), ("true", True), (1, True), ("0", False), ("", None)], ids=repr
)
def test_yes_and_no_have_many_spellings(value: Any, found: Any) -> None:
    assert flag(value) is found


def test_a_flag_that_is_neither_yes_nor_no_is_refused() -> None:
    with pytest.raises(BadValueError):
        flag("perhaps")


@pytest.mark.parametrize("value", [["stop"], '["stop"]', "stop"], ids=repr)
def test_finish_reasons_come_as_a_list_as_json_text_or_alone(value: Any) -> None:
    assert strings(value) == ["stop"]


def test_a_list_without_a_text_is_refused() -> None:
    with pytest.raises(BadValueError):
        strings([1, 2])


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ('{"query": "refund policy"}', {"query": "refund policy"}),
        ('"{\\"url\\":\\"https://x.test/a\\"}"', {"url": "https://x.test/a"}),  # JSON text in JSON text
        ("{'sku': 'A-17', 'price': 19.5}", {"sku": "A-17", "price": 19.5}),  # a Python repr
        ('"3 documents about refund policy"', "3 documents about refund policy"),
        ("19.50", "19.50"),
        ("refund policy", "refund policy"),
        ('"Hello" she said', '"Hello" she said'),
        ({"t": 20}, {"t": 20}),
        ("", None),
    ],
    ids=repr,
)
def test_json_text_is_decoded_and_other_text_stays(value: Any, found: Any) -> None:
    assert json_value(value) == found


def test_cut_json_text_stays_text_and_says_so() -> None:
    assert json_value('{"path": "/a/very/lo') == Salvaged(
        '{"path": "/a/very/lo', "JSON text was cut; it is kept as text"
    )


def test_a_family_that_encodes_everything_encodes_plain_words_and_numbers_too() -> None:
    assert encoded(text)('"gpt-4o-mini-2024-07-18"') == "gpt-4o-mini-2024-07-18"
    assert encoded(integer)("120") == 120
    assert encoded(json_value)("null") is None
    assert encoded(text)("not encoded") == "not encoded"


def test_a_path_is_followed_into_json_text() -> None:
    usage = '{"input": 48000, "output": 900}'

    assert inner("input", shape=integer)(usage) == 48000
    assert inner("cached", shape=integer)(usage) is None
    assert inner("a", "b")("no object") is None


def test_shapes_compose() -> None:
    status = composed(inner("status"), one_of({"error": True, "success": False}))

    assert status({"status": "Error"}) is True
    assert status({"status": "odd"}) is None
    assert status({}) is None
    assert always(answer=True)("TimeoutError") is True
    assert always(answer=True)("") is None
