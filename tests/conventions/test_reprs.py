"""Fields of a Python `repr`, read without executing anything."""

from typing import Any

import pytest

from critiqor_otel.conventions.reprs import literal_after, literals_after


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        (
            "TaskOutput(raw='x', messages=[{'role': 'user', 'content': \"it's ]\"}], more=1)",
            "messages",
            [{"role": "user", "content": "it's ]"}],
        ),
        ("ToolCall(tool_name='get_price', tool_kwargs={'sku': 'A-17'})", "tool_kwargs", {"sku": "A-17"}),
        ("ToolCall(tool_name='get_price', tool_kwargs={})", "tool_name", "get_price"),
        ("Block(text='a\\'b')", "text", "a'b"),
        ("Block(text=<unset>)", "text", None),
        ("Block(text='cut of", "text", None),
        ("Block(items=[1, [2", "items", None),
        ("Block()", "text", None),
    ],
)
def test_a_literal_field_is_read_and_anything_else_is_absent(text: str, name: str, value: Any) -> None:
    assert literal_after(text, name) == value


def test_every_field_of_a_name_is_read_in_order() -> None:
    assert list(literals_after("[A(m=[1]), A(m=<x>), A(m=[2])]", "m")) == [[1], [2]]


def test_a_long_text_takes_one_pass() -> None:
    assert list(literals_after("m=[" * 20_000, "m")) == []
