"""A receiver on free ports for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from receiving import receiving

from critiqor_otel.receiver.receiver import Receiver


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    with receiving(tmp_path / "runs") as running:
        yield running
