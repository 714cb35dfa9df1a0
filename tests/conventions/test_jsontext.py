"""Text that may hold JSON: whole, cut, nested too deep, or something else."""

import pytest

from critiqor_otel.conventions.jsontext import loads, looks_cut, salvaged, structured

MESSAGES = '[{"role":"user","parts":[{"type":"text","content":"a"}]},{"role":"assistant","parts":[{"type":"te'


def test_numbers_json_has_no_spelling_for_and_lone_surrogates_are_let_through() -> None:
    assert loads('{"a": Infinity}') == {"a": float("inf")}
    assert loads('"\\ud83e"') == "\ud83e"
    assert loads('{"id": 123456789012345678901234567890}') == {"id": 123456789012345678901234567890}


@pytest.mark.parametrize("text", ["[" * 20_000 + "]" * 20_000, "{", "nothing", '{"a":1} x'])
def test_what_is_no_json_is_a_value_error_whatever_it_is(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        loads(text)


@pytest.mark.parametrize(
    "text", ["[" * 20_000 + "]" * 20_000, "(" * 400 + ")" * 400, "{'a': <object>}", "[-" + "-" * 9_999 + "1]"]
)
def test_what_can_not_be_decoded_stays_the_text_it_was(text: str) -> None:
    assert structured(text) == text


def test_a_python_set_stays_text_because_it_has_no_order() -> None:
    assert structured("{'b', 'a'}") == "{'b', 'a'}"
    assert structured("('b', 'a')") == ["b", "a"]


def test_json_in_json_is_followed_a_few_layers_deep() -> None:
    assert structured('"\\"ok\\""') == "ok"


@pytest.mark.parametrize("text", [MESSAGES, '{"path": "/a', '["a", "b', "[[1, 2"])
def test_cut_json_is_known_by_its_beginning(text: str) -> None:
    assert looks_cut(text)


@pytest.mark.parametrize("text", ["plain", "{template}", "[1] see below", "", "{'repr': 1"])
def test_other_text_is_not_taken_for_cut_json(text: str) -> None:
    assert not looks_cut(text)


def test_the_whole_items_before_a_cut_are_salvaged() -> None:
    assert salvaged(MESSAGES) == [{"role": "user", "parts": [{"type": "text", "content": "a"}]}]
    assert salvaged('{"model": "m", "messages": [{"a": 1}, {"b": 2}, {"c', key="messages") == [{"a": 1}, {"b": 2}]
    assert salvaged('{"model": "m", "messages": "none"', key="messages") == []
    assert salvaged("not a list [1") == []
