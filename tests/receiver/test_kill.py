from pathlib import Path

import pytest
from killing import killed_under_load


@pytest.mark.parametrize("owner", ["thread", "process"])
def test_after_kills_under_load_no_acknowledged_span_is_missing_and_none_is_doubled(tmp_path: Path, owner: str) -> None:
    account = killed_under_load(tmp_path, kills=5, seed=7, owner=owner)

    assert len(account.acknowledged) > 100
    assert account.missing == set()
    assert account.doubled == set()
    assert account.unknown == set()
