"""Every test that a page points at is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["SECURITY.md", "docs/reliability.md"])
def test_every_claim_points_at_a_test(page: str) -> None:
    rows = [line for line in (ROOT / page).read_text().splitlines() if line.startswith("|") and "tests/" in line]
    claims = [re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", row) for row in rows]

    missing = [
        (file, name)
        for claim in claims
        for file, name in claim
        if not (ROOT / file).exists() or (name and f"def {name}(" not in (ROOT / file).read_text())
    ]

    assert len(rows) > 15
    assert all(claims)
    assert missing == []
