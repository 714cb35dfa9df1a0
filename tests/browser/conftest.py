"""One Chromium for all browser tests of a process, and the pages they open."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import session_in, started, written_page
from command import CAPTURES, LOOP
from playwright.sync_api import Browser, expect

expect.set_options(timeout=20_000)  # milliseconds; a busy machine is slow, and waits no longer than it must


@pytest.fixture(scope="module")  # Playwright keeps an event loop running, in which other tests can't start theirs
def browser() -> Iterator[Browser]:
    with started() as running:
        yield running


@pytest.fixture(scope="session")
def loop_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an agent that made one call five times."""
    return written_page(session_in(LOOP), tmp_path_factory.mktemp("loop"), jaeger="http://localhost:16686")


@pytest.fixture(scope="session")
def retry_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an agent whose tool failed twice before it succeeded, in turns."""
    place = CAPTURES / "strands" / "tool_error_then_retry.otlp.jsonl"
    return written_page(session_in(place), tmp_path_factory.mktemp("retry"))
