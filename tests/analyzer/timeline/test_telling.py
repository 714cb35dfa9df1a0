"""The words of a text are the same by the fast way of ASCII and by the way of all other texts."""

from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.timeline.telling import tokens

_OTHER = "ångström"

_PIECES = st.one_of(
    st.text("ab1.-_/@:+,$%'\"{}[] \n\t\x00\x1f", max_size=12),
    st.sampled_from(
        ["10,000", "1.50", "-3", "a@b.example", "2026-01-01T10:00:00Z", "ORD-77", "x--y", "..", "_a_", "don't"]
    ),
)


@given(st.lists(_PIECES, max_size=8).map(" ".join))
@example("a.-b 1,000.50 --c- /d/e.txt")
def test_a_word_of_another_script_changes_no_other_word(text: str) -> None:
    assert tokens(f"{text} {_OTHER}") == tokens(text) | {_OTHER}
