"""What is said of log records that belong nowhere."""

import pytest

from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import LogRecord


@pytest.mark.parametrize(
    ("name", "count", "told"),
    [
        ("", 1, "1 log record without a name belonging to no span and to no session here, and left out"),
        ("x", 1, "1 log record named 'x' belonging to no span and to no session here, and left out"),
        ("x", 3, "3 log records named 'x' belonging to no span and to no session here, and left out"),
    ],
)
def test_records_without_a_home_are_counted_by_name(name: str, count: int, told: str) -> None:
    (note,) = reconstruct((), [LogRecord(name=name)] * count).notes

    assert (note.code, note.message) == ("log-without-span", told)
