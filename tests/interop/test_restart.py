"""The receiver is killed and started again while the Collector sends: nothing lost, nothing doubled."""

from pathlib import Path

from restarting import killed_while_sending


def test_what_the_collector_sends_again_after_kills_is_there_once(collector_binary: Path, tmp_path: Path) -> None:
    account = killed_while_sending(collector_binary, tmp_path / "runs", spans=20_000, kills=3)

    assert len(account.sent) == 20_000
    assert account.missing == set()
    assert account.doubled == set()
    assert account.unknown == set()
