import re
from datetime import date

import pytest

from analyzer.baseline import Baseline, KnownFailure, read_baseline, renewed, written_baseline
from analyzer.cause import FailureCause, Severity
from analyzer.errors import BaselineError

TODAY = date(2025, 6, 2)


def cause(fingerprint: str, type_: str = "slow_tool") -> FailureCause:
    return FailureCause(type_, Severity.HIGH, -5, f"{type_} happened", fingerprint=fingerprint)


def test_a_baseline_is_read_as_it_was_written() -> None:
    made = renewed(Baseline(), [cause("b"), cause("a")], today=TODAY, reason="for now", expires=date(2025, 7, 1))

    assert read_baseline(written_baseline(made)) == made
    assert [one.fingerprint for one in made.failures] == ["a", "b"]


def test_an_entry_lets_pass_to_its_last_day_and_no_longer() -> None:
    baseline = Baseline(failures=(KnownFailure(fingerprint="a", type="slow_tool", expires=TODAY),))

    assert baseline.known(TODAY) == {"a": "known"}
    assert baseline.known(date(2025, 6, 3)) == {}
    assert [one.fingerprint for one in baseline.expired(date(2025, 6, 3))] == ["a"]


def test_renewing_keeps_reasons_takes_in_the_new_and_leaves_out_what_is_gone() -> None:
    old = Baseline(
        failures=(
            KnownFailure(fingerprint="gone", type="slow_tool", reason="old"),
            KnownFailure(fingerprint="stays", type="slow_tool", reason="ticket 7", added=date(2025, 1, 1)),
        )
    )

    new = renewed(old, [cause("stays"), cause("new"), cause("new"), cause("")], today=TODAY, reason="later")

    assert {one.fingerprint: (one.reason, one.added) for one in new.failures} == {
        "stays": ("ticket 7", date(2025, 1, 1)),
        "new": ("later", TODAY),
    }


def test_an_expired_entry_that_is_found_again_is_renewed() -> None:
    old = Baseline(failures=(KnownFailure(fingerprint="a", type="slow_tool", reason="old", expires=date(2025, 1, 1)),))

    (entry,) = renewed(old, [cause("a")], today=TODAY, reason="once more").failures

    assert (entry.reason, entry.added, entry.expires) == ("once more", TODAY, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "no baseline"),
        (b"[]", "Expected `object`"),
        (b'{"schema_version": "critiqor.baseline.v2"}', "critiqor.baseline.v2"),
        (b'{"failures": [{"type": "x"}]}', "fingerprint` - at `$.failures[0]`"),
        (b'{"failures": [{"fingerprint": "a", "type": "x", "expires": "soon"}]}', "$.failures[0].expires"),
        (b'{"failures": [{"fingerprint": "a", "type": "x", "expire": "2025-01-01"}]}', "`expire`"),
    ],
)
def test_what_is_no_baseline_is_told_with_the_place(text: bytes, said: str) -> None:
    with pytest.raises(BaselineError, match=re.escape(said)):
        read_baseline(text)
