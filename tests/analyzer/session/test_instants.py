import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.session.instants import format_instant, parse_instant

NOON = 1_748_779_200_000_000_000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025-06-01T12:00:00Z", NOON),
        ("2025-06-01T12:00:00.000Z", NOON),
        ("2025-06-01 12:00:00", NOON),
        ("2025-06-01T14:00:00+02:00", NOON),
        ("2025-06-01T14:00:00+0200", NOON),
        ("2025-06-01T12:00:00.000001+00:00", NOON + 1_000),
        ("2025-06-01T12:00:00.123456789Z", NOON + 123_456_789),
        ("2025-06-01T12:00:00.1234567899Z", NOON + 123_456_789),
        (1_748_779_200, NOON),
        (1_748_779_200.25, NOON + 250_000_000),
        (1_748_779_200_000, NOON),
        (1_748_779_200_000_000, NOON),
        (NOON, NOON),
        pytest.param(str(NOON), NOON, id="text"),
    ],
)
def test_a_time_is_read_in_every_spelling(value: object, expected: int) -> None:
    assert parse_instant(value) == expected


@pytest.mark.parametrize(
    "value", ["yesterday", "", "2025-13-01T12:00:00Z", "2025-06-01T12:00:60Z", "12:00", None, True, [], float("nan")]
)
def test_what_is_no_time_is_none(value: object) -> None:
    assert parse_instant(value) is None


def test_a_time_is_written_with_nine_decimals() -> None:
    assert format_instant(NOON + 1) == "2025-06-01T12:00:00.000000001Z"


@given(st.integers())
def test_a_time_written_is_the_time_read(time_ns: int) -> None:
    assert parse_instant(format_instant(time_ns)) == time_ns
