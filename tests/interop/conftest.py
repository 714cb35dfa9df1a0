"""The real programs, where they are built; else each test is skipped, or fails where they are required."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from interop_programs import binary_of, find_go
from real_programs import Jaeger


def built(name: str) -> Path:
    """Return the binary of a program; without it the test is skipped, or fails if that was not to happen."""
    binary = binary_of(name)
    if binary.exists():
        return binary
    how = (
        "`make interop` builds it" if find_go() else "there is no Go on this machine; with it, `make interop` builds it"
    )
    reason = f"the real {name} is not built: {how}"
    if os.environ.get("CRITIQOR_INTEROP") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def collector_binary() -> Path:
    return built("collector")


@pytest.fixture(scope="session")
def jaeger_binary() -> Path:
    return built("jaeger")


@pytest.fixture
def jaeger(jaeger_binary: Path) -> Iterator[Jaeger]:
    program = Jaeger(jaeger_binary)
    yield program
    program.kill()
