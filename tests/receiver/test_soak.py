"""A few seconds of the mixed load that `make soak` keeps up for half an hour."""

from pathlib import Path

from soaking import soaked


def test_under_mixed_load_with_restarts_every_span_is_found_once(tmp_path: Path) -> None:
    account = soaked(tmp_path / "runs", seconds=9, restart_every=1)

    assert account.kills > 0
    assert account.bad_answers == []
    assert len(account.acknowledged) > 100
    assert (account.missing, account.doubled, account.unknown) == (set(), set(), set())
