import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.report.plain import column_width, cut, one_line, wrapped


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\rb", "a b"),
        ("a\n\n\tb", "a b"),
        ("back\x08space", "back\\x08space"),
        ("nul\x00", "nul\\x00"),
        ("evil\u202etxt.exe", "evil\\u202etxt.exe"),
        ("hid\u200bden", "hid\\u200bden"),
        ("line\u2028separator", "line\\u2028separator"),
        ("half\ud83e", "half\\ud83e"),
        ("tag\U000e0041", "tag\\U000e0041"),
    ],
)
def test_what_a_terminal_would_obey_is_spelled_out(hostile: str, shown: str) -> None:
    assert one_line(hostile) == shown


@pytest.mark.parametrize("text", ["plain", "Zażółć gęślą jaźń", "退款需要五天", "👩‍👩‍👧 family", "می‌خواهم", "e\u0301"])
def test_text_of_any_language_stays_as_it_is(text: str) -> None:
    assert one_line(text) == text


@given(st.text(st.characters(exclude_categories=())))
def test_one_line_is_one_line_that_can_be_written(text: str) -> None:
    line = one_line(text)

    assert len(line.splitlines()) <= 1
    assert "\x1b" not in line
    assert line.encode().decode() == line


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("退款", 4), ("e\u0301", 1), ("", 0)])
def test_width_is_what_a_terminal_shows(text: str, columns: int) -> None:
    assert column_width(text) == columns


@given(st.text(), st.integers(1, 40))
def test_what_is_cut_fits(text: str, width: int) -> None:
    assert column_width(cut(text, width)) <= width


def test_what_fits_is_not_cut() -> None:
    assert cut("退款", 4) == "退款"
    assert cut("退款了", 4) == "退…"


@given(st.text(st.characters(exclude_characters=" ")), st.integers(2, 40))
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    lines = list(wrapped(text, width))

    assert all(column_width(line) <= width for line in lines)
    assert "".join(lines) == text


def test_words_are_kept_whole_where_they_fit() -> None:
    assert list(wrapped("the quick brown fox", 10)) == ["the quick", "brown fox"]
