"""A spool with a told clock."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from spool_support import Spool

from critiqor_otel.spool.open_sessions import Patience


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    made = Spool(tmp_path / "runs", Patience(most_spans=1000))
    yield made
    made.crash()
