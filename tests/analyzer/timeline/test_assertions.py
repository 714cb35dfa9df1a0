"""What agents said, cut into sentences and ready for a search."""

import pytest
from flat_sessions import session_of

from analyzer.profile import Profile
from analyzer.timeline.index import build_timeline
from analyzer.timeline.sentences import quoted, sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It is done. Is it? Yes!", ["It is done.", "Is it?", "Yes!"]),
        ("1. **One**: a\n2. Two", ["1.", "**One**: a", "2.", "Two"]),
        ("已取消。谢谢\uff01", ["已取消。", "谢谢\uff01"]),
        ("It costs $19.50, e.g", ["It costs $19.50, e.g"]),
        (" \n ", []),
    ],
)
def test_a_text_is_cut_at_stops_and_line_ends(text: str, parts: list[str]) -> None:
    assert list(sentences(text)) == parts


def test_long_texts_are_looked_at_in_part() -> None:
    assert len(list(sentences("a. " * 50_000))) == 200
    assert len(next(sentences("a" * 50_000))) == 600


def test_a_quotation_is_one_short_line() -> None:
    assert quoted("a\n b") == "“a b”"
    assert len(quoted("word " * 100)) == 122


def test_only_agents_assert_with_straight_quotation_marks() -> None:
    user = {"event_type": "message_received", "payload": {"text": "I\u2019ve paid."}}
    agent = {"event_type": "message_sent", "payload": {"text": "I\u2019ve sent it. Bye."}}

    (said,) = build_timeline(session_of(user, agent), Profile.STANDARD).assertions

    assert said.sentences == ("I've sent it.", "Bye.")
    assert said.mentions(("sent",))
    assert not said.mentions(("paid",))
