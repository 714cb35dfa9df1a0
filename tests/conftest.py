"""What all tests share: hypothesis draws the same examples every time, so that a failure can be seen again."""

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fixed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes expected files anew, for who has read what changes."""
    parser.addoption("--update-golden", action="store_true", help="write the expected files of the golden cases anew")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to write expected files where nobody reads what changes."""
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is for people: in CI the expected files stay as they are")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was skipped and why, also where nobody asked for it with `-rs`."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count} skipped: {reason}")
